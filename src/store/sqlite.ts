import { dirname, resolve } from 'node:path';
import type { SystemClock } from './clock-guard.ts';
import { ClockKeeper } from './clock-keeper.ts';
import { ContentFiles } from './content-files.ts';
import { makeDirectory } from './durable-directory.ts';
import type { AuditHash } from './operator-types.ts';
import type { PurgeCounts, PurgeLimits } from './protocol.ts';
import { RefusalWriter } from './refusal-writer.ts';
import { refusalRing } from './refusals.ts';
import { auditHash, operatorSide } from './sqlite-operator.ts';
import { sqliteOutbox } from './sqlite-outbox.ts';
import { systemClock } from './system-clock.ts';
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
  /** Approvals and redeliveries in any hour. */
  readonly exceptionsPerHour?: number;
  /** What tells the time; a jump ahead stops everything from expiring. */
  readonly clock?: SystemClock;
  /** The receiver testifies each hour that it is alive; commands (false) only look. */
  readonly heartbeat?: boolean;
  /** Called each hour with the running hash over the decisions, for the log. */
  readonly onAuditHash?: (hash: AuditHash) => void;
}

const clockAdvice = 'When the clock is right, say so with `quittance purge --clock-is-right --by … --reason …`.';

/** Suppressions waiting to be recorded; beyond it they are only counted as gaps. */
const backgroundLimit = 5000;

/**
 * Opens the embedded database, in a thread of its own, and creates or migrates it.
 * @throws StoreError `newer-schema`, `busy`, `full`, `io`
 */
export async function openSqliteStore(o: SqliteStoreOptions): Promise<Store> {
  const path = resolve(o.url.replace(/^sqlite:/, ''));
  makeDirectory(dirname(path));
  const files = await ContentFiles.open(o.contentDir ?? `${path}.content`);
  const queue = await WorkerQueue.start(
    {
      path,
      contentDir: files.directory,
      refusalRing: o.refusalRing ?? refusalRing,
      exceptionsPerHour: o.exceptionsPerHour ?? 1000,
      crashAt: o.crashAt,
      busyLimit: o.busyLimit ?? 15_000,
    },
    o.onFatal ?? (() => {}),
  );
  const writer = () => new RefusalWriter((rows) => queue.call('refuse', () => rows));
  // Two queues: what strangers send must not make those of access points be dropped.
  const [refusals, strangers] = [writer(), writer()];
  const flush = () => Promise.all([refusals.flush(), strangers.flush()]);
  const defaultWindow = o.window ?? 0;
  const hash = (now: number) => auditHash(queue, now);
  const { heartbeat = true, clock = systemClock, onAuditHash = () => {} } = o;
  const keeper = await ClockKeeper.start(queue, { clock, heartbeat, hash, onAuditHash });
  let gaps = 0;

  return {
    findRequest(digest, at) {
      const now = keeper.effective(at);
      return queue.call('findRequest', (add) => ({ digest: add(digest), now, window: defaultWindow }));
    },
    find({ sender, messageId }, referenceSet, at, window = defaultWindow) {
      const now = keeper.effective(at);
      return queue.call('find', (add) => ({ sender, messageId, referenceSet: add(referenceSet), now, window }));
    },
    accept: (message) => accept(queue, files, message, keeper.effective(message.receivedAt)),
    suppress(s) {
      if (queue.length >= backgroundLimit) {
        gaps++;
        return;
      }
      queue
        .record('suppress', (add) => ({
          ...s,
          referenceSet: add(s.referenceSet),
          requestDigest: s.requestDigest === null ? null : add(s.requestDigest),
        }))
        .catch(() => {
          gaps++;
        });
    },
    gaps: () => gaps,
    refuse: (r) => (r.sender === null ? strangers : refusals).add(r),
    droppedRefusals: () => refusals.dropped + strangers.dropped,
    async refusals(limits) {
      await flush();
      return queue.call('refusals', () => limits);
    },
    counts: () => queue.call('counts', () => null),
    recentAddresses: (messages) => queue.call('recentAddresses', () => ({ messages })),
    messages: (query) => queue.call('messages', () => query),
    evidence: (idOrMessageId) => queue.call('evidence', () => idOrMessageId),
    async purge({ now, payloadRetention, evidenceRetention, auditRetention = 0, dryRun }) {
      const doubt = await keeper.anyDoubt();
      if (doubt !== null) throw new StoreError('clock', `Nothing is purged: ${doubt.why}. ${clockAdvice}`);
      const limits = { now, payloadRetention, evidenceRetention, auditRetention, window: defaultWindow };
      return purge(queue, files, limits, dryRun);
    },
    degraded() {
      const doubt = keeper.doubt();
      return doubt === null ? [] : [{ what: `Nothing expires: ${doubt.why}. ${clockAdvice}`, since: doubt.since }];
    },
    outbox: sqliteOutbox(queue),
    ...operatorSide(queue, { path, contentDir: files.directory, hash }),
    clockIsRight: (actor, now) => keeper.confirm(actor, now),
    async close() {
      keeper.stop();
      await flush();
      await queue.close();
    },
  };
}

/** Large payloads are durable in the content directory before the transaction names them; they stay only if it accepted them. */
async function accept(
  queue: WorkerQueue,
  files: ContentFiles,
  message: NewMessage,
  now: number,
): Promise<AcceptOutcome> {
  if (!message.payloads.some((p) => 'file' in p.data)) return (await decide(queue, message, [], now)).outcome;
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
    const { outcome, keepsFiles } = await decide(queue, message, names, now);
    if (!keepsFiles) await files.remove(stored);
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
  now: number,
): Promise<{ outcome: AcceptOutcome; keepsFiles: boolean }> {
  const decided = await queue.call('accept', (add) => wireMessage(message, files, now, add));
  switch (decided.kind) {
    case 'accepted':
    case 'suppressed':
      return { outcome: { ...decided, answer: message.receipt }, keepsFiles: true };
    case 'rebuilt':
      return { outcome: { ...decided, answer: decided.answer ?? message.receipt }, keepsFiles: false };
    case 'held': {
      const { kept, answer, ...held } = decided;
      return { outcome: { ...held, answer: answer ?? message.receipt }, keepsFiles: kept };
    }
    default:
      return { outcome: decided, keepsFiles: false };
  }
}

type Limits = PurgeLimits;

async function purge(queue: WorkerQueue, files: ContentFiles, limits: Limits, dryRun: boolean): Promise<PurgeReport> {
  const old = await files.old(limits.now);
  const orphans = await queue.call('contentFiles', () => old);
  if (dryRun) {
    const { files: named, ...counts } = await queue.call('purgeCount', () => limits);
    return { ...counts, files: named.length + orphans.length };
  }
  const total = { keys: 0, messages: 0, payloads: 0, evidence: 0, decisions: 0, files: await files.remove(orphans) };
  for (;;) {
    const step: PurgeCounts = await queue.call('purgeStep', () => limits);
    total.keys += step.keys;
    total.messages += step.messages;
    total.payloads += step.payloads;
    total.evidence += step.evidence;
    total.decisions += step.decisions;
    // Only now that no committed row names them.
    total.files += await files.remove(step.files);
    if (step.keys + step.messages + step.payloads + step.evidence + step.decisions === 0) break;
  }
  for (let before = Number.POSITIVE_INFINITY; ; ) {
    const free = await queue.call('vacuumStep', () => null);
    if (free === 0 || free >= before) break;
    before = free;
  }
  return total;
}
