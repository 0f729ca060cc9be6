import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { noCheckpoint } from '../checkpoint.ts';
import { Batches } from './batches.ts';
import { silent } from './delivery-options.ts';
import { FileWorker } from './file-worker.ts';
import { Folder } from './folder.ts';
import type { Operation, Operations, WorkerSettings } from './protocol.ts';
import { reconcile } from './reconcile.ts';
import { Bench, message } from './testing/harness.ts';

// A disk that fails an fsync once and takes the next one, as Linux reports a lost write (once), under the real folder and the real store.

let bench: Bench;
let worker: FileWorker;
/** Directories whose next fsync fails. */
let failing: Set<string>;
const { fsyncSync } = fs;
beforeEach(async () => {
  bench = new Bench();
  await bench.deliver();
  failing = new Set();
  fs.fsyncSync = (fd) => {
    const path = fs.readlinkSync(`/proc/self/fd/${fd}`);
    if (failing.delete(path))
      throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO', syscall: 'fsync' });
    fsyncSync(fd);
  };
  syncBuiltinESMExports();
  const { inbox, staging } = bench;
  const settings = { inbox, staging, mode: null, gid: null, crashAt: undefined };
  worker = new FileWorker({ settings, hangTimeout: 60_000, onHang() {} });
});
afterEach(async () => {
  fs.fsyncSync = fsyncSync;
  syncBuiltinESMExports();
  await worker.stop(() => {});
  await bench.close();
});

/** The folder in this thread, where its fsync can fail; staging in the worker, as ever. */
const files = {
  async run<K extends Operation>(operation: K, request: Operations[K]['request']): Promise<Operations[K]['answer']> {
    const { inbox, staging } = bench;
    const settings: WorkerSettings = {
      ...{ inbox, staging, mode: null, gid: null, crashAt: undefined },
      progress: new SharedArrayBuffer(4),
    };
    const folder = new Folder(settings);
    const here: { [O in Operation]?: (r: Operations[O]['request']) => Operations[O]['answer'] } = {
      prepare: ({ keep }) => folder.prepare(keep),
      handOver: ({ directories }) => folder.handOver(directories, () => {}),
    };
    const handler = here[operation];
    return handler ? handler(request) : worker.run(operation, request);
  },
};

async function reconciled(): Promise<unknown> {
  const { outbox } = await bench.store();
  return reconcile({ outbox, files, bootId: 'boot-1', afterPowerLoss: 'deliver', now: Date.now });
}

async function deliverBatch(): Promise<unknown> {
  const { outbox } = await bench.store();
  const ids = await outbox.markers();
  const common = { outbox, files, bootId: 'boot-1', now: Date.now, size: 64, retryDelay: 1, log: silent };
  return new Batches({ ...common, checkpoint: noCheckpoint }).run({ ids: ids!, highest: 0 });
}

it.each(['inbox', 'staging'] as const)(
  'an fsync of %s that fails after the renames makes them unknown, and no later one makes them delivered',
  async (which) => {
    await bench.accept(message('m-1'), message('m-2'));
    failing.add(bench[which]);
    await expect(deliverBatch()).rejects.toMatchObject({ code: 'trouble', message: expect.stringContaining('EIO') });
    expect(failing.size).toBe(0);
    expect(bench.entries()).toHaveLength(2);
    await reconciled();
    expect(await (await bench.store()).counts()).toMatchObject({ unknown: 2, delivered: 0, handingOver: 0 });
    await bench.accept(message('m-3'));
    await deliverBatch();
    expect(await (await bench.store()).counts()).toMatchObject({ unknown: 2, delivered: 1 });
  },
);

it.each(['inbox', 'staging'] as const)(
  'so does the first fsync of %s after a crash between the renames and their fsync; what was not renamed is still handed over',
  async (which) => {
    await bench.accept(message('m-1'), message('m-2'));
    const directory = (number: number): string => `20261130T101500.123Z_m-${number}_${number}`;
    const rows = [1, 2].map((number) => ({ number, directory: directory(number) }));
    await (await bench.store()).outbox.startHandingOver(rows, 'boot-1', 1);
    fs.mkdirSync(`${bench.inbox}/${directory(1)}`);
    fs.mkdirSync(`${bench.staging}/${directory(2)}`);
    failing.add(bench[which]);
    await expect(reconciled()).rejects.toMatchObject({ code: 'trouble' });
    expect(await (await bench.store()).counts()).toMatchObject({ unknown: 1, handingOver: 1, delivered: 0 });
    await reconciled();
    expect(await (await bench.store()).counts()).toMatchObject({ unknown: 1, handingOver: 0, delivered: 1 });
  },
);

it('a rename that a restart makes up for is unknown too when its fsync fails', async () => {
  await bench.accept(message('m-1'));
  const directory = '20261130T101500.123Z_m-1_1';
  await (await bench.store()).outbox.startHandingOver([{ number: 1, directory }], 'boot-1', 1);
  fs.mkdirSync(`${bench.staging}/${directory}`);
  const handOver: typeof files.run = async (operation, request) => {
    if (operation === 'handOver') failing.add(bench.inbox);
    return files.run(operation, request);
  };
  const { outbox } = await bench.store();
  const options = { outbox, files: { run: handOver }, bootId: 'boot-1', now: Date.now } as const;
  await expect(reconcile({ ...options, afterPowerLoss: 'deliver' })).rejects.toMatchObject({ code: 'trouble' });
  await reconciled();
  expect(await (await bench.store()).counts()).toMatchObject({ unknown: 1, delivered: 0 });
});
