import type { Chains } from './chains.ts';
import type { Db } from './database.ts';
import { openCondition } from './migrations.ts';
import type { OperationTable } from './protocol.ts';
import { transitions } from './states.ts';
import type { Evidence, HandOverState, MessageSummary, Routing, StoredAnswer } from './types.ts';

/** Counting what is done for good means reading all of it, and health checks ask often: at most this share of the time goes into it. */
const countingShare = 1 / 100;
/** A count this quick (ms) is simply made again. */
const quickMs = 5;

type CountRow = { state: HandOverState; n: number };
type HandOverRow = Evidence['handOvers'][number];
type DecisionRow = Evidence['decisions'][number];

/** What operators read: lists, the evidence of one message, numbers by state. */
export function prepareReports(
  db: Db,
  chains: Chains,
): Pick<OperationTable, 'counts' | 'messages' | 'evidence' | 'recentAddresses'> {
  const columns = `m.id, m.sender, m.message_id AS messageId, m.received_at AS receivedAt, m.purpose, m.suppressions,
    CASE m.purpose WHEN 'test' THEN 'test'
      ELSE coalesce((SELECT state FROM outbox o WHERE o.message = m.id ORDER BY redelivery DESC LIMIT 1),
        CASE WHEN m.duplicate_of IS NULL THEN 'none' ELSE 'suppressed' END) END AS state,
    m.routing ->> '$.documentType.value' AS documentType,
    m.routing ->> '$.originalSender.value' AS originalSender,
    m.routing ->> '$.finalRecipient.value' AS finalRecipient,
    (SELECT count(*) FROM receipt r WHERE r.message = m.id) AS receipts`;
  const list = (where: string) =>
    db.prepare(`SELECT ${columns} FROM message m WHERE m.id < :before ${where} ORDER BY m.id DESC LIMIT :limit`);
  const all = list('');
  const bySender = list('AND m.sender = :sender');
  const byMessageId = list('AND m.message_id = :messageId');
  const byBoth = list('AND m.message_id = :messageId AND m.sender = :sender');
  const one = db.prepare(`SELECT ${columns} FROM message m WHERE m.id = ?`);
  const rest = db.prepare(
    `SELECT m.routing, m.warnings, (SELECT e.envelope FROM receipt r JOIN evidence e ON e.receipt = r.id WHERE r.message = m.id ORDER BY r.id LIMIT 1) AS envelope
     FROM message m WHERE m.id = ?`,
  );
  const receipts = db.prepare(
    'SELECT status, content_type AS contentType, body, chain FROM receipt WHERE message = ? ORDER BY id',
  );
  const handOvers = db.prepare('SELECT number, state, directory, at FROM outbox WHERE message = ? ORDER BY number');
  const decisions = db.prepare(
    `SELECT at, decision, coalesce(detail, '{}') AS detail FROM decision WHERE message = ? ORDER BY id`,
  );
  const openCounts = db.prepare(`SELECT state, count(*) AS n FROM outbox WHERE ${openCondition} GROUP BY state`);
  const finishedCounts = db.prepare(
    `SELECT state, count(*) AS n FROM outbox WHERE NOT (${openCondition}) GROUP BY state`,
  );
  const recent = db.prepare('SELECT remote_address FROM message ORDER BY id DESC LIMIT ?').pluck();
  let finished: { until: number; rows: CountRow[] } | null = null;

  return {
    recentAddresses: {
      writes: false,
      run: ({ messages }) => [...new Set(recent.all(messages) as string[])],
    },
    counts: {
      writes: false,
      run() {
        const start = performance.now();
        if (!finished || start >= finished.until) {
          const rows = finishedCounts.all() as CountRow[];
          const took = performance.now() - start;
          finished = { until: took < quickMs ? start : start + took / countingShare, rows };
        }
        const counts = Object.fromEntries(Object.keys(transitions).map((s) => [s, 0])) as Record<HandOverState, number>;
        for (const { state, n } of [...finished.rows, ...(openCounts.all() as CountRow[])]) counts[state] = n;
        return counts;
      },
    },
    messages: {
      writes: false,
      run({ limit, before = Number.MAX_SAFE_INTEGER, sender, messageId }) {
        if (sender !== undefined && messageId !== undefined) {
          return byBoth.all({ before, limit, sender, messageId }) as MessageSummary[];
        }
        if (messageId !== undefined) return byMessageId.all({ before, limit, messageId }) as MessageSummary[];
        if (sender !== undefined) return bySender.all({ before, limit, sender }) as MessageSummary[];
        return all.all({ before, limit }) as MessageSummary[];
      },
    },
    evidence: {
      writes: false,
      run(idOrMessageId) {
        const newest = { before: Number.MAX_SAFE_INTEGER, limit: 1, messageId: idOrMessageId };
        // A MessageId may consist of digits, but is meant first only when it is no row.
        const byId = /^\d{1,15}$/.test(idOrMessageId) ? one.get(Number(idOrMessageId)) : undefined;
        const summary = (byId ?? byMessageId.get(newest)) as MessageSummary | undefined;
        if (!summary) return null;
        const row = rest.get(summary.id) as { routing: string; warnings: string; envelope: Buffer | null };
        const answers = receipts.all(summary.id) as (StoredAnswer & { chain: string })[];
        const first = answers[0];
        return {
          summary,
          routing: JSON.parse(row.routing) as Routing,
          warnings: JSON.parse(row.warnings) as string[],
          envelope: row.envelope,
          chain: first ? chains.load(first.chain).chain : [],
          receipts: answers.map(({ status, contentType, body }) => ({ status, contentType, body })),
          handOvers: handOvers.all(summary.id) as HandOverRow[],
          decisions: decisions.all(summary.id) as DecisionRow[],
        };
      },
    },
  };
}
