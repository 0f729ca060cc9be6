import { createHash } from 'node:crypto';
import type { Db } from './database.ts';
import type { OperationTable } from './protocol.ts';

const rowsPerStep = 2000;
/** What the first row is chained to. */
const beginning = '0'.repeat(64);

interface Point {
  upTo: number;
  hash: string;
}

/**
 * The running hash over the decisions: SHA-256 over the hash before, a line feed, and the row as JSON. Each point on record says what
 * the hash was at a row, so that a later change of any row before it shows. After a purge the chain begins at the purged row's hash.
 */
export function prepareAuditChain(db: Db): Pick<OperationTable, 'hashStep' | 'verifyStep'> {
  const newest = db.prepare('SELECT up_to AS upTo, hash FROM audit_hash ORDER BY up_to DESC LIMIT 1');
  const start = db.prepare('SELECT up_to AS upTo, hash FROM audit_checkpoint ORDER BY up_to DESC LIMIT 1');
  const rows = db.prepare('SELECT * FROM decision WHERE id > ? ORDER BY id LIMIT ?');
  const record = db.prepare('INSERT INTO audit_hash (up_to, hash, at) VALUES (?, ?, ?)');
  const recorded = db.prepare('SELECT hash FROM audit_hash WHERE up_to = ?').pluck();
  const since = (): Point => (start.get() as Point | undefined) ?? { upTo: 0, hash: beginning };
  const latest = (): Point => {
    const [a, b] = [newest.get() as Point | undefined, since()];
    return a && a.upTo >= b.upTo ? a : b;
  };

  return {
    hashStep: {
      writes: true,
      housekeeping: true,
      run({ now }) {
        const from = latest();
        const more = rows.all(from.upTo, rowsPerStep) as DecisionRow[];
        const hash = more.reduce(chained, from.hash);
        const upTo = more.at(-1)?.id ?? from.upTo;
        if (more.length > 0) record.run(upTo, hash, now);
        return { upTo, hash, since: since().upTo, done: more.length < rowsPerStep };
      },
    },
    verifyStep: {
      writes: false,
      run(state) {
        let { upTo, hash } = state ?? since();
        const more = rows.all(upTo, rowsPerStep) as DecisionRow[];
        const done = more.length < rowsPerStep;
        for (const row of more) {
          hash = chained(hash, row);
          upTo = row.id;
          const known = recorded.get(upTo) as string | undefined;
          if (known !== undefined && known !== hash) {
            return {
              upTo,
              hash,
              done: true,
              fault: `the decisions up to number ${upTo} are not what they were when their hash was recorded`,
            };
          }
        }
        const last = newest.get() as Point | undefined;
        const short = done && last !== undefined && last.upTo > upTo;
        return { upTo, hash, done, fault: short ? `decisions after number ${upTo} are missing` : null };
      },
    },
  };
}

type DecisionRow = Record<string, unknown> & { id: number };

function chained(before: string, row: DecisionRow): string {
  const text = JSON.stringify(row, (_, value: unknown) =>
    // Buffers come as their own toJSON; their bytes in hex are shorter.
    typeof value === 'object' && value !== null && 'data' in value && Array.isArray(value.data)
      ? Buffer.from(value.data as number[]).toString('hex')
      : value,
  );
  return createHash('sha256').update(`${before}\n${text}`).digest('hex');
}

/** Deleting decisions: only up to a point of the hash that is itself old enough, which is recorded first (the trigger demands it). */
export function preparePurgeAudit(db: Db) {
  const point = db.prepare(
    `SELECT up_to AS upTo, hash FROM audit_hash WHERE at <= ? AND up_to > coalesce((SELECT max(up_to) FROM audit_checkpoint), 0)
     ORDER BY up_to DESC LIMIT 1`,
  );
  const checkpoint = db.prepare('INSERT INTO audit_checkpoint (up_to, hash, at) VALUES (?, ?, ?)');
  const allowed = db.prepare('SELECT coalesce(max(up_to), 0) FROM audit_checkpoint').pluck();
  const remove = db.prepare(
    'DELETE FROM decision WHERE id IN (SELECT id FROM decision WHERE id <= ? ORDER BY id LIMIT ?)',
  );
  const forget = db.prepare('DELETE FROM audit_hash WHERE up_to < ?');
  const count = db.prepare('SELECT count(*) FROM decision WHERE id <= ?').pluck();

  return {
    purge(now: number, retention: number, limit: number): number {
      const next = point.get(now - retention) as Point | undefined;
      if (next) checkpoint.run(next.upTo, next.hash, now);
      const upTo = allowed.get() as number;
      const removed = remove.run(upTo, limit).changes;
      forget.run(upTo);
      return removed;
    },
    count(now: number, retention: number): number {
      const next = point.get(now - retention) as Point | undefined;
      return count.get(next?.upTo ?? (allowed.get() as number)) as number;
    },
  };
}
