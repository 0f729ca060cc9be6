import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { storeFixture } from './testing/fixture.ts';
import { noon, sampleMessage } from './testing/sample.ts';

interface Outcome {
  readonly kind: string;
  readonly id: string;
  readonly answer: string;
}

interface Writer {
  readonly child: ChildProcess;
  readonly outcomes: Outcome[];
  go(): void;
  /** Resolves when the n-th outcome was heard. */
  heard(n: number): Promise<void>;
  readonly ended: Promise<void>;
}

interface WriterOptions {
  readonly crash?: string;
  /** Files cannot grow beyond this many KiB: a disk that fails, as far as SQLite can tell. */
  readonly fileLimit?: number;
  readonly carries?: 'interchanges';
}

async function startWriter(
  path: string,
  prefix: string,
  count: number,
  mark: string,
  o: WriterOptions = {},
): Promise<Writer> {
  const script = new URL('./testing/writer.ts', import.meta.url).pathname;
  const command = [
    process.execPath,
    '--import',
    'tsx',
    script,
    path,
    prefix,
    `${count}`,
    mark,
    o.crash ?? '',
    o.carries ?? '',
  ];
  const limit = o.fileLimit === undefined ? '' : `trap '' XFSZ; ulimit -f ${o.fileLimit};`;
  const child = spawn('bash', ['-c', `${limit} exec "$@"`, 'bash', ...command], { stdio: ['pipe', 'pipe', 'inherit'] });
  const outcomes: Outcome[] = [];
  const waiting: { n: number; resolve: () => void }[] = [];
  const lines = createInterface({ input: child.stdout! });
  const ended = once(lines, 'close').then(() => {});
  const ready = new Promise<void>((resolve) => {
    lines.on('line', (line) => {
      if (line === 'ready') return resolve();
      const [kind = '', id = '', answer = ''] = line.split('\t');
      outcomes.push({ kind, id, answer });
      for (const w of waiting) if (outcomes.length >= w.n) w.resolve();
    });
  });
  child.stdin!.on('error', () => {}); // the process may be gone already, which is what these tests are about
  await Promise.race([ready, ended]);
  return {
    ...{ child, outcomes, ended },
    go: () => void child.stdin!.write('go\n'),
    heard: (n) => Promise.race([ended, new Promise<void>((resolve) => void waiting.push({ n, resolve }))]),
  };
}

