import type { Audit } from './audit.ts';
import { prepareRemember } from './audit.ts';
import type { Chains } from './chains.ts';
import type { Db } from './database.ts';
import { prepareHold } from './hold.ts';
import type { BlobAt, Operation, WireMessage, WireOutcome } from './protocol.ts';
import type { StoredAnswer } from './types.ts';

/** Receipts kept for one message; further rebuilt copies get the first one's bytes (architecture §3). */
const receiptsPerMessage = 50;

interface KeyRow {
  message: number;
  base: number;
  expires_at: number;
}

/**
 * The decision about a message whose receipt is ready (architecture §2.10). Runs inside the group's transaction, under the write lock:
 * what it reads cannot change before it is committed, so this is where races between requests and processes are decided.
 */
export function prepareAccept(db: Db, chains: Chains, audit: Audit): Operation<'accept'> {
  const findKey = db.prepare(
    `SELECT message, base, expires_at FROM key WHERE layer = 'message' AND scope = ? AND key = ?`,
  );
  const extendKey = db.prepare(`UPDATE key SET expires_at = ? WHERE layer = 'message' AND scope = ? AND key = ?`);
  const receiptFor = db.prepare(
    'SELECT id, status, content_type AS contentType, body FROM receipt WHERE message = ? AND reference_set = ?',
  );
  const contentOf = db.prepare('SELECT content_digest FROM message WHERE id = ?').pluck();
  const remember = prepareRemember(db);
  const store = prepareStore(db, chains, audit);
  const addReceipt = prepareAddReceipt(db, chains);
  const countReceipts = db.prepare('SELECT count(*) FROM receipt WHERE message = ?').pluck();
  const firstReceipt = db.prepare(
    'SELECT status, content_type AS contentType, body FROM receipt WHERE message = ? ORDER BY id LIMIT 1',
  );
  const hold = prepareHold(db, chains, audit);

  function rebuilt(m: WireMessage, blob: BlobAt, id: number): WireOutcome {
    const { fingerprint, remoteAddress } = m;
    audit.suppressed(m.receivedAt, id, m, 'rebuilt', { fingerprint, remoteAddress });
    if (m.rebuilt === 'first-receipt' || (countReceipts.get(id) as number) >= receiptsPerMessage) {
      return { kind: 'rebuilt', id, answer: firstReceipt.get(id) as StoredAnswer };
    }
    const receipt = addReceipt(m, blob, id);
    if (m.requestDigest !== null) remember(blob(m.requestDigest), receipt, id);
    return { kind: 'rebuilt', id, answer: null };
  }

  function repeat(m: WireMessage, blob: BlobAt, id: number): WireOutcome {
    const stored = receiptFor.get(id, blob(m.referenceSet)) as (StoredAnswer & { id: number }) | undefined;
    if (stored) {
      if (m.requestDigest !== null) remember(blob(m.requestDigest), stored.id, id);
      const { status, contentType, body } = stored;
      return { kind: 'duplicate', id, answer: { status, contentType, body } };
    }
    if (blob(m.contentDigest).equals(contentOf.get(id) as Buffer)) return rebuilt(m, blob, id);
    return { kind: 'conflict', id, repeats: hold(m, blob, id) };
  }

  return {
    writes: true,
    run(m, blob) {
      const key = findKey.get(m.sender, m.messageId) as KeyRow | undefined;
      if (!key) return store(m, blob, null);
      const end = Math.max(key.expires_at, key.base + m.window);
      if (end <= m.receivedAt) return store(m, blob, key.message);
      if (end > key.expires_at) extendKey.run(end, m.sender, m.messageId);
      return repeat(m, blob, key.message);
    },
  };
}

/** Inserts a receipt and the envelope that it answers; gives the receipt's row id. */
function prepareAddReceipt(db: Db, chains: Chains): (m: WireMessage, blob: BlobAt, id: number) => number {
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

/** A new message, or one whose key has expired: the key moves to it and it says so. */
function prepareStore(db: Db, chains: Chains, audit: Audit) {
  const message = db.prepare(
    `INSERT INTO message (sender, message_id, purpose, eb_timestamp, eb_timestamp_text, received_at, content_digest, fingerprint,
       policy_version, outside_window, remote_address, routing, second_keys, warnings)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const expire = db.prepare('UPDATE message SET expired_at = ? WHERE id = ?');
  // The first-layer key is only ever taken when free or expired; a second-layer key stays with the first message until it expires.
  const takeKey = db.prepare(
    `INSERT INTO key (layer, scope, key, message, base, expires_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET message = excluded.message, base = excluded.base, expires_at = excluded.expires_at
     WHERE max(key.expires_at, key.base + ?) <= ?`,
  );
  const payload = db.prepare(
    `INSERT INTO payload (message, ordinal, at, href, mime_type, character_set, compressed, sha256, bytes, file, data)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const request = db.prepare(
    `INSERT INTO request (digest, receipt, message) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET receipt = excluded.receipt, message = excluded.message`,
  );
  const outbox = db.prepare('INSERT INTO outbox (message, redelivery, state, at) VALUES (?, 0, ?, ?)');
  const addReceipt = prepareAddReceipt(db, chains);

  return (m: WireMessage, blob: BlobAt, expired: number | null): WireOutcome => {
    const now = m.receivedAt;
    const base = Math.max(now, m.ebTimestamp);
    const outsideWindow = expired !== null;
    if (expired !== null) expire.run(now, expired);
    const identity = [m.sender, m.messageId, m.purpose, m.ebTimestamp, m.ebTimestampText, now];
    const judged = [blob(m.contentDigest), m.fingerprint, m.policyVersion, outsideWindow ? 1 : 0, m.remoteAddress];
    const texts = [m.routing, JSON.stringify(m.keys), m.warnings];
    const id = Number(message.run(...identity, ...judged, ...texts).lastInsertRowid);

    const end = base + m.window;
    takeKey.run('message', m.sender, m.messageId, id, base, end, m.window, now);
    for (const k of m.keys) takeKey.run(k.layer, k.scope, k.key, id, base, end, m.window, now);

    const receipt = addReceipt(m, blob, id);
    if (m.requestDigest !== null) request.run(blob(m.requestDigest), receipt, id);
    m.payloads.forEach((p, ordinal) => {
      const data = p.data === null ? null : blob(p.data);
      const what = [p.href, p.mimeType, p.characterSet, p.compressed ? 1 : 0, blob(p.sha256), p.bytes];
      payload.run(id, ordinal, now, ...what, p.file, data);
    });
    if (m.purpose !== 'test') outbox.run(id, m.purpose === 'review' ? 'review' : 'received', now);

    const detail = {
      policy: m.policyVersion,
      remoteAddress: m.remoteAddress,
      ...(outsideWindow && { outsideWindow, previous: expired }),
    };
    audit.decide(now, id, m, m.purpose === 'deliver' ? 'allow' : m.purpose, detail);
    return { kind: 'accepted', id, outsideWindow };
  };
}
