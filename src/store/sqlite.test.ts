import { access, mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { storeFixture } from './testing/fixture.ts';
import { day, noon, otherMessage, rebuiltMessage, sampleMessage } from './testing/sample.ts';
import type { NewMessage, StoredAnswer } from './types.ts';

const text = (answer: StoredAnswer) => Buffer.from(answer.body).toString();
const receipt = (body: string): StoredAnswer => ({ status: 200, contentType: 'text/x', body: Buffer.from(body) });

describe('two stores on one database', () => {
  const fixture = storeFixture();

  test('decide a race for 300 messages: one accepts, the other gives the same bytes', async () => {
    const stores = [await fixture.open(), await fixture.open()];
    const outcomes = await Promise.all(
      stores.map((store, s) =>
        Promise.all(
          Array.from({ length: 300 }, (_, i) =>
            store.accept(sampleMessage(`m${i}`, { receipt: receipt(`m${i} of ${s}`) })),
          ),
        ),
      ),
    );
    for (let i = 0; i < 300; i++) {
      const [a, b] = [outcomes[0]![i]!, outcomes[1]![i]!];
      expect([a.kind, b.kind].sort()).toEqual(['accepted', 'duplicate']);
      if ('answer' in a && 'answer' in b) expect(text(a.answer)).toBe(text(b.answer));
    }
  });

  test('decide a race between two contents: one is accepted, the other held', async () => {
    const stores = [await fixture.open(), await fixture.open()];
    const ids = Array.from({ length: 50 }, (_, i) => `m${i}`);
    const outcomes = await Promise.all(
      ids.map((id) => Promise.all(stores.map((store, s) => store.accept(otherMessage(id, `copy ${s}`))))),
    );
    for (const pair of outcomes) expect(pair.map((o) => o.kind).sort()).toEqual(['accepted', 'conflict']);
    expect(fixture.value('SELECT count(*) FROM held')).toBe(50);
    expect(fixture.value('SELECT count(*) FROM outbox')).toBe(50);
  });

  test('decide a race between two sets of headers: two receipts, one hand-over', async () => {
    const stores = [await fixture.open(), await fixture.open()];
    const ids = Array.from({ length: 50 }, (_, i) => `m${i}`);
    const outcomes = await Promise.all(
      ids.map((id) => Promise.all(stores.map((store, s) => store.accept(rebuiltMessage(id, `copy ${s}`))))),
    );
    for (const pair of outcomes) {
      expect(pair.map((o) => o.kind).sort()).toEqual(['accepted', 'rebuilt']);
      expect(pair.map((o) => ('answer' in o ? text(o.answer) : ''))).toEqual(['<receipt copy 0>', '<receipt copy 1>']);
    }
    expect(fixture.value('SELECT count(*) FROM receipt')).toBe(100);
    expect(fixture.value('SELECT count(*) FROM outbox')).toBe(50);
  });
});

describe('group commit', () => {
  const fixture = storeFixture();

  /** Commits in the WAL since it was begun: frames whose header gives the size of the database after them. */
  async function commits(): Promise<number> {
    const wal = await readFile(`${fixture.path}-wal`);
    const frame = 24 + wal.readUInt32BE(8);
    let count = 0;
    for (let at = 32; at + frame <= wal.length; at += frame) if (wal.readUInt32BE(at + 4) !== 0) count++;
    return count;
  }

  test('what is asked for in one turn of the loop is one commit', async () => {
    const store = await fixture.open();
    const before = await commits();
    await Promise.all(Array.from({ length: 100 }, (_, i) => store.accept(sampleMessage(`m${i}`))));
    expect(await commits()).toBe(before + 1);
  });

  test('what comes while a commit is under way is the next one', async () => {
    const store = await fixture.open();
    const before = await commits();
    const first = store.accept(sampleMessage('first'));
    await new Promise((resolve) => setImmediate(resolve));
    const others = Array.from({ length: 100 }, (_, i) => store.accept(sampleMessage(`m${i}`)));
    await Promise.all([first, ...others]);
    expect(await commits()).toBe(before + 2);
  });

  test('reads make no commit', async () => {
    const store = await fixture.open();
    const before = await commits();
    await Promise.all([store.counts(), store.find(sampleMessage('m1'), sampleMessage('m1').referenceSet, noon)]);
    expect(await commits()).toBe(before);
  });
});

describe('a lock of another process', () => {
  const fixture = storeFixture();

  test('is waited for by writes, while reads are answered', async () => {
    const store = await fixture.open();
    await store.accept(sampleMessage('m1'));
    const other = new Database(fixture.path);
    other.exec('BEGIN IMMEDIATE');
    let stored = false;
    const write = store.accept(sampleMessage('m2')).then((outcome) => {
      stored = true;
      return outcome;
    });
    const found = await store.find(sampleMessage('m1'), sampleMessage('m1').referenceSet, noon);
    expect(found?.receipt).not.toBeNull();
    expect(stored).toBe(false);
    other.exec('COMMIT');
    other.close();
    expect(await write).toMatchObject({ kind: 'accepted' });
  });

  test('that is held for too long makes writes fail with `busy`, and leaves nothing of them', async () => {
    const store = await fixture.open({ busyLimit: 50 });
    const other = new Database(fixture.path);
    other.exec('BEGIN IMMEDIATE');
    await expect(store.accept(sampleMessage('m1'))).rejects.toMatchObject({ name: 'StoreError', code: 'busy' });
    other.exec('COMMIT');
    other.close();
    expect(await store.accept(sampleMessage('m1'))).toMatchObject({ kind: 'accepted' });
  });

  test('after closing, calls are refused with `closed`, and what was queued before is done', async () => {
    const store = await fixture.open();
    const queued = store.accept(sampleMessage('m1'));
    await store.close();
    expect(await queued).toMatchObject({ kind: 'accepted' });
    await expect(store.counts()).rejects.toMatchObject({ code: 'closed' });
  });
});

describe('a payload too large for a row', () => {
  const fixture = storeFixture();
  const contentDir = () => `${fixture.path}.content`;
  const exists = (file: string) =>
    access(file).then(
      () => true,
      () => false,
    );

  async function large(
    messageId: string,
    make: typeof sampleMessage = sampleMessage,
  ): Promise<NewMessage & { file: string }> {
    const file = join(fixture.directory, `spooled-${Math.random()}`);
    await writeFile(file, 'large payload');
    const message = make(messageId);
    return { ...message, payloads: [{ ...message.payloads[0]!, data: { file } }], file };
  }

  test('is moved into the content directory and named to the delivery', async () => {
    const store = await fixture.open();
    const message = await large('m1');
    expect(await store.accept(message)).toMatchObject({ kind: 'accepted' });
    expect(await exists(message.file)).toBe(false);
    const [handOver] = await store.outbox.pending(1);
    const data = handOver!.payloads[0]!.data as { file: string };
    expect(data.file.startsWith(contentDir())).toBe(true);
    expect(await readFile(data.file, 'utf8')).toBe('large payload');
  });

  test('goes away with every outcome that is not `accepted`', async () => {
    const store = await fixture.open();
    await store.accept(sampleMessage('m1'));
    const copies = [
      await large('m1'),
      await large('m1', (id) => rebuiltMessage(id, 'b')),
      await large('m1', (id) => otherMessage(id, 'x')),
    ];
    const kinds: string[] = [];
    for (const copy of copies) kinds.push((await store.accept(copy)).kind);
    expect(kinds).toEqual(['duplicate', 'rebuilt', 'conflict']);
    for (const copy of copies) expect(await exists(copy.file)).toBe(false);
    expect(await readdir(contentDir())).toEqual([]);
  });

  test('goes away when the store is busy', async () => {
    const store = await fixture.open({ busyLimit: 20 });
    const other = new Database(fixture.path);
    other.exec('BEGIN IMMEDIATE');
    await expect(store.accept(await large('m1'))).rejects.toMatchObject({ code: 'busy' });
    other.close();
    expect(await readdir(contentDir())).toEqual([]);
  });

  test('that is not there is an error, and nothing is stored', async () => {
    const store = await fixture.open();
    const message = await large('m1');
    const payloads = [{ ...message.payloads[0]!, data: { file: join(fixture.directory, 'missing') } }];
    await expect(store.accept({ ...message, payloads })).rejects.toMatchObject({ code: 'io' });
    expect(fixture.value('SELECT count(*) FROM message')).toBe(0);
  });

  test('is deleted by purge with its row, as are files older than a day that no row names', async () => {
    const store = await fixture.open();
    await mkdir(contentDir(), { recursive: true });
    await store.accept(await large('m1'));
    await store.outbox.startHandingOver([{ number: 1, directory: 'a' }], 'boot', noon);
    await store.outbox.delivered([1], noon);
    const orphan = join(contentDir(), 'orphan');
    await writeFile(orphan, '');
    await utimes(orphan, 0, 0);
    // Judged by the file's own clock, which is the machine's: the newest of mtime and ctime.
    const purge = (now: number, dryRun: boolean) =>
      store.purge({ now, payloadRetention: day, evidenceRetention: 400 * day, dryRun });
    const later = Math.max(Date.now(), noon) + 2 * day;
    expect(await purge(later, true)).toMatchObject({ payloads: 1, files: 2 });
    expect(await readdir(contentDir())).toHaveLength(2);
    expect(await purge(later, false)).toMatchObject({ payloads: 1, files: 2 });
    expect(await readdir(contentDir())).toEqual([]);
    expect((await store.outbox.inState('delivered', 1))[0]!.payloads[0]!.data).toBeNull();
  });
});
