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
 * - messages: key gone and both retentions past, with receipts, request digests and hand-overs.
 */
export function preparePurge(db: Db): Pick<OperationTable, 'purgeCount' | 'purgeStep' | 'vacuumStep' | 'contentFiles'> {
  const settled = (message: string) =>
    `NOT EXISTS (SELECT 1 FROM outbox o WHERE o.message = ${message} AND ${openCondition})`;
  const keyGone = `expires_at <= :now AND base <= :now - :window`;
  const keys = `FROM key WHERE ${keyGone} AND ${settled('key.message')}`;
  const payloads = `FROM payload WHERE purged_at IS NULL AND at <= :now - :payloadRetention AND ${settled('payload.message')}`;
  const evidence = `FROM evidence WHERE at <= :now - :evidenceRetention AND ${settled('evidence.message')}`;
  const held = `FROM held WHERE last_at <= :now - :evidenceRetention`;
  const old = `received_at <= :now - max(:payloadRetention, :evidenceRetention) AND ${settled('message.id')}`;
  const messages = `FROM message WHERE expired_at IS NOT NULL AND ${old}`;
  // Before the keys are gone: those whose first-layer key would go count too.
  const messagesToBe = `FROM message WHERE ${old} AND (expired_at IS NOT NULL OR EXISTS (
    SELECT 1 FROM key k WHERE k.layer = 'message' AND k.scope = sender AND k.key = message_id AND k.message = message.id AND ${keyGone}))`;

  const count = (from: string) => db.prepare(`SELECT count(*) ${from}`).pluck();
  const counters = [count(keys), count(messagesToBe), count(payloads), count(evidence), count(held)];
  const filesToBe = db.prepare(`SELECT file ${payloads} AND file IS NOT NULL`).pluck();

  const someKeys = db.prepare(`SELECT layer, scope, key, message ${keys} LIMIT ${rowsPerStep}`);
  const deleteKey = db.prepare('DELETE FROM key WHERE layer = ? AND scope = ? AND key = ?');
  const expire = db.prepare('UPDATE message SET expired_at = ? WHERE id = ?');
  const somePayloads = db.prepare(`SELECT id, file ${payloads} LIMIT ${rowsPerStep}`);
  const emptyPayload = db.prepare('UPDATE payload SET data = NULL, file = NULL, purged_at = ? WHERE id = ?');
  const deleteEvidence = db.prepare(
    `DELETE FROM evidence WHERE receipt IN (SELECT receipt ${evidence} LIMIT ${rowsPerStep})`,
  );
  const deleteHeld = db.prepare(`DELETE FROM held WHERE id IN (SELECT id ${held} LIMIT ${rowsPerStep})`);
  const deleteMessages = db.prepare(`DELETE FROM message WHERE id IN (SELECT id ${messages} LIMIT ${rowsPerStep})`);
  const named = db.prepare('SELECT 1 FROM payload WHERE file = ?').pluck();

  function step(limits: PurgeLimits): PurgeCounts {
    const expired = someKeys.all(limits) as { layer: string; scope: string; key: string; message: number }[];
    for (const k of expired) {
      deleteKey.run(k.layer, k.scope, k.key);
      if (k.layer === 'message') expire.run(limits.now, k.message);
    }
    const emptied = somePayloads.all(limits) as { id: number; file: string | null }[];
    for (const p of emptied) emptyPayload.run(limits.now, p.id);
    const proofs = deleteEvidence.run(limits).changes;
    const conflicts = deleteHeld.run(limits).changes;
    // Deleting a message cascades: only when nothing is left that must be told of (content files) or counted on its own.
    const drained = Math.max(expired.length, emptied.length, proofs) < rowsPerStep;
    return {
      keys: expired.length,
      payloads: emptied.length,
      evidence: proofs + conflicts,
      messages: drained ? deleteMessages.run(limits).changes : 0,
      files: emptied.flatMap((p) => p.file ?? []),
    };
  }

  return {
    purgeStep: { writes: true, run: step },
    purgeCount: {
      writes: false,
      run(limits) {
        const [k = 0, m = 0, p = 0, e = 0, h = 0] = counters.map((c) => c.get(limits) as number);
        return { keys: k, messages: m, payloads: p, evidence: e + h, files: filesToBe.all(limits) as string[] };
      },
    },
    vacuumStep: {
      writes: true,
      run() {
        db.pragma(`incremental_vacuum(${pagesPerStep})`);
        return db.pragma('freelist_count', { simple: true }) as number;
      },
    },
    contentFiles: { writes: false, run: (names) => names.filter((name) => named.get(name) === undefined) },
  };
}