describe('several processes on one database', () => {
  const fixture = storeFixture();

  function integrity(): unknown {
    const db = new Database(fixture.path);
    try {
      return [db.pragma('integrity_check', { simple: true }), db.pragma('foreign_key_check')];
    } finally {
      db.close();
    }
  }

  test('the same interchange to two processes at once, under two MessageIds: one delivery, two receipts each for its own message', async () => {
    const carries = { carries: 'interchanges' } as const;
    const [a, b] = await Promise.all([
      startWriter(fixture.path, 'a', 200, 'A', carries),
      startWriter(fixture.path, 'b', 200, 'B', carries),
    ]);
    a.go();
    b.go();
    await Promise.all([a.ended, b.ended]);
    expect(a.outcomes).toHaveLength(200);
    for (const { id, answer } of a.outcomes) expect(answer).toBe(`receipt of ${id} by A`);
    for (const { id, answer } of b.outcomes) expect(answer).toBe(`receipt of ${id} by B`);
    const kinds = new Map([...a.outcomes, ...b.outcomes].map(({ kind, id }) => [id, kind]));
    for (let n = 0; n < 200; n++)
      expect([kinds.get(`a${n}`), kinds.get(`b${n}`)].sort()).toEqual(['accepted', 'suppressed']);
    expect(fixture.value('SELECT count(*) FROM outbox')).toBe(200);
    expect(fixture.value('SELECT count(*) FROM receipt')).toBe(400);
    expect(integrity()).toEqual(['ok', []]);
  });

  test('the same 300 messages to two processes at once: each is accepted by one, and both give the same bytes', async () => {
    const [a, b] = await Promise.all([
      startWriter(fixture.path, 'm', 300, 'first'),
      startWriter(fixture.path, 'm', 300, 'second'),
    ]);
    a.go();
    b.go();
    await Promise.all([a.ended, b.ended]);
    expect(a.outcomes).toHaveLength(300);
    expect(b.outcomes).toHaveLength(300);
    const byId = new Map(b.outcomes.map((o) => [o.id, o]));
    for (const one of a.outcomes) {
      const two = byId.get(one.id)!;
      expect([one.kind, two.kind].sort()).toEqual(['accepted', 'duplicate']);
      expect(two.answer).toBe(one.answer);
    }
    expect(fixture.value('SELECT count(*) FROM outbox')).toBe(300);
    expect(integrity()).toEqual(['ok', []]);
  });

  test('both of two busy processes get on', async () => {
    const [a, b] = await Promise.all([
      startWriter(fixture.path, 'a', 300, 'first'),
      startWriter(fixture.path, 'b', 300, 'second'),
    ]);
    a.go();
    b.go();
    await Promise.all([a.ended, b.ended]);
    for (const w of [a, b]) expect(w.outcomes.filter((o) => o.kind === 'accepted')).toHaveLength(300);
  });

  for (const n of [1, 40, 120]) {
    test(`after kill -9 at the ${n}. answer everything that was answered is there, and the next process goes on`, async () => {
      const a = await startWriter(fixture.path, 'm', 2000, 'first');
      a.go();
      await a.heard(n);
      a.child.kill('SIGKILL');
      await a.ended;
      expect(a.outcomes.length).toBeGreaterThanOrEqual(n);
      expect(a.outcomes.length).toBeLessThan(2000);

      const store = await fixture.open();
      for (const { id, answer } of a.outcomes) {
        const found = await store.find({ sender: 'POP000001', messageId: id }, sampleMessage(id).referenceSet, noon);
        expect(Buffer.from(found!.receipt!.body).toString()).toBe(answer);
      }
      expect(await store.accept(sampleMessage('after'))).toMatchObject({ kind: 'accepted' });
      expect(integrity()).toEqual(['ok', []]);
    });
  }

  test('killed before a commit the group is not there, and a retry is new', async () => {
    const a = await startWriter(fixture.path, 'm', 100, 'first', { crash: 'before-commit:2' });
    a.go();
    await a.ended;
    expect(a.outcomes.length).toBeGreaterThan(0);
    const store = await fixture.open();
    expect(fixture.value('SELECT count(*) FROM message')).toBe(a.outcomes.length);
    expect(await store.accept(sampleMessage('m99'))).toMatchObject({ kind: 'accepted' });
  });

  test('killed after a commit and before the answer the message is there, and a retry gets the stored bytes', async () => {
    const a = await startWriter(fixture.path, 'm', 100, 'first', { crash: 'after-commit:1' });
    a.go();
    await a.ended;
    expect(a.outcomes).toEqual([]);
    const store = await fixture.open();
    const outcome = await store.accept(sampleMessage('m0'));
    expect(outcome.kind === 'duplicate' && Buffer.from(outcome.answer.body).toString()).toBe('receipt of m0 by first');
  });

  test('when the disk takes no more, what was answered is there, what was refused is not, and a retry is new', async () => {
    const a = await startWriter(fixture.path, 'm', 200, 'first', { fileLimit: 2048 });
    a.go();
    await a.ended;
    expect(a.outcomes).toHaveLength(200);
    const [accepted, refused] = [
      a.outcomes.filter((o) => o.kind === 'accepted'),
      a.outcomes.filter((o) => o.kind !== 'accepted'),
    ];
    expect(accepted.length).toBeGreaterThan(0);
    expect([...new Set(refused.map((o) => o.kind))]).toEqual(['io']);
    expect(integrity()).toEqual(['ok', []]);
    const stored = fixture.rows('SELECT message_id FROM message').map((r) => r.message_id);
    expect(new Set(stored)).toEqual(new Set(accepted.map((o) => o.id)));
    const store = await fixture.open();
    expect(await store.accept(sampleMessage(refused[0]!.id))).toMatchObject({ kind: 'accepted' });
  });
});
