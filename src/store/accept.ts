import { isStale } from '../dedup/window.ts';
import type { Audit, Decision } from './audit.ts';
import type { Chains } from './chains.ts';
import type { Db } from './database.ts';
import { prepareHold } from './hold.ts';
import type { InterchangeStore } from './interchanges.ts';
import type { BlobAt, Operation, WireMessage, WireOutcome } from './protocol.ts';
import { type Disposition, prepareAddReceipt, prepareStoreMessage } from './store-message.ts';
import { prepareRemember } from './suppress.ts';
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
export function prepareAccept(
  db: Db,
  chains: Chains,
  audit: Audit,
  interchanges: InterchangeStore,
): Operation<'accept'> {
  const findKey = db.prepare('SELECT message, base, expires_at FROM message_key WHERE sender = ? AND message_id = ?');
  const extendKey = db.prepare('UPDATE message_key SET expires_at = ? WHERE sender = ? AND message_id = ?');
  const receiptFor = db.prepare(
    'SELECT id, status, content_type AS contentType, body FROM receipt WHERE message = ? AND reference_set = ?',
  );
  const contentOf = db.prepare('SELECT content_digest FROM message WHERE id = ?').pluck();
  const remember = prepareRemember(db);
  const addReceipt = prepareAddReceipt(db, chains);
  const countReceipts = db.prepare('SELECT count(*) FROM receipt WHERE message = ?').pluck();
  const firstReceipt = db.prepare(
    'SELECT status, content_type AS contentType, body FROM receipt WHERE message = ? ORDER BY id LIMIT 1',
  );
  const hold = prepareHold(db, chains, audit);
  const acceptNew = prepareAcceptNew(db, chains, audit, interchanges);

  function rebuilt(m: WireMessage, blob: BlobAt, id: number, end: number): WireOutcome {
    const entry = {
      ...evidenceOf(m, blob),
      decision: 'rebuilt',
      message: id,
      existing: { id, messageId: m.messageId },
    };
    audit.suppressed({ ...entry, windowExpires: end });
    if (m.rebuilt === 'first-receipt' || (countReceipts.get(id) as number) >= receiptsPerMessage) {
      return { kind: 'rebuilt', id, answer: firstReceipt.get(id) as StoredAnswer };
    }
    const receipt = addReceipt(m, blob, id);
    if (m.requestDigest !== null) remember(blob(m.requestDigest), receipt, id);
    return { kind: 'rebuilt', id, answer: null };
  }

  function repeat(m: WireMessage, blob: BlobAt, id: number, end: number): WireOutcome {
    const stored = receiptFor.get(id, blob(m.referenceSet)) as (StoredAnswer & { id: number }) | undefined;
    if (stored) {
      if (m.requestDigest !== null) remember(blob(m.requestDigest), stored.id, id);
      // Two copies, or two processes, passed the look-up together: nobody but us knows that this one was suppressed.
      const compared = { message: id, existing: { id, messageId: m.messageId }, windowExpires: end };
      audit.suppressed({
        ...evidenceOf(m, blob),
        ...compared,
        decision: 'suppress',
        detail: { how: 'same-references' },
      });
      const { status, contentType, body } = stored;
      return { kind: 'duplicate', id, answer: { status, contentType, body } };
    }
    if (blob(m.contentDigest).equals(contentOf.get(id) as Buffer)) return rebuilt(m, blob, id, end);
    return hold(m, blob, { ...evidenceOf(m, blob), message: id, windowExpires: end });
  }

  return {
    writes: true,
    run(m, blob) {
      const key = findKey.get(m.sender, m.messageId) as KeyRow | undefined;
      if (!key) return acceptNew(m, blob, null);
      const end = Math.max(key.expires_at, key.base + m.window);
      if (end <= m.now) return acceptNew(m, blob, key.message);
      if (end > key.expires_at) extendKey.run(end, m.sender, m.messageId);
      return repeat(m, blob, key.message, end);
    },
  };
}

