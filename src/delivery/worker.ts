import { parentPort, workerData } from 'node:worker_threads';
import { type Checkpoint, crashAt } from '../checkpoint.ts';
import { syncDirectory } from '../store/durable-directory.ts';
import { DeliveryError } from './delivery-error.ts';
import { Folder } from './folder.ts';
import { writeMarker } from './markers.ts';
import type { Operation, Operations, StageOutcome, WorkerReply, WorkerSettings } from './protocol.ts';
import { type StageOptions, stage } from './stage.ts';
import { explain, isTrouble } from './trouble.ts';

// The thread that works on the files. A mount that hangs blocks this thread and nothing else, so its calls are the synchronous
// ones: the asynchronous ones would hang threads of the pool that signs receipts, and cost more.

type Handlers = {
  [K in Operation]: (request: Operations[K]['request']) => Operations[K]['answer'] | Promise<Operations[K]['answer']>;
};

function handlersFor(settings: WorkerSettings, checkpoint: Checkpoint): Handlers {
  const folder = new Folder(settings);
  const counter = new Int32Array(settings.progress);
  const { staging, mode, gid } = settings;
  const progress = (): void => {
    Atomics.add(counter, 0, 1);
  };
  const options: StageOptions = { staging, own: { mode, gid, umask: process.umask() }, checkpoint, progress };
  let marked = -1;
  return {
    inspect: ({ ids, known }) => folder.inspect(ids, known),
    mark: ({ ids, highest }) => {
      folder.mark(ids, highest);
      marked = highest;
      return null;
    },
    prepare: ({ keep }) => folder.prepare(keep),
    async stage({ ids, highest, jobs }) {
      folder.confirm(ids, 'both');
      const outcomes: StageOutcome[] = [];
      for (const job of jobs) outcomes.push(await stageOrExplain(job, folder, options));
      if (highest !== marked) writeMarker(staging, 'staging', { id: ids.staging, highest });
      syncDirectory(staging);
      marked = highest;
      // Again: the inbox may have been unmounted while the batch was written, and from here on the batch counts as handed over.
      folder.confirm(ids, 'inbox');
      checkpoint('staged');
      return outcomes;
    },
    discard: ({ directories }) => {
      folder.discard(directories);
      return null;
    },
    handOver: ({ directories }) =>
      folder.handOver(directories, () => {
        progress();
        checkpoint('renamed');
      }),
  };
}

async function stageOrExplain(
  job: Operations['stage']['request']['jobs'][number],
  folder: Folder,
  options: StageOptions,
): Promise<StageOutcome> {
  const { number } = job.handOver;
  try {
    await stage(job, options);
    return { number, error: null };
  } catch (error) {
    if (isTrouble(error)) throw error;
    folder.discard([job.directory]);
    return { number, error: error instanceof Error ? error.message : String(error) };
  }
}

function replyOf(error: unknown): WorkerReply {
  const explained = explain(error);
  if (explained instanceof DeliveryError) return { error: { code: explained.code, message: explained.message } };
  return { error: { code: 'trouble', message: error instanceof Error ? error.message : String(error) } };
}

if (parentPort !== null) {
  const port = parentPort;
  const settings = workerData as WorkerSettings;
  const handlers = handlersFor(settings, crashAt(settings.crashAt));
  port.on('message', async ({ operation, request }: { operation: Operation; request: never }) => {
    let reply: WorkerReply;
    try {
      reply = { answer: await handlers[operation](request) };
    } catch (error) {
      reply = replyOf(error);
    }
    port.postMessage(reply);
  });
}
