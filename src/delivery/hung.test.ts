import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DeliveryLock } from './lock.ts';
import { Bench, message } from './testing/harness.ts';

// A FIFO in the marker's place: opening it blocks in the kernel until somebody opens the other end, as a dead mount blocks.

let bench: Bench;
let marker: string;
let content: string;
beforeEach(async () => {
  bench = new Bench();
  await bench.deliver();
  marker = join(bench.inbox, '.quittance-inbox.json');
  content = readFileSync(marker, 'utf8');
});
afterEach(() => bench.close());

function hang(): void {
  rmSync(marker);
  execFileSync('mkfifo', [marker]);
}

/** Lets one hung read go on, as if the mount were back. */
function answer(): void {
  const fd = openSync(marker, 'w');
  rmSync(marker);
  execFileSync('sh', ['-c', 'printf %s "$2" > "$1"', 'sh', marker, content]);
  writeSync(fd, content);
  closeSync(fd);
}

it('a hung inbox is named, messages are still accepted, and delivered when it answers again', async () => {
  const delivery = await bench.delivery({ timing: { hang: 100 } });
  await delivery.start();
  await delivery.idle();
  hang();
  await bench.accept(message());
  delivery.wake();
  await expect.poll(() => delivery.degraded()[0]?.what, { timeout: 10_000 }).toMatch(/does not answer/);
  await bench.accept(message());
  answer();
  await delivery.idle();
  expect(bench.entries()).toHaveLength(2);
  expect(delivery.degraded()).toEqual([]);
});

it('start() does not wait for a hung inbox', async () => {
  hang();
  await bench.accept(message());
  const delivery = await bench.delivery({ timing: { hang: 100, patience: 200 } });
  await delivery.start();
  await expect.poll(() => delivery.degraded()[0]?.what, { timeout: 10_000 }).toMatch(/does not answer/);
  answer();
  await delivery.idle();
  expect(bench.entries()).toHaveLength(1);
});

it('stop() returns while the inbox hangs, says that it is stuck, and keeps the lock until the thread is gone', async () => {
  const delivery = await bench.delivery({ timing: { hang: 100 } });
  await delivery.start();
  await delivery.idle();
  hang();
  await bench.accept(message());
  delivery.wake();
  await expect.poll(() => delivery.degraded().length, { timeout: 10_000 }).toBe(1);
  await delivery.stop();
  expect(delivery.stuck).toBe(true);
  const lock = new DeliveryLock(`${bench.database}.delivery-lock`);
  expect(lock.acquire()).toBe(false);
  answer();
  await expect.poll(() => lock.acquire(), { timeout: 10_000 }).toBe(true);
  lock.release();
  expect(bench.entries()).toEqual([]);
  await bench.deliver();
  expect(bench.entries()).toHaveLength(1);
});
