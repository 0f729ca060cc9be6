import type { Audit } from './audit.ts';
import { suppressionRows } from './audit.ts';
import type { Chains } from './chains.ts';
import type { Db } from './database.ts';
import type { BlobAt, WireMessage } from './protocol.ts';

/** Conflicts kept per sender; beyond it only counted, so that one sender cannot fill the disk. */
export const heldPerSender = 1000;

/**
 * Keeps a conflict (a known id with other content) as evidence: the envelope, the signer, and payloads that came in memory.
 * The same content again is counted in its row. Gives how often this content came before.
 */
export function prepareHold(
  db: Db,
  chains: Chains,
  audit: Audit,
): (m: WireMessage, blob: BlobAt, id: number) => number {
  const repeat = db
    .prepare(
      `UPDATE held SET repeats = repeats + 1, last_at = ? WHERE sender = ? AND message_id = ? AND content_digest = ?
       RETURNING repeats`,
    )
    .pluck();
  const count = db.prepare('SELECT count(*) FROM held WHERE sender = ?').pluck();
  const held = db.prepare(
    `INSERT INTO held (sender, message_id, content_digest, message, reference_set, chain, first_at, last_at, remote_address,
       routing, envelope) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const payload = db.prepare(
    'INSERT INTO held_payload (held, ordinal, href, mime_type, sha256, bytes, data) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );

  return (m, blob, id) => {
    const { fingerprint, remoteAddress } = m;
    const digest = blob(m.contentDigest);
    const before = repeat.get(m.receivedAt, m.sender, m.messageId, digest) as number | undefined;
    const full = before === undefined && (count.get(m.sender) as number) >= heldPerSender;
    if (full || (before ?? 0) > suppressionRows) {
      audit.counted(m.receivedAt, id, 'conflict');
      return before ?? 0;
    }
    if (before === undefined) {
      const chain = chains.idsOf(m.fingerprint, m.chain.map(blob));
      const times = [m.receivedAt, m.receivedAt];
      const what = [m.sender, m.messageId, digest, id, blob(m.referenceSet), chain, ...times, remoteAddress, m.routing];
      const row = held.run(...what, blob(m.envelope)).lastInsertRowid;
      m.payloads.forEach((p, ordinal) => {
        const data = p.data === null ? null : blob(p.data);
        payload.run(row, ordinal, p.href, p.mimeType, blob(p.sha256), p.bytes, data);
      });
    }
    audit.decide(m.receivedAt, id, m, 'conflict', {
      contentDigest: digest.toString('hex'),
      fingerprint,
      remoteAddress,
    });
    return before ?? 0;
  };
}
