import { mkdirSync, readdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench, message } from './testing/harness.ts';

// Each row of the hand-over table (architecture §4), set up as a crash leaves it, then met by the next holder of the lock.

const directory = '20261130T101500.123Z_m-1_1';
let bench: Bench;
beforeEach(async () => {
  bench = new Bench();
  await bench.deliver();
  await bench.accept(message('m-1'));
});
afterEach(() => bench.close());

async function startedHandingOver(bootId = 'boot-1'): Promise<void> {
  const { outbox } = await bench.store();
  expect(await outbox.startHandingOver([{ number: 1, directory }], bootId, 1)).toEqual([1]);
}

/** A directory that can be told from one that is written anew. */
function put(folder: string, name = directory): void {
  mkdirSync(join(folder, name));
  writeFileSync(join(folder, name, 'as-it-was'), '');
}

async function counts(): Promise<Record<string, number>> {
  const all = await (await bench.store()).counts();
  return Object.fromEntries(Object.entries(all).filter(([, count]) => count > 0));
}

describe('with the right markers', () => {
  it('received: what is in staging is not trusted, it is written again', async () => {
    put(bench.staging);
    await bench.deliver();
    expect(readdirSync(join(bench.inbox, directory)).sort()).toEqual(['document.xml', 'metadata.json', 'payload.xml']);
    expect(await counts()).toEqual({ delivered: 1 });
  });

  it('handingOver, staged directory there, same boot: it is renamed', async () => {
    await startedHandingOver();
    put(bench.staging);
    await bench.deliver();
    expect(readdirSync(join(bench.inbox, directory))).toEqual(['as-it-was']);
    expect(await counts()).toEqual({ delivered: 1 });
  });

  it.each(['boot-1', 'boot-2'])(
    'handingOver, staged directory gone, found in %s: it was renamed, and is delivered',
    async (bootId) => {
      await startedHandingOver();
      put(bench.inbox);
      await bench.deliver({ bootId });
      expect(readdirSync(join(bench.inbox, directory))).toEqual(['as-it-was']);
      expect(await counts()).toEqual({ delivered: 1 });
    },
  );

  it('handingOver, staged directory gone, taken by the backend meanwhile: it is not delivered again', async () => {
    await startedHandingOver();
    await bench.deliver();
    expect(bench.entries()).toEqual([]);
    expect(await counts()).toEqual({ delivered: 1 });
  });

  it('handingOver, staged directory there, other boot: it is delivered marked as a possible duplicate', async () => {
    await startedHandingOver();
    put(bench.staging);
    await bench.deliver({ bootId: 'boot-2' });
    expect(bench.metadata(directory).possibleDuplicate).toBe(true);
    expect(await counts()).toEqual({ delivered: 1 });
    expect(bench.entries(bench.staging)).toEqual([]);
  });

  it('the rule that a message was accepted under comes before the configuration', async () => {
    await bench.accept({ ...message('m-2'), afterPowerLoss: 'review' });
    const { outbox } = await bench.store();
    const second = directory.replace('m-1_1', 'm-2_2');
    await outbox.startHandingOver([{ number: 2, directory: second }], 'boot-1', 1);
    put(bench.staging, second);
    await bench.deliver({ bootId: 'boot-2', afterPowerLoss: 'deliver' });
    expect(await counts()).toEqual({ delivered: 1, review: 1 });
  });

  it('handingOver, staged directory there, other boot, afterPowerLoss = "review": it waits for the operator', async () => {
    await startedHandingOver();
    put(bench.staging);
    await bench.deliver({ bootId: 'boot-2', afterPowerLoss: 'review' });
    expect(bench.entries()).toEqual([]);
    expect(await counts()).toEqual({ review: 1 });
    expect(bench.entries(bench.staging)).toEqual([]);
  });

  it('handingOver, but the inbox has another directory of that name: unknown, and the others are delivered', async () => {
    await startedHandingOver();
    put(bench.staging);
    put(bench.inbox);
    await bench.accept(message('m-2'));
    await bench.deliver();
    expect(readdirSync(join(bench.inbox, directory))).toEqual(['as-it-was']);
    expect(bench.entries()).toEqual([directory, '20261130T101500.123Z_m-2_2']);
    expect(await counts()).toEqual({ delivered: 1, unknown: 1 });
  });

  it('a staged directory of no pending row is removed, what is not ours stays', async () => {
    put(bench.staging, '20261130T101500.123Z_old_99');
    put(bench.staging, 'not ours');
    await bench.deliver();
    expect(bench.entries(bench.staging)).toEqual(['not ours']);
  });
});

describe('without the right markers', () => {
  const wrong: [string, (file: string) => void][] = [
    ['missing', unlinkSync],
    ['of another database', (file) => writeFileSync(file, '{"quittance":"inbox","id":"another","highest":0}')],
    ['unreadable', (file) => writeFileSync(file, 'something')],
  ];

  for (const [what, spoil] of wrong) {
    it.each(['staging', 'inbox'] as const)(
      `${what} in %s: held back, handingOver becomes unknown, nothing is delivered`,
      async (folder) => {
        await startedHandingOver();
        await bench.accept(message('m-2'));
        spoil(join(bench[folder], `.quittance-${folder}.json`));
        const delivery = await bench.delivery();
        await delivery.start();
        await expect.poll(() => delivery.degraded(), { timeout: 10_000 }).toHaveLength(1);
        expect(delivery.degraded()[0]?.what).toContain(`.quittance-${folder}.json`);
        expect(await counts()).toEqual({ received: 1, unknown: 1 });
        expect(bench.entries()).toEqual([]);
      },
    );
  }
});
