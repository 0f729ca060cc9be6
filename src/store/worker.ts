import { parentPort, workerData } from 'node:worker_threads';
import { crashAt } from '../checkpoint.ts';
import { storeError } from './database.ts';
import { Engine, type EngineOptions } from './engine.ts';
import type { FromWorker, ToWorker, WireBatch, WireReply } from './protocol.ts';

/** What the thread is started with. */
export interface WorkerSettings extends Omit<EngineOptions, 'checkpoint' | 'commit'> {
  readonly crashAt: string | undefined;
  /** How long a batch may wait for another process's lock, ms. */
  readonly busyLimit: number;
}

/** Waits while the lock is contended: short and random, so that two processes take turns although SQLite has no queue. */
const pauseMs = () => 1 + Math.random() * 4;

function serve(settings: WorkerSettings): void {
  const port = parentPort!;
  const post = (message: FromWorker) => port.postMessage(message);
  let engine: Engine;
  try {
    engine = new Engine({ ...settings, checkpoint: crashAt(settings.crashAt) });
  } catch (error) {
    const { code, message } = storeError(error);
    post({ kind: 'failed', error: { code, message } });
    port.close();
    return;
  }

  function tidy(): void {
    try {
      engine.tidy();
    } catch (error) {
      const { code, message } = storeError(error);
      post({ kind: 'fatal', error: { code, message } });
    }
  }

  /** Answers what can be answered now; reads do not wait for a lock that only writes need. */
  function attempt(batch: WireBatch, indices: readonly number[], since: number): void {
    const result = engine.run(batch, indices);
    if (result !== 'busy') {
      post({ kind: 'replies', replies: indices.map((i, at) => [i, result[at] as WireReply] as const), last: true });
      tidy();
      return;
    }
    const reads = indices.filter((i) => engine.isRead(batch.calls[i]!));
    const read = reads.length > 0 && reads.length < indices.length ? engine.run(batch, reads) : 'busy';
    let left = indices;
    if (read !== 'busy') {
      post({ kind: 'replies', replies: reads.map((i, at) => [i, read[at] as WireReply] as const), last: false });
      left = indices.filter((i) => !reads.includes(i));
    }
    if (performance.now() - since >= settings.busyLimit) {
      const error = { code: 'busy', message: 'Another process has held the database lock for too long.' } as const;
      post({ kind: 'replies', replies: left.map((i) => [i, { error }] as const), last: true });
      return;
    }
    setTimeout(attempt, pauseMs(), batch, left, since);
  }

  port.on('message', (message: ToWorker) => {
    if (message.kind === 'close') {
      engine.close();
      port.close();
      return;
    }
    attempt(message.batch, [...message.batch.calls.keys()], performance.now());
  });
  post({ kind: 'ready' });
}

serve(workerData as WorkerSettings);
