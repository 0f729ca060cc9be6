import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Delivery } from './delivery.ts';
import { sameFileSystem } from './file-systems.ts';
import { Bench, message, payload, sbd } from './testing/harness.ts';

let bench: Bench;
const mounted: string[] = [];
beforeEach(() => {
  bench = new Bench();
});
afterEach(async () => {
  for (const path of mounted.splice(0)) execFileSync('umount', ['-l', path]);
  await bench.close();
});

const stagingMarker = (): string => join(bench.staging, '.quittance-staging.json');

/** Waits until the delivery says that it waits, and gives what it says. */
async function waiting(delivery: Delivery): Promise<string> {
  await expect.poll(() => delivery.degraded().length, { timeout: 10_000 }).toBe(1);
  return delivery.degraded()[0]?.what ?? '';
}

describe('the first start', () => {
  it('makes both folders and their markers, and the next start finds them', async () => {
    await bench.deliver();
    const marker = readFileSync(stagingMarker(), 'utf8');
    await bench.deliver();
    expect(readFileSync(stagingMarker(), 'utf8')).toBe(marker);
    const ids = await (await bench.store()).outbox.markers();
    expect(JSON.parse(marker)).toEqual({ quittance: 'staging', id: ids?.staging, highest: 0 });
  });

  it('takes empty folders with dot files, and its own markers after a crash before the database knew them', async () => {
    await bench.deliver();
    const other = new Bench();
    mkdirSync(other.inbox);
    writeFileSync(join(other.inbox, '.gitkeep'), '');
    renameSync(bench.staging, other.staging);
    await other.accept(message());
    await other.deliver();
    expect(other.entries()).toHaveLength(1);
    await other.close();
  });

  it('holds back when the inbox is not empty: it may be somebody else’s', async () => {
    mkdirSync(join(bench.inbox, 'something'), { recursive: true });
    await bench.accept(message());
    const delivery = await bench.delivery();
    await delivery.start();
    expect(await waiting(delivery)).toMatch(/is not empty/);
    expect(bench.entries()).toEqual(['something']);
  });
});

describe('deliveries wait, without an attempt counted, and go on', () => {
  async function interrupted(spoil: () => void, mend: () => void, said: RegExp, delivery: Delivery): Promise<void> {
    await delivery.start();
    await delivery.idle();
    spoil();
    await bench.accept(
      ...Array.from({ length: 3 }, () => message(undefined, { payloads: [payload(sbd(undefined, 50_000))] })),
    );
    delivery.wake();
    expect(await waiting(delivery)).toMatch(said);
    const since = delivery.degraded()[0]?.since;
    // Long enough for more tries than would make a message undeliverable.
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(delivery.degraded()[0]?.since).toBe(since);
    expect(await (await bench.store()).counts()).toMatchObject({ received: 3, undeliverable: 0, unknown: 0 });
    mend();
    await delivery.idle();
    expect(bench.entries()).toHaveLength(3);
    expect(delivery.degraded()).toEqual([]);
    expect((await (await bench.store()).outbox.inState('delivered', 9)).map((row) => row.attempts)).toEqual([0, 0, 0]);
  }

  it('when the inbox was missing for a while', async () => {
    const away = `${bench.inbox}.away`;
    const delivery = await bench.delivery();
    const back = (): void => renameSync(away, bench.inbox);
    await interrupted(() => renameSync(bench.inbox, away), back, /inbox\.json is missing/, delivery);
  });

  it('when staging was missing for a while', async () => {
    const away = `${bench.staging}.away`;
    const delivery = await bench.delivery();
    const back = (): void => renameSync(away, bench.staging);
    await interrupted(() => renameSync(bench.staging, away), back, /staging/, delivery);
  });

  it.each(['inbox', 'staging'] as const)(
    'when an empty folder stood where %s is, as under a lost mount',
    async (which) => {
      const away = `${bench[which]}.away`;
      const delivery = await bench.delivery();
      const lose = (): void => {
        renameSync(bench[which], away);
        mkdirSync(bench[which]);
      };
      const back = (): void => {
        expect(bench.entries(bench[which])).toEqual([]);
        rmSync(bench[which], { recursive: true });
        renameSync(away, bench[which]);
      };
      await interrupted(lose, back, new RegExp(`quittance-${which}.json is missing`), delivery);
    },
  );

  it.runIf(process.getuid?.() !== 0)('when there was no permission for a while', async () => {
    const delivery = await bench.delivery();
    await interrupted(
      () => chmodSync(bench.staging, 0o500),
      () => chmodSync(bench.staging, 0o700),
      /no permission/,
      delivery,
    );
  });

  const canMount = process.getuid?.() === 0 && tryMount();

  it.runIf(canMount)('when the file system was read-only for a while (needs mount)', async () => {
    const volume = mount('size=4m');
    const delivery = await bench.delivery({ inbox: join(volume, 'inbox'), staging: join(volume, 'staging') });
    linkEntries(volume);
    const remount = (option: string) => () => execFileSync('mount', ['-o', `remount,${option}`, volume]);
    await interrupted(remount('ro'), remount('rw'), /read-only/, delivery);
  });

  it.runIf(canMount)('when the disk was full for a while (needs mount)', async () => {
    const volume = mount('size=400k');
    const delivery = await bench.delivery({ inbox: join(volume, 'inbox'), staging: join(volume, 'staging') });
    linkEntries(volume);
    const ballast = join(volume, 'ballast');
    const fill = (): void => writeFileSync(ballast, Buffer.alloc(350_000));
    await interrupted(fill, () => execFileSync('mount', ['-o', 'remount,size=4m', volume]), /disk is full/, delivery);
  });

  /** `bench.inbox` shows what is on the volume. */
  function linkEntries(volume: string): void {
    execFileSync('ln', ['-s', join(volume, 'inbox'), bench.inbox]);
  }

  function mount(options: string): string {
    const path = join(bench.root, 'volume');
    mkdirSync(path);
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'none', path]);
    mounted.push(path);
    return path;
  }

  function tryMount(): boolean {
    const probe = new Bench();
    try {
      execFileSync('mount', ['-t', 'tmpfs', 'none', probe.root], { stdio: 'ignore' });
      execFileSync('umount', [probe.root]);
      return true;
    } catch {
      console.warn('skipped: no permission to mount, so a full and a read-only file system are not tried');
      return false;
    } finally {
      rmSync(probe.root, { recursive: true, force: true });
    }
  }
});

