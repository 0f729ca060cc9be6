import { expect } from 'vitest';
import type { NewMessage, StoredAnswer } from '../types.ts';
import { type Form, idOf, Model, type Policy } from './model.ts';
import { ModelDoubt } from './model-doubt.ts';
import { ModelForms } from './model-forms.ts';
import { type Given, Invariants } from './model-invariants.ts';
import { at, order } from './model-orders.ts';
import type { Path, Step } from './model-steps.ts';
import { Crash, type ModelStore } from './model-store.ts';
import { day, sha256 } from './sample.ts';

export const retention = { payload: 30 * day, evidence: 200 * day };

/** Goes through one sequence with the store and with the model, and compares them after every step. */
export class ModelRun {
  readonly #store: ModelStore;
  readonly #model: Model;
  readonly #doubt: ModelDoubt;
  readonly #saw: (what: string) => void;
  readonly #forms: ModelForms;
  readonly #given = new Map<string, Given>();
  readonly #invariants: Invariants;
  #attempts = 0;

  /** @param saw is told what came to pass, so that a test can demand that everything did */
  constructor(store: ModelStore, policy: Policy, prefix: string, saw: (what: string) => void) {
    this.#saw = saw;
    this.#store = store;
    this.#model = new Model(policy);
    this.#doubt = new ModelDoubt(store.clock.now());
    this.#forms = new ModelForms(store.clock, policy, prefix);
    this.#invariants = new Invariants(
      store,
      this.#model,
      [0, 1].map((n) => `${prefix}${n}`),
    );
  }

  async step(step: Step): Promise<void> {
    await this.#do(step);
    this.#saw(step.do);
    if (this.#doubt.doubt !== null) this.#saw('doubt');
    for (const { state } of this.#model.handOvers) this.#saw(state);
    await this.#invariants.check([...this.#given.values()], this.#judged());
  }

  async #do(step: Step): Promise<unknown> {
    const { clock } = this.#store;
    switch (step.do) {
      case 'send':
        return this.#arrive(this.#forms.fresh(step.form), step.path);
      case 'again': {
        const form = at(this.#forms.all, step.nth);
        for (let i = 0; form !== undefined && i < step.times; i++) await this.#arrive(form, step.path);
        return;
      }
      case 'rebuild': {
        const form = at(this.#forms.all, step.nth);
        return form && this.#arrive(this.#forms.rebuilt(form, step.newId), step.path);
      }
      case 'crash':
        return this.#crash(step);
      case 'pass':
        clock.pass(step.days * day);
        return this.#tick();
      case 'jump':
        clock.offset += step.days * day;
        return this.#tick();
      case 'back':
        clock.offset = 0;
        return this.#tick();
      case 'clockIsRight':
        await this.#store.clockIsRight('Alice');
        return this.#doubt.trust(clock.now(), clock.offset);
      case 'purge':
        return this.#purge();
      default:
        return order(step, this.#store, this.#model, this.#invariants);
    }
  }

  /** As a running receiver does each hour, and purge each day. */
  async #tick(): Promise<void> {
    const { clock } = this.#store;
    this.#doubt.look(clock.now(), clock.offset);
    await this.#store.beat();
    this.#doubt.beat(clock.now());
    expect(this.#store.doubted).toBe(this.#doubt.doubt !== null);
  }

  async #purge(): Promise<void> {
    if (this.#store.doubted) return;
    await this.#store.purge(retention.payload, retention.evidence);
    this.#model.purge(this.#store.clock.now(), retention.payload, retention.evidence);
  }

  async #crash({ at: point, off, form, nth }: Extract<Step, { do: 'crash' }>): Promise<void> {
    const one = (nth === null ? undefined : at(this.#forms.all, nth)) ?? this.#forms.fresh(form);
    if (point !== null) {
      this.#store.crashAt(point);
      await this.#arrive(one, 'references', point);
    }
    await this.#store.restart(off * day);
    const { clock } = this.#store;
    this.#doubt.restart(clock.now(), clock.offset);
    expect(this.#store.doubted).toBe(this.#doubt.doubt !== null);
  }

  #judged(): number {
    const judged = this.#doubt.judged(this.#store.clock.now());
    expect(this.#store.judged()).toBe(judged);
    return judged;
  }

  /** The journey of one copy, as far as it needs the store (architecture §2, steps 2, 6 and 10). */
  async #arrive(form: Form, path: Path, crash: 'before-commit' | 'after-commit' | null = null): Promise<void> {
    const { clock } = this.#store;
    const [now, judged] = [clock.now(), this.#judged()];
    const receipt = `receipt ${++this.#attempts} of ${form.refs}`;
    const message = this.#forms.message(form, receipt, now);
    const expected = this.#model.receiptOf(form, judged);
    const found = await this.#recall(form, message, path, judged);
    expect(found).toBe(expected);
    const copies = path === 'race' && found === null ? 2 : 1;
    for (let copy = 0; copy < copies; copy++) {
      try {
        if (found === null) await this.#accept(form, message, receipt, now, judged, crash);
        else {
          const row = this.#model.holders.get(idOf(form))!.row;
          this.#give(form, found);
          await this.#suppress(message, row, now);
          this.#invariants.suppressed(row);
        }
      } catch (error) {
        if (!(error instanceof Crash)) throw error;
        // What was committed is there, although nobody was told; the rest never was.
        const holder = this.#model.holders.get(idOf(form));
        if (crash === 'after-commit' && found !== null) this.#invariants.suppressed(holder!.row);
        if (crash === 'after-commit' && found === null) this.#happened(form, receipt, now, judged);
      }
    }
  }

  async #recall(form: Form, message: NewMessage, path: Path, judged: number): Promise<string | null> {
    const call = this.#store.call.bind(this.#store);
    const { window } = this.#model.policy;
    if (path === 'body') {
      const known = await call('findRequest', (add) => ({ digest: add(message.requestDigest!), now: judged, window }));
      if (known !== null)
        expect({ sender: known.sender, id: known.messageId }).toEqual({ sender: form.sender, id: form.messageId });
    }
    const { sender, messageId } = form;
    const key = (add: (bytes: Uint8Array) => number) => ({
      sender,
      messageId,
      referenceSet: add(message.referenceSet),
      now: judged,
      window,
    });
    const found = await call('find', key);
    return found?.receipt ? text(found.receipt) : null;
  }

  async #accept(
    form: Form,
    message: NewMessage,
    receipt: string,
    now: number,
    judged: number,
    crash: string | null,
  ): Promise<void> {
    const outcome = await this.#store.accept(message);
    if (crash !== null) this.#store.crashAt(null);
    const expected = this.#happened(form, receipt, now, judged);
    expect(outcome.kind).toBe(expected.kind === 'duplicate' && outcome.kind === 'held' ? 'held' : expected.kind);
    if ('id' in outcome && expected.message !== null) {
      if (expected.message.row === 0) expected.message.row = outcome.id;
      expect(outcome.id).toBe(expected.message.row);
    }
    if (expected.answer === null) return;
    const answer = 'answer' in outcome && outcome.answer !== null ? text(outcome.answer) : receipt;
    expect(answer).toBe(expected.answer);
    this.#give(form, answer);
    if (outcome.kind !== 'duplicate') return;
    this.#invariants.suppressed(outcome.id);
  }

  #happened(form: Form, receipt: string, now: number, judged: number) {
    const expected = this.#model.arrive(form, receipt, now, judged);
    const { kind, message } = expected;
    this.#saw(kind);
    if (message !== null && message.row === 0) message.row = this.#invariants.rowOf(message.form);
    if (kind === 'rebuilt' || kind === 'conflict' || kind === 'held') this.#invariants.suppressed(message!.row);
    if (kind === 'duplicate' && !message!.receipts.has(form.refs)) this.#invariants.suppressed(message!.row);
    if (kind === 'suppressed') this.#invariants.suppressedAsInterchange(message!.row);
    if (message !== null && (kind === 'accepted' || kind === 'suppressed'))
      this.#invariants.accepted(message, Math.max(judged, this.#model.purgedUpTo));
    return expected;
  }

  #suppress(message: NewMessage, id: number, at: number): Promise<null> {
    const { sender, messageId, remoteAddress } = message;
    return this.#store.call('suppress', (add) => ({
      ...{ sender, messageId, id, at, remoteAddress, fingerprint: message.signer.fingerprint, how: 'same-references' },
      ...{ referenceSet: add(message.referenceSet), requestDigest: add(message.requestDigest!) },
    }));
  }

  /** It went out to the sender. */
  #give(form: Form, answer: string): void {
    const holder = this.#model.holders.get(idOf(form))!;
    const before = this.#given.get(form.refs);
    if (before?.holder === holder) expect(answer).toBe(before.answer);
    this.#given.set(form.refs, { form, holder, answer, referenceSet: sha256(form.refs) });
  }
}

const text = (answer: StoredAnswer): string => Buffer.from(answer.body).toString();
