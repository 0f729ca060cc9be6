import { mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { refusalRing } from './audit.ts';
import { ContentFiles } from './content-files.ts';
import type { PurgeCounts } from './protocol.ts';
import { RefusalWriter } from './refusal-writer.ts';
import { sqliteOutbox } from './sqlite-outbox.ts';
import { type AcceptOutcome, type NewMessage, type PurgeReport, type Store, StoreError } from './types.ts';
import { wireMessage } from './wire.ts';
import { WorkerQueue } from './worker-queue.ts';

export interface SqliteStoreOptions {
  /** `sqlite:` and a path. */
  readonly url: string;
  /** Directory of payloads too large for a row; default: the database's path and `.content`. */
  readonly contentDir?: string;
  /** The window in force, ms: it extends those of stored messages, and never cuts. Default 0: as stored. */
  readonly window?: number;
  /** Value of QUITTANCE_CRASH_AT; only the test environment passes it on. */
  readonly crashAt?: string | undefined;
  /** How long calls wait for another process's lock before they fail with `busy`, ms. */
  readonly busyLimit?: number;
  /** An fsync of the database failed or its thread died: the process must end, nothing it says can be kept any more. */
  readonly onFatal?: (error: StoreError) => void;
  /** Refusals kept. */
  readonly refusalRing?: number;
}

/** Suppressions waiting to be recorded; beyond it they are only counted as gaps. */
const backgroundLimit = 5000;

/**
 * Opens the embedded database, in a thread of its own, and creates or migrates it.
 * @throws StoreError `newer-schema`, `busy`, `full`, `io`
 */
export async function openSqliteStore(o: SqliteStoreOptions): Promise<Store> {
  const path = resolve(o.url.replace(/^sqlite:/, ''));
  await mkdir(dirname(path), { recursive: true });
  const files = await ContentFiles.open(o.contentDir ?? `${path}.content`);
  const queue = await WorkerQueue.start(
    {
      path,
      contentDir: files.directory,
      refusalRing: o.refusalRing ?? refusalRing,
      crashAt: o.crashAt,
      busyLimit: o.busyLimit ?? 15_000,
    },
    o.onFatal ?? (() => {}),
  );
  const refusals = new RefusalWriter((rows) => queue.call('refuse', () => rows));
  const defaultWindow = o.window ?? 0;
  let gaps = 0;

  return {
    findRequest: (digest, now) =>
      queue.call('findRequest', (add) => ({ digest: add(digest), now, window: defaultWindow })),
    find: ({ sender, messageId }, referenceSet, now, window = defaultWindow) =>
      queue.call('find', (add) => ({ sender, messageId, referenceSet: add(referenceSet), now, window })),
    accept: (message) => accept(queue, files, message),
    suppress(s) {
      if (queue.length >= backgroundLimit) {
        gaps++;
        return;
      }
      queue
        .call('suppress', (add) => ({
          ...s,
          referenceSet: add(s.referenceSet),
          requestDigest: s.requestDigest === null ? null : add(s.requestDigest),
        }))
        .catch(() => {
          gaps++;
        });
    },
    gaps: () => gaps,
    refuse: (r) => refusals.add(r),
    droppedRefusals: () => refusals.dropped,
    async refusals(limits) {
      await refusals.flush();
      return queue.call('refusals', () => limits);
    },
    counts: () => queue.call('counts', () => null),
    messages: (query) => queue.call('messages', () => query),
    evidence: (idOrMessageId) => queue.call('evidence', () => idOrMessageId),
    purge: ({ now, payloadRetention, evidenceRetention, dryRun }) =>
      purge(queue, files, { now, payloadRetention, evidenceRetention, window: defaultWindow }, dryRun),
    outbox: sqliteOutbox(queue),
    async close() {
      await refusals.flush();
      await queue.close();
    },
  };
}

/** Large payloads are durable in the content directory before the transaction names them; they stay only if it accepted them. */
async function accept(queue: WorkerQueue, files: ContentFiles, message: NewMessage): Promise<AcceptOutcome> {
  if (!message.payloads.some((p) => 'file' in p.data)) return decide(queue, message, []);
  const names: (string | null)[] = [];
  try {
    for (const { data } of message.payloads) {
      names.push(data instanceof Uint8Array ? null : await files.adopt(data.file));
    }
  } catch (error) {
    await files.remove(names.flatMap((name) => name ?? []));
    const full =
      (error as NodeJS.ErrnoException).code === 'ENOSPC' || (error as NodeJS.ErrnoException).code === 'EDQUOT';
    throw new StoreError(full ? 'full' : 'io', `A payload could not be kept: ${(error as Error).message}`, error);
  }
  const stored = names.flatMap((name) => name ?? []);
  try {
    const outcome = await decide(queue, message, names);
    if (outcome.kind !== 'accepted') await files.remove(stored);
    return outcome;
  } catch (error) {
    // After a failed COMMIT a row may name them all the same: then purge decides, later.
    if (error instanceof StoreError && (error.code === 'busy' || error.code === 'full')) await files.remove(stored);
    throw error;
  }
}

async function decide(
  queue: WorkerQueue,
  message: NewMessage,
  files: readonly (string | null)[],
): Promise<AcceptOutcome> {
  const outcome = await queue.call('accept', (add) => wireMessage(message, files, add));
  if (outcome.kind === 'accepted') return { ...outcome, answer: message.receipt };
  if (outcome.kind === 'rebuilt') return { ...outcome, answer: outcome.answer ?? message.receipt };
  return outcome;
}

type Limits = { now: number; payloadRetention: number; evidenceRetention: number; window: number };

async function purge(queue: WorkerQueue, files: ContentFiles, limits: Limits, dryRun: boolean): Promise<PurgeReport> {
  const old = await files.old(limits.now);
  const orphans = await queue.call('contentFiles', () => old);
  if (dryRun) {
    const { files: named, ...counts } = await queue.call('purgeCount', () => limits);
    return { ...counts, files: named.length + orphans.length };
  }
  const total = { keys: 0, messages: 0, payloads: 0, evidence: 0, files: await files.remove(orphans) };
  for (;;) {
    const step: PurgeCounts = await queue.call('purgeStep', () => limits);
    total.keys += step.keys;
    total.messages += step.messages;
    total.payloads += step.payloads;
    total.evidence += step.evidence;
    // Only now that no committed row names them.
    total.files += await files.remove(step.files);
    if (step.keys + step.messages + step.payloads + step.evidence === 0) break;
  }
  for (let before = Number.POSITIVE_INFINITY; ; ) {
    const free = await queue.call('vacuumStep', () => null);
    if (free === 0 || free >= before) break;
    before = free;
  }
  return total;
}
