import type { Audit } from './audit.ts';
import type { Db } from './database.ts';
import type { InterchangeStore } from './interchanges.ts';
import { openCondition } from './migrations.ts';
import type { Actor, OperatorOutcome, ReviewAction } from './operator-types.ts';
import type { OperationTable } from './protocol.ts';
import { type HeldCopy, isEvidence, type Reviews } from './reviews.ts';
import type { HandOverEvent } from './states.ts';
import type { CurrentHandOver, Transitions } from './transitions.ts';
import type { HandOverState } from './types.ts';

const hourMs = 3_600_000;

interface Parts {
  readonly audit: Audit;
  readonly transitions: Transitions;
  readonly reviews: Reviews;
  readonly interchanges: InterchangeStore;
  /** Approvals and redeliveries in any hour. */
  readonly exceptionsPerHour: number;
}

/** What an operator may order about one message. Every order is recorded with who gave it and why; none changes a rule. */
export function prepareExceptions(
  db: Db,
  { audit, transitions, reviews, interchanges, exceptionsPerHour }: Parts,
): Pick<OperationTable, 'review' | 'redeliver'> {
  const recent = db
    .prepare(
      `SELECT count(*) FROM decision WHERE actor IS NOT NULL AND at > ? AND (decision = 'approve' OR decision = 'redeliver')`,
    )
    .pluck();
  const setHeld = db.prepare('UPDATE held SET state = ?, copy = ? WHERE id = ?');
  const copyMessage = db.prepare(
    `INSERT INTO message (sender, message_id, purpose, eb_timestamp, eb_timestamp_text, received_at, content_digest, fingerprint,
       policy_version, outside_window, expired_at, remote_address, routing, second_keys, warnings)
     SELECT sender, message_id, 'deliver', eb_timestamp, eb_timestamp_text, first_at, content_digest, fingerprint, policy_version, 0,
       first_at, remote_address, routing, second_keys, warnings FROM held WHERE id = ?`,
  );
  const copyReceipts = db.prepare(
    `INSERT INTO receipt (message, reference_set, at, chain, status, content_type, body)
     SELECT :message, reference_set, at, chain, status, content_type, body FROM held_receipt WHERE held = :held ORDER BY rowid`,
  );
  const copyEvidence = db.prepare(
    `INSERT INTO evidence (receipt, message, at, envelope)
     SELECT r.id, r.message, r.at, h.envelope FROM receipt r JOIN held_receipt h ON h.reference_set = r.reference_set AND h.held = :held
     WHERE r.message = :message`,
  );
  const copyPayloads = db.prepare(
    `INSERT INTO payload (message, ordinal, at, href, mime_type, character_set, compressed, sha256, bytes, properties, file, data)
     SELECT :message, ordinal, :at, href, mime_type, character_set, compressed, sha256, bytes, properties, file, data FROM held_payload WHERE held = :held`,
  );
  // The content file now belongs to the message that is made of it: one name, one row, or purge of the copy would delete it.
  const letGo = db.prepare('UPDATE held_payload SET file = NULL, data = NULL WHERE held = ?');
  const copyKeys = db.prepare(
    `INSERT INTO interchange (layer, scope, key, content_digest, message, date_time, base, expires_at)
     SELECT k.value ->> '$.layer', k.value ->> '$.scope', k.value ->> '$.key', unhex(k.value ->> '$.content'), :message, k.value ->> '$.dateTime',
       max(h.first_at, h.eb_timestamp), max(h.first_at, h.eb_timestamp) + h.window
     FROM held h, json_each(h.second_keys) k WHERE h.id = :held ON CONFLICT DO NOTHING`,
  );
  const addHandOver = db.prepare('INSERT INTO outbox (message, redelivery, state, at, reason) VALUES (?, ?, ?, ?, ?)');
  const messageById = db.prepare('SELECT id, sender, message_id AS messageId, purpose FROM message WHERE id = ?');
  const messagesById = db.prepare(
    'SELECT id, sender, message_id AS messageId, purpose FROM message WHERE message_id = ? ORDER BY id LIMIT 2',
  );
  const latest = db.prepare(
    'SELECT number, redelivery, state FROM outbox WHERE message = ? ORDER BY redelivery DESC LIMIT 1',
  );
  const openOne = db.prepare(`SELECT state FROM outbox WHERE message = ? AND ${openCondition} LIMIT 1`).pluck();
  const purged = db.prepare('SELECT count(*) FROM payload WHERE message = ? AND purged_at IS NOT NULL').pluck();

  function limited(actor: Actor, now: number): OperatorOutcome | null {
    if ((recent.get(now - hourMs) as number) < exceptionsPerHour) return null;
    const text = `There were ${exceptionsPerHour} approvals and redeliveries in the last hour, which is the limit: wait, or raise it in the configuration.`;
    audit.decide({ at: now, decision: 'limited', message: null, id: null, actor });
    return { kind: 'refused', reason: 'limit', text };
  }

  function reviewHandOver(row: CurrentHandOver, action: ReviewAction, actor: Actor, now: number): OperatorOutcome {
    const { number, message, messageId } = row;
    const event: HandOverEvent = ({ approve: 'release', reject: 'reject', confirm: 'confirm' } as const)[action];
    const gone = action === 'approve' && (purged.get(message) as number) > 0;
    if (gone) return refusedAs('payload-purged', payloadPurged(messageId));
    // A backend may have seen what is unknown: then nothing may be forgotten of it, and a second time is said to be one.
    const unsure = row.state === 'unknown' || row.possibleDuplicate === 1;
    const changes = () =>
      action === 'approve'
        ? { attempts: 0, bootId: null, directory: null, ...(unsure && { possibleDuplicate: 1 }) }
        : {};
    const { state, applied } = transitions.apply(number, event, now, changes, { decision: action, actor });
    if (!applied) return refusedAs('state', `Message ${messageId} is ${wordsFor(state)}: ${action} does not apply.`);
    if (action === 'reject' && !unsure) interchanges.reject(message);
    // Its repeats got a receipt because it was there: with it gone, nothing of them is delivered either.
    const same = action === 'reject' ? reviews.twinsOf(message) : [];
    return {
      ...{ kind: 'done', message, messageId, handOver: number, state, already: false },
      ...(same.length > 0 && { same }),
    };
  }

  function reviewHeld(row: HeldCopy, action: ReviewAction, actor: Actor, now: number): OperatorOutcome {
    const { messageId } = row;
    const done = { kind: 'done', message: row.copy ?? row.message, messageId, handOver: null } as const;
    const existing = { id: row.message, messageId };
    if (isEvidence(row.state)) {
      if (action !== 'reject')
        return refusedAs(
          'told-failure',
          `The sender of message ${messageId} was told that this copy failed, and may have sent it again under another MessageId: it cannot be approved. Ask the sender to send it anew.`,
        );
      if (row.state === 'dismissed') return { ...done, state: 'rejected', already: true };
      setHeld.run('dismissed', null, row.id);
      const dismissal = { at: now, decision: action, message: row.message, id: row, actor, existing };
      audit.decide({ ...dismissal, before: 'evidence', after: 'rejected', detail: { held: row.id } });
      return { ...done, state: 'rejected', already: false };
    }
    const wanted = action === 'approve' ? 'approved' : 'rejected';
    if (action !== 'confirm' && row.state === wanted)
      return { ...done, state: wanted === 'approved' ? 'received' : 'rejected', already: true };
    if (action === 'confirm' || row.state !== 'review')
      return refusedAs('state', `This copy of message ${messageId} is ${row.state}: ${action} does not apply.`);
    const order = { at: now, decision: action, id: row, actor, before: 'review' };
    if (action === 'reject') {
      setHeld.run('rejected', null, row.id);
      audit.decide({ ...order, message: row.message, after: 'rejected', existing, detail: { held: row.id } });
      return { ...done, state: 'rejected', already: false };
    }
    // Whether its interchanges came under another MessageId meanwhile; the operator may know, and is told.
    const same = reviews.carriersOf(row.id);
    const message = Number(copyMessage.run(row.id).lastInsertRowid);
    const both = { message, held: row.id };
    copyReceipts.run(both);
    copyEvidence.run(both);
    copyPayloads.run({ ...both, at: now });
    letGo.run(row.id);
    copyKeys.run(both);
    setHeld.run('approved', message, row.id);
    const handOver = Number(addHandOver.run(message, 0, 'received', now, actor.reason).lastInsertRowid);
    audit.decide({
      ...order,
      message,
      after: 'received',
      existing,
      detail: { held: row.id, number: handOver, ...(same.length > 0 && { same }) },
    });
    return {
      ...{ kind: 'done', message, messageId, handOver, state: 'received', already: false },
      ...(same.length > 0 && { same }),
    };
  }

  function redeliver(id: string, actor: Actor, now: number): OperatorOutcome {
    const found = /^\d{1,15}$/.test(id) ? (messageById.get(Number(id)) as MessageRow | undefined) : undefined;
    // A number may be the MessageId of another message.
    const named = (messagesById.all(id) as MessageRow[]).filter((m) => m.id !== found?.id);
    const [first, second] = found ? [found, ...named] : named;
    if (!first) return refusedAs('not-found', `There is no message ${id}: it was never received, or was purged.`);
    if (second)
      return refusedAs(
        'not-found',
        `There are several messages ${id}: name the one you mean by its number in the list.`,
      );
    const { id: message, messageId } = first;
    if (first.purpose === 'test')
      return refusedAs('test', `Message ${messageId} is a test of the connection: there is nothing to deliver.`);
    const open = openOne.get(message) as HandOverState | undefined;
    if (open !== undefined)
      return refusedAs(
        'state',
        `Message ${messageId} is ${wordsFor(open)}: a new hand-over is only made when the last one is done with.`,
      );
    if ((purged.get(message) as number) > 0) return refusedAs('payload-purged', payloadPurged(messageId));
    const tooMany = limited(actor, now);
    if (tooMany) return tooMany;
    const last = latest.get(message) as { redelivery: number; state: HandOverState } | undefined;
    const redelivery = (last?.redelivery ?? 0) + 1;
    const handOver = Number(addHandOver.run(message, redelivery, 'received', now, actor.reason).lastInsertRowid);
    interchanges.restore(message);
    const change = { before: last?.state ?? 'suppressed', after: 'received', detail: { number: handOver, redelivery } };
    audit.decide({ at: now, decision: 'redeliver', message, id: first, actor, ...change });
    return { kind: 'done', message, messageId, handOver, state: 'received', already: false };
  }

  return {
    review: {
      writes: true,
      run({ id, action, actor, now }) {
        const found = reviews.find(id);
        if (!found)
          return refusedAs(
            'not-found',
            `Nothing of ${id} waits for a decision, or more than one thing does: see the list of reviews.`,
          );
        const exception = action === 'approve' && !(found.kind === 'held' && found.row.state !== 'review');
        const tooMany = exception ? limited(actor, now) : null;
        if (tooMany) return tooMany;
        if (found.kind === 'held') return reviewHeld(found.row, action, actor, now);
        return reviewHandOver(transitions.current(found.row.number)!, action, actor, now);
      },
    },
    redeliver: { writes: true, run: ({ id, actor, now }) => redeliver(id, actor, now) },
  };
}

interface MessageRow {
  id: number;
  sender: string;
  messageId: string;
  purpose: string;
}

type Reason = Extract<OperatorOutcome, { kind: 'refused' }>['reason'];
const refusedAs = (reason: Reason, text: string): OperatorOutcome => ({ kind: 'refused', reason, text });

const payloadPurged = (messageId: string) =>
  `The payload of message ${messageId} is no longer kept (retention.payload): it cannot be delivered. Ask the sender to send it again.`;

/** A state in a sentence. */
export function wordsFor(state: HandOverState): string {
  const words: Partial<Record<HandOverState, string>> = {
    received: 'waiting to be delivered',
    handingOver: 'being delivered',
    review: 'in review',
    unknown: 'of unknown fate (see the list of reviews)',
  };
  return words[state] ?? state;
}
