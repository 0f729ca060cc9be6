import { join } from 'node:path';
import type { Db } from './database.ts';
import { openCondition } from './migrations.ts';
import type { OperationTable } from './protocol.ts';
import { maxAttempts, openStates } from './states.ts';
import type { Transitions } from './transitions.ts';
import type { EbmsProperty, HandOver, HandOverState, Routing, StoredPayload } from './types.ts';

type OutboxOperation =
  | 'pending'
  | 'inState'
  | 'startHandingOver'
  | 'delivered'
  | 'failed'
  | 'transition'
  | 'markers'
  | 'setMarkers'
  | 'highestHandOver'
  | 'raiseHandOvers';

interface OutboxRow {
  number: number;
  message: number;
  state: HandOverState;
  bootId: string | null;
  directory: string | null;
  attempts: number;
  redelivery: number;
  reason: string | null;
  possibleDuplicate: number;
  sender: string;
  messageId: string;
  ebTimestampText: string;
  receivedAt: number;
  routing: string;
  warnings: string;
  outsideWindow: number;
  supersedes: string | null;
  afterPowerLoss: 'deliver' | 'review' | null;
}
interface PayloadRow extends Omit<StoredPayload, 'compressed' | 'data' | 'properties'> {
  compressed: number;
  properties: string;
  file: string | null;
  data: Buffer | null;
}
/** The delivery's part: what is to be handed over, and what became of it (architecture §4). */
export function prepareOutbox(
  db: Db,
  { apply, current }: Transitions,
  contentDir: string,
): Pick<OperationTable, OutboxOperation> {
  const columns = `o.number, o.message, o.state, o.boot_id AS bootId, o.directory, o.attempts, o.redelivery, o.reason,
    o.possible_duplicate AS possibleDuplicate, m.sender, m.message_id AS messageId, m.eb_timestamp_text AS ebTimestampText,
    m.received_at AS receivedAt, m.routing, m.warnings, m.outside_window AS outsideWindow, m.supersedes,
    m.after_power_loss AS afterPowerLoss`;
  const inOpenState = db.prepare(
    `SELECT ${columns} FROM outbox o JOIN message m ON m.id = o.message
     WHERE state = ? AND ${openCondition} ORDER BY number LIMIT ?`,
  );
  const inAnyState = db.prepare(
    `SELECT ${columns} FROM outbox o JOIN message m ON m.id = o.message WHERE state = ? ORDER BY number LIMIT ?`,
  );
  const payloads = db.prepare(
    `SELECT ordinal, href, mime_type AS mimeType, character_set AS characterSet, compressed, sha256, bytes, properties, file, data
     FROM payload WHERE message = ? ORDER BY ordinal`,
  );
  const readMarker = db.prepare('SELECT value FROM setting WHERE name = ?').pluck();
  const writeMarker = db.prepare(
    'INSERT INTO setting (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
  );
  const highest = db.prepare(`SELECT seq FROM sqlite_sequence WHERE name = 'outbox'`).pluck();
  const raise = db.prepare(`UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'outbox'`);
  const begin = db.prepare(`INSERT INTO sqlite_sequence (name, seq) VALUES ('outbox', ?)`);

  function handOver(row: OutboxRow): HandOver {
    const stored = (payloads.all(row.message) as PayloadRow[]).map(({ file, data, compressed, properties, ...p }) => ({
      ...p,
      compressed: compressed === 1,
      properties: JSON.parse(properties) as EbmsProperty[],
      data: file === null ? data : { file: join(contentDir, file) },
    }));
    const { number, state, bootId, directory, attempts, redelivery, reason, possibleDuplicate } = row;
    const { sender, messageId, ebTimestampText, receivedAt, supersedes } = row;
    const routing = JSON.parse(row.routing) as Routing;
    const warnings = JSON.parse(row.warnings) as string[];
    const outsideWindow = row.outsideWindow === 1;
    return {
      ...{ number, state, bootId, directory, attempts, redelivery, reason, possibleDuplicate: possibleDuplicate === 1 },
      message: {
        id: row.message,
        sender,
        messageId,
        ebTimestampText,
        receivedAt,
        routing,
        warnings,
        outsideWindow,
        supersedes,
        ...(row.afterPowerLoss !== null && { afterPowerLoss: row.afterPowerLoss }),
      },
      payloads: stored,
    };
  }

  return {
    pending: {
      writes: false,
      run({ limit, maxBytes }) {
        const found: HandOver[] = [];
        let bytes = 0;
        for (const row of inOpenState.all('received', limit) as OutboxRow[]) {
          const one = handOver(row);
          for (const p of one.payloads) if (p.data instanceof Uint8Array) bytes += p.data.length;
          if (found.length > 0 && bytes > maxBytes) break;
          found.push(one);
        }
        return found;
      },
    },
    inState: {
      writes: false,
      run({ state, limit }) {
        const open = (openStates as readonly HandOverState[]).includes(state);
        return ((open ? inOpenState : inAnyState).all(state, limit) as OutboxRow[]).map(handOver);
      },
    },
    startHandingOver: {
      writes: true,
      run: ({ rows, bootId, at }) =>
        rows
          .filter((r) => apply(r.number, 'handOver', at, () => ({ bootId, directory: r.directory })).applied)
          .map((r) => r.number),
    },
    delivered: {
      writes: true,
      run({ numbers, at }) {
        for (const number of numbers) apply(number, 'delivered', at, () => ({}));
        return null;
      },
    },
    failed: {
      writes: true,
      run({ number, error, at }) {
        const row = current(number);
        const event = (row?.attempts ?? 0) + 1 >= maxAttempts ? 'giveUp' : 'fail';
        return apply(number, event, at, (r) => ({ attempts: r.attempts + 1, reason: error.slice(0, 1000) })).state;
      },
    },
    transition: {
      writes: true,
      run: ({ number, event, at }) =>
        apply(number, event, at, () => {
          // Also of one that waits for an operator: it may have been seen, is not replaced, and its approval says so.
          if (event === 'reviewAfterPowerLoss') return { possibleDuplicate: 1 };
          return event === 'redeliverAfterPowerLoss' ? { possibleDuplicate: 1, bootId: null, directory: null } : {};
        }).state,
    },
    markers: {
      writes: false,
      run() {
        const inbox = readMarker.get('marker.inbox') as string | undefined;
        const staging = readMarker.get('marker.staging') as string | undefined;
        return inbox === undefined || staging === undefined ? null : { inbox, staging };
      },
    },
    setMarkers: {
      writes: true,
      run({ inbox, staging }) {
        writeMarker.run('marker.inbox', inbox);
        writeMarker.run('marker.staging', staging);
        return null;
      },
    },
    // From the sequence, not from the rows: purge deletes rows, and a number must never come again.
    highestHandOver: { writes: false, run: () => (highest.get() as number | undefined) ?? 0 },
    raiseHandOvers: {
      writes: true,
      run(atLeast) {
        // SQLite makes the row with the first hand-over.
        if (raise.run(atLeast).changes === 0) begin.run(atLeast);
        return null;
      },
    },
  };
}
