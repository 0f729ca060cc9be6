import { Agent, request } from 'node:http';
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { makeFixture } from '../fixtures/catalogue/fixture.ts';
import { HOSTILE } from '../fixtures/catalogue/hostile.ts';
import type { WireMessage } from '../src/send/build.ts';
import { makeMessages } from './messages.ts';
import { startServer } from './server.ts';

/**
 * What good senders notice of a flood: 200 hostile requests a second, from one address or from two hundred, while messages of 10 KB come
 * in at a steady pace from another. Their p95 may be three times the quiet one and must stay below 500 ms; the best of three runs counts.
 *
 *   npm run bench:flood -- [--seconds 8] [--rate 200] [--good 20] [--runs 3]
 *
 * Loopback addresses other than 127.0.0.1 need no set-up on Linux.
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '8' },
    rate: { type: 'string', default: '200' },
    good: { type: 'string', default: '20' },
    runs: { type: 'string', default: '3' },
  },
});
const seconds = Number(values.seconds);
const rate = Number(values.rate);
const goodRate = Number(values.good);

/** Small ones of each kind, as a stranger would send them; bombs of up to 300 KB among them. */
function hostileMessages(): WireMessage[] {
  return Object.values(HOSTILE)
    .flat()
    .filter(({ expect, settings }) => !expect.receipt && expect.status === 200 && settings === undefined)
    .flatMap(({ id, spec }) => {
      const { message } = makeFixture({ id, spec });
      return message.body.length > 300_000
        ? []
        : [{ contentType: message.headers['Content-Type'] ?? '', body: message.body }];
    });
}

/** @returns status; 0 when the connection broke */
function post(url: string, { contentType, body }: WireMessage, localAddress: string, agent: Agent): Promise<number> {
  return new Promise((resolve) => {
    const headers = { 'Content-Type': contentType, 'Content-Length': body.length };
    const sending = request(url, { method: 'POST', headers, localAddress, agent }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
      response.on('error', () => resolve(0));
    });
    sending.on('error', () => resolve(0));
    sending.end(body);
  });
}

/** Starts `each` so many times a second, whatever became of those before: a flood does not wait for answers. */
async function paced(perSecond: number, until: number, each: (i: number) => void): Promise<void> {
  const begin = performance.now();
  for (let i = 0; performance.now() < until; i++) {
    const due = begin + (i * 1000) / perSecond;
    if (due > performance.now()) await sleep(due - performance.now());
    each(i);
  }
}

interface Run {
  readonly p50: number;
  readonly p95: number;
  readonly sent: number;
  readonly refusedGood: number;
  readonly flood: Readonly<Record<string, number>>;
}

async function run(
  url: string,
  good: readonly WireMessage[],
  bad: readonly WireMessage[],
  sources: number,
): Promise<Run> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const floodAgent = new Agent({ keepAlive: true, maxSockets: 256 });
  const times: number[] = [];
  const pending: Promise<void>[] = [];
  const flood: Record<string, number> = {};
  let refusedGood = 0;
  const until = performance.now() + seconds * 1000;
  const sendGood = async (message: WireMessage) => {
    const since = performance.now();
    if ((await post(url, message, '127.0.0.2', agent)) === 200) times.push(performance.now() - since);
    else refusedGood += 1;
  };
  const sendBad = async (i: number) => {
    const status = await post(url, bad[i % bad.length] as WireMessage, `127.0.1.${1 + (i % sources)}`, floodAgent);
    flood[status] = (flood[status] ?? 0) + 1;
  };
  await Promise.all([
    paced(goodRate, until, (i) => {
      const message = good[i];
      if (message !== undefined) pending.push(sendGood(message));
    }),
    sources === 0 ? null : paced(rate, until, (i) => void pending.push(sendBad(i))),
  ]);
  await Promise.all(pending);
  agent.destroy();
  floodAgent.destroy();
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)] ?? Number.POSITIVE_INFINITY;
  return { p50: at(0.5), p95: at(0.95), sent: times.length + refusedGood, refusedGood, flood };
}

const bad = hostileMessages();
const rows: Record<string, string | number>[] = [];
let held = true;
console.log(`${bad.length} hostile inputs, ${rate} a second; load ${loadavg()[0]?.toFixed(1)}`);
for (const [name, sources] of [
  ['one address', 1],
  ['200 addresses', 200],
] as const) {
  let best: { ratio: number; p95: number } | null = null;
  for (let i = 0; i < Number(values.runs); i++) {
    const good = await makeMessages(Math.ceil(seconds * goodRate) * 2, 10_000);
    const server = await startServer();
    try {
      const half = good.length / 2;
      await run(server.url, (await makeMessages(50, 10_000)).slice(0, 50), bad, 0);
      const quiet = await run(server.url, good.slice(0, half), bad, 0);
      const [cpu, began] = [server.cpu(), performance.now()];
      const flooded = await run(server.url, good.slice(half), bad, sources);
      const ratio = flooded.p95 / quiet.p95;
      if (best === null || ratio < best.ratio) best = { ratio, p95: flooded.p95 };
      rows.push({
        flood: name,
        run: i + 1,
        'quiet p50': quiet.p50.toFixed(0),
        'quiet p95': quiet.p95.toFixed(0),
        'flooded p50': flooded.p50.toFixed(0),
        'flooded p95': flooded.p95.toFixed(0),
        times: ratio.toFixed(2),
        'server CPU': `${Math.round((100 * (server.cpu() - cpu)) / (performance.now() - began))} %`,
        'good refused': `${flooded.refusedGood}/${flooded.sent}`,
        'flood answers': JSON.stringify(flooded.flood),
      });
      if (ratio <= 3 && flooded.p95 < 500 && flooded.refusedGood === 0) break;
    } finally {
      await server.stop();
    }
  }
  if (best === null || best.ratio > 3 || best.p95 >= 500) held = false;
}
console.table(rows);
console.log(
  `${held ? 'held' : 'NOT held'}: p95 at most three times the quiet one and below 500 ms, best of ${values.runs}; load ${loadavg()[0]?.toFixed(1)}`,
);
if (!held) process.exitCode = 1;
