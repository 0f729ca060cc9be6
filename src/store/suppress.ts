import type { Audit } from './audit.ts';
import type { Db } from './database.ts';
import type { Operation } from './protocol.ts';

/** `suppress`: a copy was answered with the stored receipt. */
export function prepareSuppress(db: Db, audit: Audit): Operation<'suppress'> {
  const receiptOf = db.prepare('SELECT id FROM receipt WHERE message = ? AND reference_set = ?').pluck();
  const remember = prepareRemember(db);
  const known = db.prepare(
    `SELECT (SELECT d.rule FROM decision d WHERE d.message = m.id AND d.rule IS NOT NULL ORDER BY d.id LIMIT 1) AS rule,
       (SELECT k.expires_at FROM message_key k WHERE k.sender = m.sender AND k.message_id = m.message_id AND k.message = m.id) AS windowExpires
     FROM message m WHERE m.id = ?`,
  );
  return {
    writes: true,
    run(s, blob) {
      const { at, id: message, fingerprint, remoteAddress, how } = s;
      const referenceSet = blob(s.referenceSet);
      const evidence = { fingerprint, remoteAddress, referenceSet };
      // The rule that took the first message is the one that remembers it.
      const by = known.get(message) as { rule: string | null; windowExpires: number | null } | undefined;
      const why = { layer: 'message', key: s.messageId, existing: { id: message, messageId: s.messageId }, ...by };
      audit.suppressed({ at, decision: 'suppress', message, id: s, ...why, ...evidence, detail: { how } });
      if (s.requestDigest !== null) {
        const receipt = receiptOf.get(s.id, referenceSet) as number | undefined;
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
