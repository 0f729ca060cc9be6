import type { Db } from './database.ts';
import type { Operation } from './protocol.ts';
import type { Refusal } from './types.ts';

/** Refusals kept; a flood of them must not fill the disk. */
export const refusalRing = 100_000;

/** The ring of refusals: written in batches, the oldest go in the same transaction. */
export function prepareRefusals(
  db: Db,
  ring: number,
): { refuse: Operation<'refuse'>; refusals: Operation<'refusals'> } {
  const insert = db.prepare(
    `INSERT INTO refusal (at, code, reason, text, remote_address, sender, message_id, claimed_message_id, fingerprint)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const trim = db.prepare('DELETE FROM refusal WHERE id <= ?');
  const newest = db.prepare(
    `SELECT at, code, reason, text, remote_address AS remoteAddress, sender, message_id AS messageId,
       claimed_message_id AS claimedMessageId, fingerprint FROM refusal ORDER BY id DESC LIMIT ?`,
  );
  return {
    refuse: {
      writes: true,
      run(rows) {
        let last: number | bigint = 0;
        for (const r of rows) {
          const values = [r.at, r.code, r.reason, r.text, r.remoteAddress, r.sender, r.messageId, r.claimedMessageId];
          last = insert.run(...values, r.fingerprint).lastInsertRowid;
        }
        trim.run(Number(last) - ring);
        return null;
      },
    },
    refusals: { writes: false, run: ({ limit }) => newest.all(limit) as Refusal[] },
  };
}