describe('a restored database', () => {
  /** A copy of the database from before the last delivery, with one message received in it and one being handed over. */
  async function restore(): Promise<Bench> {
    await bench.accept(message('m-1'), message('m-2'));
    const { outbox } = await bench.store();
    const delivery = await bench.delivery();
    await delivery.start();
    await delivery.idle();
    await delivery.stop();
    const old = new Bench();
    await old.accept(message('m-1'));
    await old.accept(message('m-2'));
    const ids = await outbox.markers();
    const restored = (await old.store()).outbox;
    if (ids) await restored.setMarkers(ids);
    await restored.startHandingOver([{ number: 1, directory: 'x' }], 'boot-1', 1);
    await bench.accept(message('m-3'));
    await bench.deliver();
    for (const folder of ['inbox', 'staging'] as const) renameSync(bench[folder], old[folder]);
    return old;
  }

  it('is refused at the start, with a sentence that names --restored', async () => {
    const old = await restore();
    const delivery = await old.delivery();
    await expect(delivery.start()).rejects.toMatchObject({
      code: 'restored',
      message: expect.stringContaining('--restored'),
    });
    expect((await (await old.store()).counts()).unknown).toBe(0);
    await old.close();
  });

  it('with --restored turns what is pending into unknown, and delivers what comes then', async () => {
    const old = await restore();
    const before = old.entries();
    const delivery = await old.delivery({ restored: true });
    await delivery.start();
    await delivery.idle();
    expect(await (await old.store()).counts()).toMatchObject({ unknown: 2, received: 0, handingOver: 0, delivered: 0 });
    expect(old.entries()).toEqual(before);
    await old.accept(message('m-4'));
    delivery.wake();
    await delivery.idle();
    expect(old.entries()).toHaveLength(before.length + 1);
    await delivery.stop();
    await old.deliver();
    await old.close();
  });

  it('gives numbers above those that the folder was handed, and is known again without --restored', async () => {
    const old = await restore();
    await old.deliver({ restored: true });
    await old.accept(message('m-4'));
    await old.deliver();
    expect(old.entries().map((entry) => Number(entry.split('_').at(-1)))).toEqual([1, 2, 3, 4]);
    expect(old.metadata(old.entries()[3] ?? '').messageId).toBe('m-4');
    await old.close();
  });

  it('delivers what the operator releases, also when the folder was in trouble after that', async () => {
    const old = await restore();
    const delivery = await old.delivery({ restored: true });
    await delivery.start();
    await delivery.idle();
    for (const name of old.entries()) rmSync(join(old.inbox, name), { recursive: true });
    const away = `${old.inbox}.away`;
    renameSync(old.inbox, away);
    const actor = { by: 'alice', reason: 'looked', osUser: 'alice', host: 'here' };
    const store = await old.store();
    const [first] = await store.reviews({ limit: 9 });
    expect((await store.review(first?.id ?? '', 'approve', actor, 2)).kind).toBe('done');
    delivery.wake();
    await waiting(delivery);
    renameSync(away, old.inbox);
    await delivery.idle();
    expect(await store.counts()).toMatchObject({ unknown: 1, received: 0, delivered: 1 });
    await old.close();
  });

  it('of the moment before a hand-over knows the same highest number: with --restored what is pending is unknown all the same', async () => {
    await bench.deliver();
    await bench.accept(message('m-1'));
    await bench.closeStore();
    const copy = `${bench.database}.copy`;
    copyFileSync(bench.database, copy);
    await bench.deliver();
    await bench.closeStore();
    const [seen] = bench.entries();
    rmSync(join(bench.inbox, seen ?? ''), { recursive: true });
    for (const file of ['-wal', '-shm']) rmSync(bench.database + file, { force: true });
    renameSync(copy, bench.database);
    await bench.deliver({ restored: true });
    expect(bench.entries()).toEqual([]);
    expect(await (await bench.store()).counts()).toMatchObject({ unknown: 1, received: 0, delivered: 0 });
  });
});

it.skipIf(!existsSync('/dev/shm') || sameFileSystem('/dev/shm', '.'))(
  'inbox and staging on two file systems are refused at the start',
  async () => {
    const far = new Bench(join('/dev/shm', `quittance-${process.pid}`));
    const delivery = await bench.delivery({ staging: far.staging });
    await expect(delivery.start()).rejects.toMatchObject({ code: 'file-systems' });
    await far.close();
  },
);
