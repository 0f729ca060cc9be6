import { type Audit, type Decision, suppressionRows } from './audit.ts';
import type { Chains } from './chains.ts';
import type { Db } from './database.ts';
import { keysOnRecord } from './interchanges.ts';
import type { BlobAt, WireMessage, WireOutcome } from './protocol.ts';
import type { StoredAnswer } from './types.ts';

/**
 * Undecided conflicts kept per sender; beyond it they are only counted, also where the policy holds, so that one sender cannot fill the
 * disk. The sender is then told failure.
 */
export const heldPerSender = 1000;
/** Receipts kept for one held copy; further rebuilt ones get the first one's bytes. */
const receiptsPerCopy = 50;

interface HeldRow {
  id: number;
  state: string;
  repeats: number;
}

/**
 * Keeps a conflict (a known id with other content): the envelope, the signer, and the payloads. With `hold` it gets a receipt of its
 * own and waits for an operator; with `reject` it is evidence, of which payload files are not kept. The same content again is counted
 * in its row. A copy that its sender was told has failed stays evidence for ever, and the one that has a receipt keeps it.
 */
export function prepareHold(db: Db, chains: Chains, audit: Audit) {
  const find = db.prepare(
    'SELECT id, state, repeats FROM held WHERE sender = ? AND message_id = ? AND content_digest = ?',
  );
  const again = db.prepare('UPDATE held SET repeats = repeats + 1, last_at = ? WHERE id = ?');
  const count = db
    .prepare(`SELECT count(*) FROM held WHERE sender = ? AND (state = 'review' OR state = 'evidence')`)
    .pluck();
  const held = db.prepare(
    `INSERT INTO held (sender, message_id, content_digest, message, state, reference_set, chain, first_at, last_at, eb_timestamp,
       eb_timestamp_text, fingerprint, policy_version, rule, window, remote_address, routing, second_keys, warnings, envelope)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const payload = db.prepare(
    `INSERT INTO held_payload (held, ordinal, href, mime_type, character_set, compressed, sha256, bytes, properties, file, data)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const answer = 'SELECT status, content_type AS contentType, body FROM held_receipt WHERE held = ?';
  const stored = db.prepare(`${answer} AND reference_set = ?`);
  const first = db.prepare(`${answer} ORDER BY rowid LIMIT 1`);
  const receipts = db.prepare('SELECT count(*) FROM held_receipt WHERE held = ?').pluck();
  const receipt = db.prepare(
    `INSERT INTO held_receipt (held, reference_set, at, chain, status, content_type, body, envelope) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );

  function keep(m: WireMessage, blob: BlobAt, id: number, state: 'review' | 'evidence', chain: string): number {
    const at = m.receivedAt;
    const what = [m.sender, m.messageId, blob(m.contentDigest), id, state, blob(m.referenceSet), chain, at, at];
    const judged = [
      m.ebTimestamp,
      m.ebTimestampText,
      m.fingerprint,
      m.policyVersion,
      m.rule,
      m.window,
      m.remoteAddress,
    ];
    const texts = [m.routing, keysOnRecord(m, blob), m.warnings, blob(m.envelope)];
    const row = Number(held.run(...what, ...judged, ...texts).lastInsertRowid);
    m.payloads.forEach((p, ordinal) => {
      const data = p.data === null ? null : blob(p.data);
      const about = [p.href, p.mimeType, p.characterSet, p.compressed ? 1 : 0, blob(p.sha256), p.bytes, p.properties];
      payload.run(row, ordinal, ...about, state === 'review' ? p.file : null, data);
    });
    return row;
  }

  /** Null: the receipt that came with the message is the one that is stored now. */
  function answerFor(m: WireMessage, blob: BlobAt, row: number, chain: string): StoredAnswer | null {
    const known = stored.get(row, blob(m.referenceSet)) as StoredAnswer | undefined;
    if (known) return known;
    const copies = receipts.get(row) as number;
    if (copies > 0 && (m.rebuilt === 'first-receipt' || copies >= receiptsPerCopy))
      return first.get(row) as StoredAnswer;
    const bytes = [m.status, m.contentType, blob(m.body), blob(m.envelope)];
    receipt.run(row, blob(m.referenceSet), m.receivedAt, chain, ...bytes);
    return null;
  }

  return (m: WireMessage, blob: BlobAt, entry: Omit<Decision, 'decision'> & { message: number }): WireOutcome => {
    const id = entry.message;
    const known = find.get(m.sender, m.messageId, blob(m.contentDigest)) as HeldRow | undefined;
    const full = known === undefined && (count.get(m.sender) as number) >= heldPerSender;
    const holds = known
      ? known.state !== 'evidence' && known.state !== 'dismissed'
      : m.conflict === 'hold' && m.purpose !== 'test' && !full;
    const decision = holds ? 'hold' : 'conflict';
    const before = known?.repeats ?? 0;
    const repeats = known ? before + 1 : 0;
    if (known) again.run(m.receivedAt, known.id);

    const chain = chains.idsOf(m.fingerprint, m.chain.map(blob));
    const row = known?.id ?? (full ? null : keep(m, blob, id, holds ? 'review' : 'evidence', chain));
    if (full || before > suppressionRows) audit.counted(m.receivedAt, id, decision);
    else {
      const detail = {
        contentDigest: blob(m.contentDigest).toString('hex'),
        ...(row !== null && { held: row }),
        repeats,
        ...(m.signerWarnings.length > 0 && { signer: m.signerWarnings }),
      };
      const after = holds ? (known?.state ?? 'review') : null;
      audit.decide({ ...entry, decision, existing: { id, messageId: m.messageId }, after, detail });
    }
    if (!holds || row === null) return { kind: 'conflict', id, repeats };
    const kept = known === undefined;
    return { kind: 'held', id, repeats, kept, answer: answerFor(m, blob, row, chain) };
  };
}
