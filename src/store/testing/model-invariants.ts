import { expect } from 'vitest';
import type { HandOverState } from '../types.ts';
import type { Form, Model, ModelHeld } from './model.ts';
import type { ModelMessage } from './model-hand-overs.ts';
import type { ModelStore } from './model-store.ts';
import { sha256 } from './sample.ts';

/** A receipt that a sender has. */
export interface Given {
  readonly form: Form;
  /** In whose window it was given. */
  readonly holder: ModelMessage;
  readonly answer: string;
  readonly referenceSet: Buffer;
}
interface OutboxRow {
  number: number;
  message: number;
  state: HandOverState;
  redelivery: number;
  possibleDuplicate: number;
  attempts: number;
  emptied: number;
}

const terminal: readonly HandOverState[] = ['delivered', 'acknowledged', 'rejected', 'superseded'];

/** What must be true of the database whatever happened, read by a connection of its own. */
export class Invariants {
  readonly #store: ModelStore;
  readonly #model: Model;
  readonly #senders: readonly string[];
  readonly #suppressions = new Map<number, number>();
  readonly #interchanges = new Set<number>();
  readonly #judged = new Map<ModelMessage, number>();
  readonly #delivered = new Map<number, ModelMessage>();
  #before = new Map<number, OutboxRow>();
  readonly #sql;

  constructor(store: ModelStore, model: Model, senders: readonly string[]) {
    this.#store = store;
    this.#model = model;
    this.#senders = senders;
    this.#sql = prepare(store.observer);
  }

  heldRow({ form }: ModelHeld): number {
    return this.#sql.held.get(form.sender, form.messageId, sha256(form.content)) as number;
  }

  rowOf({ sender, messageId }: Form): number {
    return this.#sql.row.get(sender, messageId) as number;
  }

  directoryOf(number: number): string | null {
    return this.#sql.directory.get(number) as string | null;
  }

  suppressed(row: number): void {
    this.#suppressions.set(row, (this.#suppressions.get(row) ?? 0) + 1);
  }

  suppressedAsInterchange(row: number): void {
    this.#interchanges.add(row);
  }

  accepted(message: ModelMessage, judged: number): void {
    this.#judged.set(message, judged);
  }

  async check(given: readonly Given[], judged: number): Promise<void> {
    const rows = this.#senders.flatMap((s) => this.#sql.outbox.all(s) as OutboxRow[]);
    this.#likeTheModel(rows);
    this.#neverLowered(rows);
    this.#nothingOpenIsPurged(rows);
    this.#suppressionsOnRecord();
    this.#oncePerKey(rows);
    await this.#receiptsStay(given, judged);
    this.#before = new Map(rows.map((row) => [row.number, row]));
  }

