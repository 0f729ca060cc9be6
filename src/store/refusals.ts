import type { Audit } from './audit.ts';
import type { Db } from './database.ts';
import type { Operation } from './protocol.ts';
import type { Refusal } from './types.ts';

/** Refusals kept in the ring; a flood of them must not fill the disk. */
export const refusalRing = 100_000;
/** Refusals of one access point in an hour that are decisions; further ones go to the ring, or a faulty sender would fill the disk. */
export const refusalDecisions = 100;
const hourMs = 3_600_000;

/**
 * Where refusals go: of an authenticated access point into the audit, so that no flood of strangers pushes it out; all others into the ring.
 * They are written in batches, and the oldest of the ring go in the same transaction.
 */
export function prepareRefusals(
  db: Db,
  audit: Audit,
  ring: number,
): { refuse: Operation<'refuse'>; refusals: Operation<'refusals'> } {
  const insert = db.prepare(
    `INSERT INTO refusal (at, code, reason, text, remote_address, sender, message_id, claimed_message_id, fingerprint)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const trim = db.prepare('DELETE FROM refusal WHERE id <= ?');
  const newest = db.prepare(
    `SELECT at, code, reason, text, remoteAddress, sender, messageId, claimedMessageId, fingerprint FROM (
       SELECT * FROM (
         SELECT id, at, code, reason, text, remote_address AS remoteAddress, sender, message_id AS messageId,
           claimed_message_id AS claimedMessageId, fingerprint FROM refusal ORDER BY id DESC LIMIT :limit)
       UNION ALL SELECT * FROM (
         SELECT id, at, detail ->> '$.code', detail ->> '$.reason', detail ->> '$.text', remote_address, sender, message_id,
           detail ->> '$.claimedMessageId', fingerprint FROM decision WHERE decision = 'refuse' ORDER BY id DESC LIMIT :limit)
     ) ORDER BY at DESC, id DESC LIMIT :limit`,
  );
  const counts = new Map<string, number>();
  let hour = 0;

  function isDecision(sender: string, at: number): boolean {
    if (Math.floor(at / hourMs) !== hour) counts.clear();
    hour = Math.floor(at / hourMs);
    const before = counts.get(sender) ?? 0;
    counts.set(sender, before + 1);
    return before < refusalDecisions;
  }

  return {
    refuse: {
      writes: true,
      run(rows) {
        let last: number | bigint = 0;
        for (const r of rows) {
          const { at, code, reason, text, sender, messageId, claimedMessageId, ...from } = r;
          if (sender !== null && isDecision(sender, at)) {
            const detail = { code, reason, text, claimedMessageId };
            audit.decide({ at, decision: 'refuse', message: null, id: { sender, messageId }, ...from, detail });
            continue;
          }
          const values = [at, code, reason, text, r.remoteAddress, sender, messageId, claimedMessageId];
          last = insert.run(...values, r.fingerprint).lastInsertRowid;
        }
        trim.run(Number(last) - ring);
        return null;
      },
    },
    refusals: { writes: false, run: ({ limit }) => newest.all({ limit }) as Refusal[] },
  };
}
