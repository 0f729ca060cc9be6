import type { Audit } from './audit.ts';
import type { Db } from './database.ts';
import type { Operation } from './protocol.ts';

/** `suppress`: a copy was answered with the stored receipt. */
export function prepareSuppress(db: Db, audit: Audit): Operation<'suppress'> {
  const receiptOf = db.prepare('SELECT id FROM receipt WHERE message = ? AND reference_set = ?').pluck();
  const remember = prepareRemember(db);
  return {
    writes: true,
    run(s, blob) {
      const { at, id: message, fingerprint, remoteAddress, how } = s;
      const referenceSet = blob(s.referenceSet);
      const evidence = { fingerprint, remoteAddress, referenceSet };
      audit.suppressed({ at, decision: 'suppress', message, id: s, layer: 'message', ...evidence, detail: { how } });
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
