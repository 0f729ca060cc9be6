import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import Database from 'better-sqlite3';
import { openSqliteStore } from '../src/store/sqlite.ts';
import { carrying, day, interchange, noon, sampleMessage } from '../src/store/testing/sample.ts';
import type { Store } from '../src/store/types.ts';
import { median } from './median.ts';

/**
 * What the number of remembered keys costs: look-ups and inserts with 10 thousand and with 10 million key rows, half of them
 * MessageIds and half interchanges. Takes minutes and about 3 GB under the temporary directory, so it only runs when asked for:
 *
 *   npm run build && npx tsx bench/keys.ts [rows]
 */
const small = 10_000;
const large = Number(process.argv[2] ?? 10_000_000);
const rounds = 7;
const lookups = 20_000;
const inserts = 1500;
const inFlight = 32;
const senders = 50;

interface Subject {
  readonly rows: number;
  readonly store: Store;
  readonly known: readonly { sender: string; messageId: string }[];
  readonly times: { readonly lookUp: number[]; readonly insert: number[] };
  readonly bytes: number;
}

async function prepare(directory: string, rows: number): Promise<Subject> {
  const path = join(directory, `${rows}.db`);
  const url = `sqlite:${path}`;
  await (await openSqliteStore({ url, heartbeat: false })).close();
  const begin = performance.now();
  fill(path, rows / 2);
  const known = sample(path);
  process.stdout.write(`${rows} key rows made in ${seconds(begin)} s, ${mega(path)} MB\n`);
  const store = await openSqliteStore({ url, heartbeat: false });
  return { rows, store, known, times: { lookUp: [], insert: [] }, bytes: statSync(path).size };
}

/** In the order of the keys, the index on the time afterwards: so that millions of rows take minutes, not hours. */
function fill(path: string, each: number): void {
  const db = new Database(path);
  db.pragma('journal_mode = OFF');
  db.pragma('synchronous = OFF');
  db.pragma('cache_size = -262144');
  db.pragma('temp_store = FILE');
  const count = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${each})`;
  const base = `${noon - 90 * day} + i % ${90 * day}`;
  db.exec(`
    DROP INDEX message_key_by_expiry;
    DROP INDEX interchange_by_expiry;
    BEGIN;
    INSERT INTO message_key (sender, message_id, message, base, expires_at)
      ${count} SELECT 'POP0000' || (10 + i % ${senders}), lower(hex(randomblob(16))) || '@ap.example', -i, ${base}, ${base} + ${90 * day}
      FROM n ORDER BY 1, 2;
    INSERT INTO interchange (layer, scope, key, content_digest, message, base, expires_at)
      ${count} SELECT 'sbdh', 'POP0000' || (10 + i % ${senders}) || ' 9915:sender', lower(hex(randomblob(16))), randomblob(32), -i, ${base},
        ${base} + ${90 * day} FROM n ORDER BY 2, 3;
    COMMIT;
    CREATE INDEX message_key_by_expiry ON message_key (expires_at);
    CREATE INDEX interchange_by_expiry ON interchange (expires_at);
  `);
  db.pragma('journal_mode = WAL');
  db.close();
}

function sample(path: string): Subject['known'] {
  const db = new Database(path, { readonly: true });
  const next = db.prepare(
    'SELECT sender, message_id AS messageId FROM message_key WHERE sender = ? AND message_id >= lower(hex(randomblob(16))) LIMIT 1',
  );
  const found = Array.from({ length: lookups }, (_, i) => next.get(`POP0000${10 + (i % senders)}`));
  db.close();
  return found.flatMap((row) => (row as Subject['known'][number] | undefined) ?? []);
}

/** Microseconds each, half of them hits. */
async function lookUp({ store, known }: Subject): Promise<number> {
  const begin = performance.now();
  await together(lookups, async (i) => {
    const { sender, messageId } = known[i % known.length]!;
    await store.find({ sender, messageId: i % 2 === 0 ? messageId : `no ${messageId}` }, Buffer.alloc(32), noon);
  });
  return ((performance.now() - begin) * 1000) / lookups;
}

async function insert({ store }: Subject, round: number): Promise<number> {
  const messages = Array.from({ length: inserts }, (_, i) => {
    const id = `${crypto.randomUUID()}@bench`;
    const sender = `POP0000${10 + (i % senders)}`;
    return sampleMessage(id, { sender, ...carrying(id, [interchange(`${round} ${id}`, id)]) });
  });
  const begin = performance.now();
  await together(inserts, async (i) => {
    const outcome = await store.accept(messages[i]!);
    if (outcome.kind !== 'accepted') throw new Error(outcome.kind);
  });
  return ((performance.now() - begin) * 1000) / inserts;
}

async function together(count: number, one: (i: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) await one(next++);
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
}

const seconds = (since: number) => ((performance.now() - since) / 1000).toFixed(0);
const mega = (path: string) => Math.round(statSync(path).size / 1e6);

const directory = mkdtempSync(join(tmpdir(), 'quittance-keys-'));
try {
  const subjects = [await prepare(directory, small), await prepare(directory, large)];
  // In turns, so that what else the machine does meets both.
  for (let round = 0; round < rounds; round++) {
    for (const subject of subjects) {
      subject.times.lookUp.push(await lookUp(subject));
      subject.times.insert.push(await insert(subject, round));
    }
  }
  const [few, many] = subjects.map(({ times }) => ({ lookUp: median(times.lookUp), insert: median(times.insert) }));
  for (const what of ['lookUp', 'insert'] as const) {
    const [a, b] = [few?.[what] ?? 0, many?.[what] ?? 0];
    process.stdout.write(
      `${what.padEnd(7)} ${small}: ${a.toFixed(0)} µs   ${large}: ${b.toFixed(0)} µs   ratio ${(b / a).toFixed(2)}\n`,
    );
  }
  for (const { store } of subjects) await store.close();
} finally {
  rmSync(directory, { recursive: true, force: true });
}
