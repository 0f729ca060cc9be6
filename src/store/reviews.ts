import { join } from 'node:path';
import type { Db } from './database.ts';
import { openCondition } from './migrations.ts';
import type { MessageName, ReviewDetail, ReviewItem } from './operator-types.ts';
import type { OperationTable } from './protocol.ts';
import type { HandOverState, Routing, StoredPayload } from './types.ts';

/** A copy with other content as it lies in `held`. */
export interface HeldCopy {
  readonly id: number;
  readonly sender: string;
  readonly messageId: string;
  readonly message: number;
  readonly state: 'evidence' | 'dismissed' | 'review' | 'approved' | 'rejected';
  readonly copy: number | null;
  readonly receivedAt: number;
  readonly repeats: number;
  readonly routing: string;
  readonly warnings: string;
  readonly contentDigest: Buffer;
}

interface OpenRow {
  number: number;
  message: number;
  state: HandOverState;
  since: number;
  reason: string | null;
  sender: string;
  messageId: string;
  receivedAt: number;
  routing: string;
  warnings: string;
  contentDigest: Buffer;
  decided: string | null;
  repeats: number;
}

/** What an id of the command line names: one hand-over that waits, or one held copy. */
export type Waiting =
  | { readonly kind: 'handOver'; readonly row: OpenRow }
  | { readonly kind: 'held'; readonly row: HeldCopy };

const waitingStates = `(o.state = 'review' OR o.state = 'unknown' OR o.state = 'undeliverable') AND ${openCondition.replaceAll('state', 'o.state')}`;

/** Other messages that an item names. */
const namedAtMost = 10;

/** As in the index on it. */
const heldWaiting = `state = 'review' OR state = 'evidence'`;

export interface Reviews extends Pick<OperationTable, 'reviews' | 'reviewDetail' | 'waitingReviews'> {
  find(id: string): Waiting | null;
  heldOf(message: number): ReviewItem[];
  /** Messages that were suppressed because they repeat this one and were not delivered on order. */
  twinsOf(message: number): MessageName[];
  /** Messages in which an interchange of a held copy came as well. */
  carriersOf(held: number): MessageName[];
}

/** What waits for an operator: messages and hand-overs that are kept back, and copies that were held. */
export function prepareReviews(db: Db, contentDir: string): Reviews {
  const open = `SELECT o.number, o.message, o.state, o.at AS since, o.reason, m.sender, m.message_id AS messageId,
      m.received_at AS receivedAt, m.routing, m.warnings, m.content_digest AS contentDigest,
      (SELECT count(*) FROM message t WHERE t.duplicate_of = m.id) AS repeats,
      (SELECT json_object('id', d.existing, 'messageId', d.existing_message_id) FROM decision d
       WHERE d.message = m.id AND d.decision = 'review' AND d.existing IS NOT NULL ORDER BY d.id LIMIT 1) AS decided
    FROM outbox o JOIN message m ON m.id = o.message WHERE ${waitingStates}`;
  const openRows = db.prepare(`${open} ORDER BY o.number LIMIT ?`);
  const openOf = db.prepare(`${open} AND o.message = ? ORDER BY o.number LIMIT 2`);
  const openById = db.prepare(`${open} AND m.message_id = ? ORDER BY o.number LIMIT 2`);
  const held = `SELECT id, sender, message_id AS messageId, message, state, copy, first_at AS receivedAt, repeats, routing, warnings,
      content_digest AS contentDigest FROM held`;
  const heldRows = db.prepare(`${held} WHERE ${heldWaiting} ORDER BY id LIMIT ?`);
  // By themselves: a list of everything that waits may be full of evidence, whose senders were told.
  const waiting = db.prepare(
    `SELECT count(*) AS count, min(since) AS oldest FROM (
       SELECT at AS since FROM outbox WHERE state = 'review' AND ${openCondition}
       UNION ALL SELECT first_at FROM held WHERE state = 'review' AND (${heldWaiting}))`,
  );
  const heldById = db.prepare(`${held} WHERE id = ?`);
  const heldByMessage = db.prepare(`${held} WHERE message = ? ORDER BY id LIMIT 100`);
  const twins = db.prepare(
    `SELECT id, message_id AS messageId FROM message m WHERE duplicate_of = ? AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.message = m.id)
     ORDER BY id DESC LIMIT ${namedAtMost}`,
  );
  const carriers = db.prepare(
    `SELECT DISTINCT m.id, m.message_id AS messageId
     FROM held h, json_each(h.second_keys) k
       JOIN interchange i ON i.layer = k.value ->> '$.layer' AND i.scope = k.value ->> '$.scope' AND i.key = k.value ->> '$.key'
         AND i.content_digest = unhex(k.value ->> '$.content') AND i.rejected = 0
       JOIN message m ON m.id = i.message
     WHERE h.id = ? AND m.id IS NOT h.copy ORDER BY m.id LIMIT ${namedAtMost}`,
  );
  const twinsOf = (message: number) => twins.all(message) as MessageName[];
  const carriersOf = (held: number) => carriers.all(held) as MessageName[];
  const openItem = (row: OpenRow): ReviewItem => ({ ...openItemOf(row), same: twinsOf(row.message) });
  const heldItem = (row: HeldCopy): ReviewItem => ({
    ...heldItemOf(row),
    same: row.state === 'review' ? carriersOf(row.id) : [],
  });
  const heldByMessageId = db.prepare(
    `${held} WHERE (${heldWaiting}) AND message IN (SELECT id FROM message WHERE message_id = ?) AND message_id = ? LIMIT 2`,
  );
  const columns = `ordinal, href, mime_type AS mimeType, character_set AS characterSet, compressed, sha256, bytes, file, data`;
  const payloadsOf = db.prepare(`SELECT ${columns} FROM payload WHERE message = ? ORDER BY ordinal`);
  const heldPayloadsOf = db.prepare(`SELECT ${columns} FROM held_payload WHERE held = ? ORDER BY ordinal`);

  function find(id: string): Waiting | null {
    const ownId = /^held-(\d{1,15})$/.exec(id);
    if (ownId) {
      const row = heldById.get(Number(ownId[1])) as HeldCopy | undefined;
      return row ? { kind: 'held', row } : null;
    }
    const rows = /^\d{1,15}$/.test(id) ? (openOf.all(Number(id)) as OpenRow[]) : [];
    const named = (openById.all(id) as OpenRow[]).filter((row) => row.message !== rows[0]?.message);
    const [byId, second] = [...rows.slice(0, 1), ...named];
    const [copy, another] = heldByMessageId.all(id, id) as HeldCopy[];
    // Two things under one name: only an id of their own tells which is meant.
    if (second || another || (byId && copy)) return null;
    if (byId) return { kind: 'handOver', row: byId };
    return copy ? { kind: 'held', row: copy } : null;
  }

  return {
    find,
    twinsOf,
    carriersOf,
    heldOf: (message) => (heldByMessage.all(message) as HeldCopy[]).map(heldItem),
    reviews: {
      writes: false,
      run({ limit }) {
        const items = [
          ...(openRows.all(limit) as OpenRow[]).map(openItem),
          ...(heldRows.all(limit) as HeldCopy[]).map(heldItem),
        ];
        return items.sort((a, b) => a.since - b.since).slice(0, limit);
      },
    },
    waitingReviews: { writes: false, run: () => waiting.get() as { count: number; oldest: number | null } },
    reviewDetail: {
      writes: false,
      run(id): ReviewDetail | null {
        const found = find(id);
        if (!found) return null;
        const { row } = found;
        const stored = found.kind === 'held' ? heldPayloadsOf.all(found.row.id) : payloadsOf.all(found.row.message);
        const payloads = (stored as PayloadRow[]).map(
          ({ file, data, compressed, ...p }): StoredPayload => ({
            ...p,
            compressed: compressed === 1,
            data: file === null ? data : { file: join(contentDir, file) },
          }),
        );
        return {
          item: found.kind === 'held' ? heldItem(found.row) : openItem(found.row),
          routing: JSON.parse(row.routing) as Routing,
          warnings: JSON.parse(row.warnings) as string[],
          payloads,
          contentDigest: row.contentDigest,
        };
      },
    },
  };
}

