import type { Db } from './database.ts';
import type { KeyOnRecord } from './interchanges.ts';
import type { AuditRow, AuditStory } from './operator-types.ts';
import type { OperationTable } from './protocol.ts';
import type { Reviews } from './reviews.ts';
import type { Routing } from './types.ts';

/** Ids that one page goes through at most, so that no read holds the thread for long. */
const idsPerPage = 5000;

interface Row {
  id: number;
  at: number;
  message: number | null;
  sender: string | null;
  message_id: string | null;
  layer: string | null;
  key: string | null;
  decision: string;
  rule: string | null;
  policy_version: string | null;
  state_before: string | null;
  state_after: string | null;
  existing: number | null;
  existing_message_id: string | null;
  window_expires: number | null;
  remote_address: string | null;
  fingerprint: string | null;
  reference_set: Buffer | null;
  actor: string | null;
  os_user: string | null;
  host: string | null;
  reason: string | null;
  detail: string | null;
}

/** The decisions: of one message with all that belongs to them, and page by page for an export. */
export function prepareStory(
  db: Db,
  reviews: Reviews,
  evidence: OperationTable['evidence'],
): Pick<OperationTable, 'audit' | 'auditPage'> {
  const about = db.prepare('SELECT duplicate_of AS duplicateOf, second_keys AS keys FROM message WHERE id = ?');
  const window = db
    .prepare('SELECT k.expires_at FROM message_key k WHERE k.sender = ? AND k.message_id = ? AND k.message = ?')
    .pluck();
  const idOf = db.prepare('SELECT id, message_id AS messageId FROM message WHERE id = ?');
  const duplicates = db.prepare(
    'SELECT id, message_id AS messageId, received_at AS receivedAt FROM message WHERE duplicate_of = ? ORDER BY id LIMIT 100',
  );
  const rows = db.prepare('SELECT * FROM decision WHERE message = ? ORDER BY id');
  const counters = db.prepare(
    'SELECT hour, decision, count, last_at AS lastAt FROM suppression WHERE message = ? ORDER BY hour, decision',
  );
  const handOvers = db.prepare(
    'SELECT number, redelivery, state, directory, reason, at FROM outbox WHERE message = ? ORDER BY number',
  );
  const page = db.prepare('SELECT * FROM decision WHERE id > ? AND id <= ? AND at >= ? AND at < ? ORDER BY id');
  const highest = db.prepare('SELECT max(id) FROM decision').pluck();
  const lowest = db.prepare('SELECT min(id) FROM decision').pluck();

  return {
    audit: {
      writes: false,
      run(id, blob): AuditStory | null {
        const found = evidence.run(id, blob);
        if (!found) return null;
        const { summary, routing, warnings } = found;
        const { duplicateOf, keys } = about.get(summary.id) as { duplicateOf: number | null; keys: string };
        const first = duplicateOf === null ? null : (idOf.get(duplicateOf) as AuditStory['duplicateOf'] | undefined);
        return {
          ...{ summary, routing: routing as Routing, warnings },
          interchanges: (JSON.parse(keys) as KeyOnRecord[]).map(({ layer, key, label }) => ({ layer, key, label })),
          windowExpires: (window.get(summary.sender, summary.messageId, summary.id) as number | undefined) ?? null,
          rows: (rows.all(summary.id) as Row[]).map(auditRow),
          counters: counters.all(summary.id) as AuditStory['counters'],
          handOvers: handOvers.all(summary.id) as AuditStory['handOvers'],
          held: reviews.heldOf(summary.id),
          duplicateOf: first ?? (duplicateOf === null ? null : { id: duplicateOf, messageId: '(purged)' }),
          duplicates: duplicates.all(summary.id) as AuditStory['duplicates'],
        };
      },
    },
    auditPage: {
      writes: false,
      run({ from, to, after }) {
        const start = Math.max(after, ((lowest.get() as number | null) ?? 1) - 1);
        const end = start + idsPerPage;
        const found = (page.all(start, end, from, to) as Row[]).map(auditRow);
        return { rows: found, next: end < ((highest.get() as number | null) ?? 0) ? end : null };
      },
    },
  };
}

function auditRow(r: Row): AuditRow {
  return {
    ...{
      id: r.id,
      at: r.at,
      message: r.message,
      sender: r.sender,
      messageId: r.message_id,
      layer: r.layer,
      key: r.key,
    },
    ...{ decision: r.decision, rule: r.rule, policyVersion: r.policy_version },
    ...{ stateBefore: r.state_before, stateAfter: r.state_after, windowExpires: r.window_expires },
    existing: r.existing === null ? null : { id: r.existing, messageId: r.existing_message_id ?? '' },
    ...{ remoteAddress: r.remote_address, fingerprint: r.fingerprint },
    referenceSet: r.reference_set?.toString('hex') ?? null,
    actor: r.actor === null ? null : { by: r.actor, osUser: r.os_user ?? '', host: r.host ?? '' },
    reason: r.reason,
    detail: r.detail === null ? {} : (JSON.parse(r.detail) as Record<string, unknown>),
  };
}