/** A message that the first layer calls new: its timestamp, its interchanges, and what becomes of it. */
function prepareAcceptNew(db: Db, chains: Chains, audit: Audit, interchanges: InterchangeStore) {
  const store = prepareStoreMessage(db, chains, interchanges);
  const otherSender = db.prepare('SELECT sender FROM message WHERE message_id = ? AND sender <> ? LIMIT 1').pluck();
  const messageId = db.prepare('SELECT message_id FROM message WHERE id = ?').pluck();
  const purgedUpTo = db.prepare(`SELECT value FROM setting WHERE name = 'purge.upTo'`).pluck();
  const supersede = db.prepare(`UPDATE outbox SET state = 'superseded', at = ? WHERE number = ? AND state = ?`);

  return (m: WireMessage, blob: BlobAt, expired: number | null): WireOutcome => {
    const forgottenUpTo = Number(purgedUpTo.get() ?? 0);
    const stale = m.purpose !== 'test' && isStale(m.ebTimestamp, Math.max(m.now, forgottenUpTo), m);
    if (stale && m.staleTimestamp === 'refuse') {
      audit.decide({
        ...evidenceOf(m, blob),
        decision: 'stale',
        message: null,
        windowExpires: m.ebTimestamp + m.window,
      });
      return { kind: 'stale' };
    }
    const waits = m.purpose === 'review' || (stale && m.staleTimestamp === 'review');
    const second = interchanges.judge(m, blob, !waits && (expired === null || m.outsideWindow !== 'review'));
    const existing = second.by?.existing?.message ?? null;
    const repeats = second.decision === 'suppress' && existing !== null;
    // A content that was replaced before anybody got it is not delivered by being known.
    const replaced = repeats && second.by?.existing?.replaced === true;
    const outsideWindow = expired !== null || second.outsideWindow;
    const warnings = [
      ...(stale ? [staleWarning] : []),
      ...(expired === null ? [] : [outsideWarning]),
      ...otherSenderWarning(otherSender.get(m.messageId, m.sender) as string | undefined),
      ...second.warnings,
      ...(replaced
        ? [`${second.by?.label} came before in message ${existing.messageId}, which a later one has replaced`]
        : []),
    ];
    const held = waits || replaced || second.decision === 'review' || (outsideWindow && m.outsideWindow === 'review');
    const suppressed = repeats && !replaced;
    const supersedes = second.decision === 'replacePending' && !held ? (second.replaced.at(-1) ?? null) : null;
    const state = m.purpose === 'test' || suppressed ? null : held ? 'review' : 'received';
    const disposition: Disposition = {
      ...{ state, outsideWindow, expired, warnings },
      duplicateOf: suppressed ? existing.id : null,
      supersedes: supersedes?.messageId ?? null,
    };
    const id = store(m, blob, disposition);

    const decision = suppressed ? 'suppressInterchange' : held ? 'review' : supersedes ? 'replacePending' : 'allow';
    const before = expired === null ? null : { id: expired, messageId: messageId.get(expired) as string };
    audit.decide({
      ...evidenceOf(m, blob),
      decision: m.purpose === 'test' ? 'test' : decision,
      message: id,
      layer: second.by?.layer ?? 'message',
      key: second.by?.key ?? m.messageId,
      after: state ?? (suppressed ? 'suppressed' : 'test'),
      existing: existing ?? before,
      windowExpires: suppressed ? (second.by?.existing?.end ?? null) : Math.max(m.receivedAt, m.ebTimestamp) + m.window,
      detail: detailOf(m, warnings, outsideWindow),
    });
    for (const row of supersedes ? second.replaced : []) {
      supersede.run(m.receivedAt, row.number, row.state);
      const earlier = { message: row.message, id: { sender: m.sender, messageId: row.messageId } };
      const by = { existing: { id, messageId: m.messageId }, rule: m.rule, policyVersion: m.policyVersion };
      const change = { before: row.state, after: 'superseded', detail: { number: row.number } };
      audit.decide({ at: m.receivedAt, decision: 'supersede', ...earlier, ...by, ...change });
    }
    if (suppressed) return { kind: 'suppressed', id, of: existing, warnings };
    const outcome = {
      kind: 'accepted',
      id,
      outsideWindow,
      warnings,
      supersedes: supersedes?.messageId ?? null,
    } as const;
    return { ...outcome, decision: held ? 'review' : supersedes ? 'replacePending' : 'allow' };
  };
}

/** What else a decision about a new message keeps: also when the message itself has been purged. */
function detailOf(
  { signerWarnings: signer }: WireMessage,
  warnings: readonly string[],
  outsideWindow: boolean,
): object | null {
  const ordinary = warnings.length === 0 && !outsideWindow;
  if (signer.length === 0) return ordinary ? null : { warnings, outsideWindow };
  return ordinary ? { signer } : { warnings, outsideWindow, signer };
}

/** What every decision about an arriving message says of it. */
function evidenceOf(m: WireMessage, blob: BlobAt): Omit<Decision, 'decision' | 'message'> {
  const { rule, policyVersion, remoteAddress, fingerprint } = m;
  const evidence = { rule, policyVersion, remoteAddress, fingerprint, referenceSet: blob(m.referenceSet) };
  return { at: m.receivedAt, id: m, layer: 'message', key: m.messageId, ...evidence };
}

const staleWarning =
  'eb:Timestamp is older than the duplicate window: this may be a replay of a message that was purged';
const outsideWarning = 'this MessageId is known from a time before the duplicate window';

function otherSenderWarning(sender: string | undefined): string[] {
  return sender === undefined ? [] : [`this MessageId was also received from another sender (${sender})`];
}
