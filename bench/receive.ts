import { setTimeout as sleep } from 'node:timers/promises';
import { rsaFloor } from './floor.ts';
import { load } from './load.ts';
import { makeMessages } from './messages.ts';
import { startServer } from './server.ts';

/**
 * New messages and byte-identical duplicates per second at 1, 8 and 32 connections, the CPU time that the server takes for each, and
 * how that compares with the floor of this machine: the two RSA private operations that a new message cannot do without.
 *
 *   npm run bench -- [--count 2000] [--payload 10000] [--profile DIR]
 */
const argument = (name: string, fallback: string) => {
  const at = process.argv.indexOf(`--${name}`);
  return at === -1 ? fallback : (process.argv[at + 1] ?? fallback);
};
const count = Number(argument('count', '2000'));
const payload = Number(argument('payload', '10000'));
const profile = argument('profile', '');

console.log(`making ${3 * count + 1000} messages of about ${payload} bytes …`);
const warm = await makeMessages(1000, payload);
const levels = [1, 8, 32];
const batches = await Promise.all(levels.map(() => makeMessages(count, payload)));
const server = await startServer(profile === '' ? {} : { nodeArguments: ['--cpu-prof', `--cpu-prof-dir=${profile}`] });
const rows: Record<string, string | number>[] = [];
try {
  await load(server.url, warm, 16);
  await load(server.url, warm, 16);
  await sleep(2000);
  const floor = rsaFloor();
  const measure = async (kind: string, messages: Parameters<typeof load>[1], connections: number) => {
    const before = server.cpu();
    const result = await load(server.url, messages, connections);
    await sleep(1500); // what was accepted last is still being delivered, and that is part of its cost
    const cpu = (server.cpu() - before) / messages.length;
    rows.push({
      kind,
      connections,
      'per second': Math.round(result.perSecond),
      'p50 ms': result.p50.toFixed(1),
      'p95 ms': result.p95.toFixed(1),
      'CPU ms each': cpu.toFixed(2),
      'times RSA floor': (cpu / floor).toFixed(2),
    });
  };
  for (const [i, connections] of levels.entries()) await measure('new', batches[i] ?? [], connections);
  for (const [i, connections] of levels.entries()) await measure('duplicate', batches[i] ?? [], connections);
  console.log(`RSA floor (unwrap + sign): ${floor.toFixed(3)} ms CPU; server RSS ${Math.round(server.rss() / 1e6)} MB`);
  console.table(rows);
} finally {
  await server.stop();
}