  #likeTheModel(rows: readonly OutboxRow[]): void {
    for (const h of this.#model.handOvers) {
      const row = rows.find((r) => r.message === h.message.row && r.redelivery === h.redelivery);
      expect(row?.state, `hand-over ${h.redelivery} of message ${h.message.row}`).toBe(h.state);
      expect(row?.attempts).toBe(h.attempts);
      h.number = row?.number ?? 0;
      // The backend is told that it may have had it.
      if (h.maybeSeen && (h.state === 'received' || h.state === 'handingOver')) expect(row?.possibleDuplicate).toBe(1);
    }
    expect(rows).toHaveLength(this.#model.handOvers.length);
    for (const m of this.#model.messages) {
      if (!m.gone && m.handOvers.length > 0) expect(this.#sql.emptied.get(m.row)).toBe(m.payload ? 0 : 1);
    }
    for (const h of this.#model.held) expect(this.#sql.heldState.get(this.heldRow(h))).toBe(h.state);
  }

  #neverLowered(rows: readonly OutboxRow[]): void {
    for (const { number, state } of rows) {
      const before = this.#before.get(number)?.state;
      if (before === undefined || before === state || !terminal.includes(before)) continue;
      expect([before, state]).toEqual(['delivered', 'acknowledged']);
    }
  }

  #nothingOpenIsPurged(rows: readonly OutboxRow[]): void {
    const now = new Map(rows.map((r) => [r.number, r]));
    for (const [number, { state }] of this.#before) if (!terminal.includes(state)) expect(now.has(number)).toBe(true);
    for (const { state, emptied } of rows) if (!terminal.includes(state)) expect(emptied).toBe(0);
    for (const h of this.#model.held) {
      if (h.state === 'review') expect(this.#sql.heldPayload.get(this.heldRow(h))).toBe(1);
    }
  }

  #suppressionsOnRecord(): void {
    for (const [row, count] of this.#suppressions) {
      if (this.#sql.exists.get(row) === undefined) continue;
      const recorded = (this.#sql.copies.get(row) as number) + ((this.#sql.counted.get(row) as number | null) ?? 0);
      expect(recorded, `suppressions of message ${row}`).toBe(count);
    }
    for (const row of this.#interchanges) expect(this.#sql.suppressed.get(row)).toBe(1);
  }

  /** At most one delivery per key and window, unless the audit says who or which rule let another one through. */
  #oncePerKey(rows: readonly OutboxRow[]): void {
    for (const { number, message, state, redelivery, possibleDuplicate } of rows) {
      if ((state !== 'delivered' && state !== 'acknowledged') || this.#delivered.has(number)) continue;
      const one = this.#model.messages.find((m) => m.row === message)!;
      const excused = possibleDuplicate === 1 || (this.#sql.ordered.get(message) as number) > 0;
      if (redelivery > 0) expect(this.#sql.redelivered.get(message)).toBeGreaterThanOrEqual(redelivery);
      for (const other of excused ? [] : this.#delivered.values()) {
        if (other === one) throw new Error(`message ${message} was delivered twice`);
        const [first, second] = one.row < other.row ? [one, other] : [other, one];
        if (first.end <= (this.#judged.get(second) ?? 0) || (this.#sql.ordered.get(other.row) as number) > 0) continue;
        expect([first.form.sender, first.form.messageId]).not.toEqual([second.form.sender, second.form.messageId]);
        for (const key of first.form.keys) {
          const same = second.form.keys.filter((k) => k.name === key.name);
          if (same.length === 0) continue;
          for (const k of same)
            expect(k.content, `the interchange ${k.name} was delivered twice`).not.toBe(key.content);
          expect(this.#sql.warned.get(second.row), `${key.name} came with other content without a word`).toBe(1);
        }
      }
      this.#delivered.set(number, one);
    }
  }

  async #receiptsStay(given: readonly Given[], judged: number): Promise<void> {
    for (const { form, holder, answer, referenceSet } of given) {
      const live = holder.end > judged && this.#model.holders.get(`${form.sender} ${form.messageId}`) === holder;
      if (!live) continue;
      const { sender, messageId } = form;
      const { window, rebuilt } = this.#model.policy;
      const key = { sender, messageId, now: judged, window };
      const found = await this.#store.call('find', (add) => ({ ...key, referenceSet: add(referenceSet) }));
      // Where the first receipt is given, it is not stored again.
      if (found?.receipt == null && rebuilt === 'first-receipt') continue;
      expect(Buffer.from(found?.receipt?.body ?? []).toString()).toBe(answer);
    }
  }
}

function prepare(db: ModelStore['observer']) {
  const one = (sql: string) => db.prepare(sql).pluck();
  const decided = (names: string) =>
    names
      .split(' ')
      .map((n) => `decision = '${n}'`)
      .join(' OR ');
  const count = (names: string) => one(`SELECT count(*) FROM decision WHERE message = ? AND (${decided(names)})`);
  return {
    outbox: db.prepare(
      `SELECT o.number, o.message, o.state, o.redelivery, o.possible_duplicate AS possibleDuplicate, o.attempts,
         (SELECT count(*) FROM payload p WHERE p.message = m.id AND (p.purged_at IS NOT NULL OR p.data IS NULL)) AS emptied
       FROM message m JOIN outbox o ON o.message = m.id WHERE m.sender = ?`,
    ),
    held: one('SELECT id FROM held WHERE sender = ? AND message_id = ? AND content_digest = ?'),
    heldState: one('SELECT state FROM held WHERE id = ?'),
    heldPayload: one('SELECT count(*) FROM held_payload WHERE held = ? AND data IS NOT NULL'),
    row: one('SELECT message FROM message_key WHERE sender = ? AND message_id = ?'),
    directory: one('SELECT directory FROM outbox WHERE number = ?'),
    emptied: one('SELECT count(*) FROM payload WHERE message = ? AND purged_at IS NOT NULL'),
    exists: one('SELECT 1 FROM message WHERE id = ?'),
    copies: count('suppress rebuilt conflict hold'),
    counted: one('SELECT sum(count) FROM suppression WHERE message = ?'),
    suppressed: count('suppressInterchange'),
    ordered: one(
      `SELECT count(*) FROM decision WHERE message = ? AND actor IS NOT NULL AND (${decided('approve redeliver reject')})`,
    ),
    redelivered: count('redeliver'),
    warned: one(
      `SELECT count(*) FROM decision WHERE message = ? AND (decision = 'replacePending'
         OR (decision = 'allow' AND json_array_length(detail, '$.warnings') > 0))`,
    ),
  };
}
