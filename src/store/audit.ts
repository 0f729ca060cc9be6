import type { Db } from './database.ts';
import type { Operation } from './protocol.ts';
import type { MessageKey, Refusal } from './types.ts';

/** Suppressions of a message that get a decision row each; later ones are counted by the hour (architecture §3). */
export const suppressionRows = 100;
/** Refusals kept; a flood of them must not fill the disk. */
export const refusalRing = 100_000;
const hourMs = 3_600_000;

export interface Audit {
  decide(at: number, message: number | null, key: MessageKey | null, decision: string, detail: object): void;
  /** Counts one more copy of a message and records it, as a row of its own or in the hour's counter. */
  suppressed(at: number, message: number, key: MessageKey, decision: string, detail: object): void;
  /** Only the hour's counter. */
  counted(at: number, message: number, decision: string): void;
}

export function prepareAudit(db: Db): Audit {
  const insert = db.prepare(
    'INSERT INTO decision (at, message, sender, message_id, decision, detail) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const count = db
    .prepare('UPDATE message SET suppressions = suppressions + 1 WHERE id = ? RETURNING suppressions')
    .pluck();
  const counter = db.prepare(
    `INSERT INTO suppression (message, hour, decision, count, last_at) VALUES (?, ?, ?, 1, ?)
     ON CONFLICT DO UPDATE SET count = count + 1, last_at = excluded.last_at`,
  );
  const audit: Audit = {
    decide(at, message, key, decision, detail) {
      insert.run(at, message, key?.sender ?? null, key?.messageId ?? null, decision, JSON.stringify(detail));
    },
    suppressed(at, message, key, decision, detail) {
      const copies = count.get(message) as number | undefined;
      // Purged between the answer and this record: the decision row still tells of it.
      if (copies === undefined || copies <= suppressionRows) audit.decide(at, message, key, decision, detail);
      else audit.counted(at, message, decision);
    },
    counted(at, message, decision) {
      counter.run(message, at - (at % hourMs), decision, at);
    },
  };
  return audit;
}

/** `suppress`: a copy was answered with the stored receipt. */
export function prepareSuppress(db: Db, audit: Audit): Operation<'suppress'> {
  const receiptOf = db.prepare('SELECT id FROM receipt WHERE message = ? AND reference_set = ?').pluck();
  const remember = prepareRemember(db);
  return {
    writes: true,
    run(s, blob) {
      const { fingerprint, remoteAddress, how } = s;
      audit.suppressed(s.at, s.id, s, 'suppress', { how, fingerprint, remoteAddress });
      if (s.requestDigest !== null) {
        const receipt = receiptOf.get(s.id, blob(s.referenceSet)) as number | undefined;
        if (receipt !== undefined) remember(blob(s.requestDigest), receipt, s.id);
      }
      return null;
    },
  };
}

/** Bodies remembered for a message, for the shortcut; more of them are honest but not worth a row. */
const requestsPerMessage = 50;

export function prepareRemember(db: Db): (digest: Buffer, receipt: number, message: number) => void {
  const count = db.prepare('SELECT count(*) FROM request WHERE message = ?').pluck();
  // The same bytes again after their window: they now belong to the newer message.
  const insert = db.prepare(
    `INSERT INTO request (digest, receipt, message) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET receipt = excluded.receipt, message = excluded.message`,
  );
  return (digest, receipt, message) => {
    if ((count.get(message) as number) < requestsPerMessage) insert.run(digest, receipt, message);
  };
}

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
