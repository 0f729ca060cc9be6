import { statSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import type { WireMessage } from '../src/send/build.ts';
import { post } from '../src/testing/post.ts';
import { makeMessages } from './messages.ts';
import { type BenchServer, startServer } from './server.ts';

/**
 * A retry storm: byte-identical repeats of known messages over 32 connections, while another sender goes on with new ones. What new
 * messages wait with and without it, what the audit and the database grow by, and whether every answer is the stored one.
 *
 *   npm run build && npx tsx bench/storm.ts [--repeats 14000] [--messages 200] [--connections 32] [--new 10]
 */
const argument = (name: string, fallback: number) => {
  const at = process.argv.indexOf(`--${name}`);
  return at === -1 ? fallback : Number(process.argv[at + 1] ?? fallback);
};
const repeats = argument('repeats', 14_000);
const messages = argument('messages', 200);
const connections = argument('connections', 32);
/** New messages a second, at an even pace whatever the answers take. */
const pace = argument('new', 10);

interface Waits {
  readonly times: number[];
  refused: number;
}

/** New messages at their pace, over connections of their own, until told to stop. */
async function newOnes(url: string, supply: WireMessage[], until: () => boolean): Promise<Waits> {
  const agent = new Agent({ keepAlive: true });
  const waits: Waits = { times: [], refused: 0 };
  const pending: Promise<void>[] = [];
  while (!until()) {
    const message = supply.pop();
    if (message === undefined) break;
    const since = performance.now();
    pending.push(
      post(url, message, agent).then(({ status, body }) => {
        waits.times.push(performance.now() - since);
        if (status !== 200 || !body.includes(':Receipt>')) waits.refused++;
      }),
    );
    await sleep(1000 / pace);
  }
  await Promise.all(pending);
  agent.destroy();
  return waits;
}

function report(what: string, { times, refused }: Waits): Record<string, string | number> {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1);
  return { what, messages: times.length, 'p50 ms': at(0.5), 'p95 ms': at(0.95), 'max ms': at(1), refused };
}

function sizes({ directory }: BenchServer): {
  bytes: number;
  decisions: number;
  counters: number;
  counted: number;
  suppressed: number;
} {
  const db = new Database(join(directory, 'quittance.db'), { readonly: true });
  const value = (sql: string) => (db.prepare(sql).pluck().get() as number | null) ?? 0;
  const found = {
    bytes: value('SELECT page_count * page_size FROM pragma_page_count, pragma_page_size'),
    decisions: value('SELECT count(*) FROM decision'),
    suppressed: value(`SELECT count(*) FROM decision WHERE decision = 'suppress'`),
    counters: value('SELECT count(*) FROM suppression'),
    counted: value('SELECT sum(count) FROM suppression'),
  };
  db.close();
  return found;
}

const supply = await makeMessages(1500, 10_000);
const known = await makeMessages(messages, 10_000);
const warm = await makeMessages(300, 10_000);
const server = await startServer({ env: { QUITTANCE_LOG__LEVEL: 'info' } });
try {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  for (const message of warm) await post(server.url, message, agent);
  const stored = new Map<WireMessage, string>();
  for (const message of known) {
    const { status, contentType, body } = await post(server.url, message, agent);
    stored.set(message, `${status} ${contentType} ${body}`);
  }
  await sleep(2000);
  const since = performance.now();
  const calm = await newOnes(server.url, supply, () => performance.now() - since > 10_000);
  await sleep(1000);

  const before = sizes(server);
  const cpu = server.cpu();
  let next = 0;
  let other = 0;
  let over = false;
  const begin = performance.now();
  const lanes = Array.from({ length: connections }, async () => {
    while (next < repeats) {
      const message = known[next++ % known.length]!;
      const { status, contentType, body } = await post(server.url, message, agent);
      if (`${status} ${contentType} ${body}` !== stored.get(message)) other++;
    }
  });
  const storm = newOnes(server.url, supply, () => over);
  await Promise.all(lanes);
  const seconds = (performance.now() - begin) / 1000;
  over = true;
  const stormy = await storm;
  await sleep(2000);
  const after = sizes(server);
  const spent = server.cpu() - cpu;

  console.table([report('new, without a storm', calm), report('new, in the storm', stormy)]);
  const accepted = stormy.times.length - stormy.refused;
  console.log(
    [
      `${repeats} repeats of ${messages} messages at ${connections} connections: ${seconds.toFixed(1)} s, ${Math.round(repeats / seconds)} a second`,
      `answers that were not the stored one: ${other}`,
      `server CPU: ${(spent / 1000).toFixed(1)} s; RSS ${Math.round(server.rss() / 1e6)} MB`,
      `audit rows: ${after.decisions - before.decisions}, of them ${after.suppressed - before.suppressed} of repeats and ${accepted} of new messages`,
      `counter rows: ${after.counters - before.counters}, which count ${after.counted - before.counted}`,
      `repeats on record: ${after.suppressed + after.counted - before.suppressed - before.counted} of ${repeats}`,
      `database: ${mega(before.bytes)} MB before, ${mega(after.bytes)} MB after, WAL ${mega(statSync(join(server.directory, 'quittance.db-wal')).size)} MB`,
    ].join('\n'),
  );
  agent.destroy();
} finally {
  await server.stop();
}

function mega(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