interface PayloadRow extends Omit<StoredPayload, 'compressed' | 'data'> {
  compressed: number;
  file: string | null;
  data: Buffer | null;
}

function openItemOf(row: OpenRow): Omit<ReviewItem, 'same'> {
  const kind = row.state === 'review' ? 'message' : (row.state as 'unknown' | 'undeliverable');
  const why =
    kind === 'unknown'
      ? 'It is not known whether the backend has got it: look in the inbox and in the backend'
      : (row.reason ?? (JSON.parse(row.warnings) as string[]).at(-1) ?? 'The policy sends it to review');
  return {
    ...{ id: String(row.message), kind, told: 'receipt', sender: row.sender, messageId: row.messageId },
    ...{ receivedAt: row.receivedAt, since: row.since, why, repeats: row.repeats, handOver: row.number },
    existing: row.decided === null ? null : (JSON.parse(row.decided) as ReviewItem['existing']),
    ...participants(row.routing),
  };
}

/** Its sender was told failure. */
export function isEvidence(state: HeldCopy['state']): boolean {
  return state === 'evidence' || state === 'dismissed';
}

function heldItemOf(row: HeldCopy): Omit<ReviewItem, 'same'> {
  const what = 'The same MessageId was received before with other content';
  const ends = {
    evidence: `${what}; the sender was told that this copy failed`,
    dismissed: `${what}; the sender was told that this copy failed, and an operator has seen it`,
    review: `${what}; this copy has a receipt of its own`,
    approved: `${what}; this copy was approved`,
    rejected: `${what}; this copy was rejected`,
  };
  return {
    ...{ id: `held-${row.id}`, kind: 'held', told: isEvidence(row.state) ? 'failure' : 'receipt' },
    ...{ sender: row.sender, messageId: row.messageId, receivedAt: row.receivedAt, since: row.receivedAt },
    ...{ why: ends[row.state], repeats: row.repeats, handOver: null },
    existing: { id: row.message, messageId: row.messageId },
    ...participants(row.routing),
  };
}

function participants(json: string): Pick<ReviewItem, 'documentType' | 'originalSender' | 'finalRecipient'> {
  const routing = JSON.parse(json) as Routing;
  return {
    documentType: routing.documentType?.value ?? null,
    originalSender: routing.originalSender?.value ?? null,
    finalRecipient: routing.finalRecipient?.value ?? null,
  };
}
