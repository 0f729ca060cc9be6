import { preparePurgeAudit } from './audit-chain.ts';
import type { Db } from './database.ts';
import { openCondition } from './migrations.ts';
import type { OperationTable, PurgeCounts, PurgeLimits } from './protocol.ts';

/** Rows of a kind that one step deletes at most: the write lock is never held for long. */
const rowsPerStep = 500;
const pagesPerStep = 500;

/**
 * Forgetting what is past its time. Nothing of a message with a hand-over that is still open is touched. A step deletes what it finds
 * and gives counts; the caller goes on until they are all zero.
 * - keys: past the window (also past the one in force now);
 * - payloads and evidence (held conflicts with it): past their retention;
 * - decisions: past theirs, up to a recorded point of the running hash;
 * - messages: key gone and both retentions past, with receipts, request digests and hand-overs.
 */
export function preparePurge(db: Db): Pick<OperationTable, 'purgeCount' | 'purgeStep' | 'vacuumStep' | 'contentFiles'> {
  const settled = (message: string) =>
    `NOT EXISTS (SELECT 1 FROM outbox o WHERE o.message = ${message} AND ${openCondition})`;
  const keyGone = `expires_at <= :now AND base <= :now - :window`;
  const keys = `FROM message_key WHERE ${keyGone} AND ${settled('message_key.message')}`;
  const interchanges = `FROM interchange WHERE ${keyGone} AND ${settled('interchange.message')}`;
  const payloads = `FROM payload WHERE purged_at IS NULL AND at <= :now - :payloadRetention AND ${settled('payload.message')}`;
  const evidence = `FROM evidence WHERE at <= :now - :evidenceRetention AND ${settled('evidence.message')}`;
  // A receipt once given must be found as long as its MessageId is remembered, or a retry would get another one.
  const held = `FROM held WHERE last_at <= :now - :evidenceRetention AND state <> 'review' AND (state = 'evidence' OR state = 'dismissed' OR NOT EXISTS (
    SELECT 1 FROM message_key k WHERE k.sender = held.sender AND k.message_id = held.message_id))`;
  const heldPayloads = `FROM held_payload WHERE (data IS NOT NULL OR file IS NOT NULL) AND held IN (
    SELECT id FROM held WHERE last_at <= :now - :payloadRetention AND (state = 'approved' OR state = 'rejected'))`;
  const old = `received_at <= :now - max(:payloadRetention, :evidenceRetention) AND ${settled('message.id')}`;
  const messages = `FROM message WHERE expired_at IS NOT NULL AND ${old}`;
  // Before the keys are gone: those whose first-layer key would go count too.
  const messagesToBe = `FROM message WHERE ${old} AND (expired_at IS NOT NULL OR EXISTS (
    SELECT 1 FROM message_key k WHERE k.sender = message.sender AND k.message_id = message.message_id AND k.message = message.id AND ${keyGone}))`;

  const count = (from: string) => db.prepare(`SELECT count(*) ${from}`).pluck();
  const counters = [keys, interchanges, messagesToBe, payloads, heldPayloads, evidence, held].map(count);
  const filesToBe = db
    .prepare(`SELECT file ${payloads} AND file IS NOT NULL UNION ALL SELECT file ${heldPayloads} AND file IS NOT NULL`)
    .pluck();

  const someKeys = db.prepare(`SELECT sender, message_id AS messageId, message ${keys} LIMIT ${rowsPerStep}`);
  const deleteKey = db.prepare('DELETE FROM message_key WHERE sender = ? AND message_id = ?');
  const deleteInterchanges = db.prepare(
    `DELETE FROM interchange WHERE (layer, scope, key, content_digest, message) IN (
       SELECT layer, scope, key, content_digest, message ${interchanges} LIMIT ${rowsPerStep})`,
  );
  // A clock that was ahead, and came back, has forgotten too early: replays of what is gone are told by this.
  const remember = db.prepare(
    `INSERT INTO setting (name, value) VALUES ('purge.upTo', CAST(CAST(:now AS INTEGER) AS TEXT))
     ON CONFLICT DO UPDATE SET value = excluded.value WHERE CAST(value AS INTEGER) < CAST(excluded.value AS INTEGER)`,
  );
  const expire = db.prepare('UPDATE message SET expired_at = ? WHERE id = ?');
  const somePayloads = db.prepare(`SELECT id, file ${payloads} LIMIT ${rowsPerStep}`);
  const emptyPayload = db.prepare('UPDATE payload SET data = NULL, file = NULL, purged_at = ? WHERE id = ?');
  const someHeldPayloads = db.prepare(`SELECT held, ordinal, file ${heldPayloads} LIMIT ${rowsPerStep}`);
  const emptyHeldPayload = db.prepare(
    'UPDATE held_payload SET data = NULL, file = NULL WHERE held = ? AND ordinal = ?',
  );
  const deleteEvidence = db.prepare(
    `DELETE FROM evidence WHERE receipt IN (SELECT receipt ${evidence} LIMIT ${rowsPerStep})`,
  );
  const deleteHeld = db.prepare(`DELETE FROM held WHERE id IN (SELECT id ${held} LIMIT ${rowsPerStep})`);
  const deleteMessages = db.prepare(`DELETE FROM message WHERE id IN (SELECT id ${messages} LIMIT ${rowsPerStep})`);
  const named = db
    .prepare('SELECT 1 FROM payload WHERE file = :file UNION ALL SELECT 1 FROM held_payload WHERE file = :file')
    .pluck();
  const unnamed = (files: readonly string[]) => [...new Set(files)].filter((file) => named.get({ file }) === undefined);
  const chain = preparePurgeAudit(db);

  function step(limits: PurgeLimits): PurgeCounts {
    const expired = someKeys.all(limits) as { sender: string; messageId: string; message: number }[];
    for (const k of expired) {
      deleteKey.run(k.sender, k.messageId);
      expire.run(limits.now, k.message);
    }
    const forgotten = deleteInterchanges.run(limits).changes;
    if (expired.length + forgotten > 0) remember.run({ now: limits.now });
    const emptied = somePayloads.all(limits) as { id: number; file: string | null }[];
    for (const p of emptied) emptyPayload.run(limits.now, p.id);
    const copies = someHeldPayloads.all(limits) as { held: number; ordinal: number; file: string | null }[];
    for (const p of copies) emptyHeldPayload.run(p.held, p.ordinal);
    const proofs = deleteEvidence.run(limits).changes;
    const conflicts = copies.length < rowsPerStep ? deleteHeld.run(limits).changes : 0;
    // Deleting a message cascades: only when nothing is left that must be told of (content files) or counted on its own.
    const drained = Math.max(expired.length, forgotten, emptied.length, proofs) < rowsPerStep;
    return {
      keys: expired.length + forgotten,
      payloads: emptied.length + copies.length,
      evidence: proofs + conflicts,
      messages: drained ? deleteMessages.run(limits).changes : 0,
      decisions: limits.auditRetention > 0 ? chain.purge(limits.now, limits.auditRetention, rowsPerStep) : 0,
      files: unnamed([...emptied, ...copies].flatMap((p) => p.file ?? [])),
    };
  }

  return {
    purgeStep: { writes: true, run: step },
    purgeCount: {
      writes: false,
      run(limits) {
        const [k = 0, i = 0, m = 0, p = 0, c = 0, e = 0, h = 0] = counters.map((c) => c.get(limits) as number);
        const decisions = limits.auditRetention > 0 ? chain.count(limits.now, limits.auditRetention) : 0;
        const files = filesToBe.all(limits) as string[];
        return { keys: k + i, messages: m, payloads: p + c, evidence: e + h, decisions, files };
      },
    },
    vacuumStep: {
      writes: true,
      run() {
        db.pragma(`incremental_vacuum(${pagesPerStep})`);
        return db.pragma('freelist_count', { simple: true }) as number;
      },
    },
    contentFiles: { writes: false, run: unnamed },
  };
}
