import type { Chains } from './chains.ts';
import type { Db } from './database.ts';
import type { Operation } from './protocol.ts';
import type { StoredAnswer } from './types.ts';

interface RequestRow {
  sender: string;
  messageId: string;
  referenceSet: Buffer;
  chain: string;
}
interface KnownRow {
  id: number;
  receivedAt: number;
  status: number | null;
  contentType: string;
  body: Buffer;
}

/**
 * The look-ups before a message is opened (architecture §2.2, §2.6). A key counts while `expires_at`, or its end under the window in
 * force now if that is later, lies ahead: whether purge has run never matters.
 */
export function prepareRecall(
  db: Db,
  chains: Chains,
): { find: Operation<'find'>; findRequest: Operation<'findRequest'> } {
  const live = 'max(k.expires_at, k.base + :window) > :now';
  const byRequest = db.prepare(
    `SELECT m.sender, m.message_id AS messageId, r.reference_set AS referenceSet, r.chain
     FROM request q JOIN receipt r ON r.id = q.receipt JOIN message m ON m.id = q.message
       JOIN message_key k ON k.sender = m.sender AND k.message_id = m.message_id AND k.message = m.id
     WHERE q.digest = :digest AND ${live}`,
  );
  const byKey = db.prepare(
    `SELECT m.id, m.received_at AS receivedAt, r.status, r.content_type AS contentType, r.body
     FROM message_key k JOIN message m ON m.id = k.message
       LEFT JOIN receipt r ON r.message = k.message AND r.reference_set = :referenceSet
     WHERE k.sender = :sender AND k.message_id = :messageId AND ${live}`,
  );
  // A copy with other content that was held: its receipt is answered as any other (only looked for when the id is known otherwise).
  const inHeld = db.prepare(
    `SELECT r.status, r.content_type AS contentType, r.body FROM held h JOIN held_receipt r ON r.held = h.id
     WHERE h.sender = :sender AND h.message_id = :messageId AND r.reference_set = :referenceSet`,
  );
  return {
    findRequest: {
      writes: false,
      run({ digest, now, window }, blob) {
        const row = byRequest.get({ digest: blob(digest), now, window }) as RequestRow | undefined;
        if (!row) return null;
        const { sender, messageId, referenceSet } = row;
        return { sender, messageId, referenceSet, signer: chains.load(row.chain) };
      },
    },
    find: {
      writes: false,
      run({ sender, messageId, referenceSet, now, window }, blob) {
        const row = byKey.get({ sender, messageId, referenceSet: blob(referenceSet), now, window }) as
          | KnownRow
          | undefined;
        if (!row) return null;
        const { id, receivedAt, status, contentType, body } = row;
        if (status !== null) return { id, receivedAt, receipt: { status, contentType, body } };
        const held = inHeld.get({ sender, messageId, referenceSet: blob(referenceSet) }) as StoredAnswer | undefined;
        return { id, receivedAt, receipt: held ?? null };
      },
    },
  };
}
