import type { Chains } from './chains.ts';
import type { Db } from './database.ts';
import { type InterchangeStore, keysOnRecord } from './interchanges.ts';
import type { BlobAt, WireMessage } from './protocol.ts';
import type { HandOverState } from './types.ts';

/** Inserts a receipt and the envelope that it answers; gives the receipt's row id. */
export function prepareAddReceipt(db: Db, chains: Chains): (m: WireMessage, blob: BlobAt, id: number) => number {
  const receipt = db.prepare(
    `INSERT INTO receipt (message, reference_set, at, chain, status, content_type, body) VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const evidence = db.prepare('INSERT INTO evidence (receipt, message, at, envelope) VALUES (?, ?, ?, ?)');
  return (m, blob, id) => {
    const chain = chains.idsOf(m.fingerprint, m.chain.map(blob));
    const values = [id, blob(m.referenceSet), m.receivedAt, chain, m.status, m.contentType, blob(m.body)];
    const row = Number(receipt.run(...values).lastInsertRowid);
    evidence.run(row, id, m.receivedAt, blob(m.envelope));
    return row;
  };
}

/** What the transaction decided about a message that it stores. */
export interface Disposition {
  /** First state of its hand-over; null: nothing is delivered. */
  readonly state: HandOverState | null;
  readonly outsideWindow: boolean;
  readonly supersedes: string | null;
  readonly duplicateOf: number | null;
  /** The message that held the key until it expired. */
  readonly expired: number | null;
  readonly warnings: readonly string[];
}

/** Everything that is stored of a new message, but for its decision row. Gives its row id. */
export function prepareStoreMessage(db: Db, chains: Chains, interchanges: InterchangeStore) {
  const message = db.prepare(
    `INSERT INTO message (sender, message_id, purpose, eb_timestamp, eb_timestamp_text, received_at, content_digest, fingerprint,
       policy_version, outside_window, supersedes, after_power_loss, duplicate_of, remote_address, routing, second_keys, warnings)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const expire = db.prepare('UPDATE message SET expired_at = ? WHERE id = ?');
  // Only ever taken when free or expired: the caller has looked, in this transaction.
  const takeKey = db.prepare(
    `INSERT INTO message_key (sender, message_id, message, base, expires_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET message = excluded.message, base = excluded.base, expires_at = excluded.expires_at`,
  );
  const payload = db.prepare(
    `INSERT INTO payload (message, ordinal, at, href, mime_type, character_set, compressed, sha256, bytes, properties, file, data)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const request = db.prepare(
    `INSERT INTO request (digest, receipt, message) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET receipt = excluded.receipt, message = excluded.message`,
  );
  const outbox = db.prepare('INSERT INTO outbox (message, redelivery, state, at, reason) VALUES (?, 0, ?, ?, ?)');
  const addReceipt = prepareAddReceipt(db, chains);

  return (m: WireMessage, blob: BlobAt, d: Disposition): number => {
    const at = m.receivedAt;
    const base = Math.max(at, m.ebTimestamp);
    if (d.expired !== null) expire.run(at, d.expired);
    const identity = [m.sender, m.messageId, m.purpose, m.ebTimestamp, m.ebTimestampText, at];
    const judged = [blob(m.contentDigest), m.fingerprint, m.policyVersion, d.outsideWindow ? 1 : 0];
    const linked = [d.supersedes, m.afterPowerLoss ?? null, d.duplicateOf, m.remoteAddress];
    const warnings =
      d.warnings.length === 0 ? m.warnings : JSON.stringify([...(JSON.parse(m.warnings) as string[]), ...d.warnings]);
    const texts = [m.routing, keysOnRecord(m, blob), warnings];
    const id = Number(message.run(...identity, ...judged, ...linked, ...texts).lastInsertRowid);

    takeKey.run(m.sender, m.messageId, id, base, base + m.window);
    // What repeats an interchange adds nothing to compare with.
    if (d.duplicateOf === null) interchanges.record(m, blob, id, base);

    const receipt = addReceipt(m, blob, id);
    if (m.requestDigest !== null) request.run(blob(m.requestDigest), receipt, id);
    m.payloads.forEach((p, ordinal) => {
      const data = p.data === null ? null : blob(p.data);
      const what = [p.href, p.mimeType, p.characterSet, p.compressed ? 1 : 0, blob(p.sha256), p.bytes, p.properties];
      payload.run(id, ordinal, at, ...what, p.file, data);
    });
    if (d.state !== null) outbox.run(id, d.state, at, d.state === 'review' ? d.warnings.join('; ') || null : null);
    return id;
  };
}
