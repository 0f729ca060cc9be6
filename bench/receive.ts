import { constants, createPrivateKey, privateDecrypt, publicEncrypt, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PACKAGE_ROOT } from '../src/config/load.ts';
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

/** CPU ms of one OAEP decryption and one signature with our key, single-threaded. */
function rsaFloor(): number {
  const key = createPrivateKey(readFileSync(join(PACKAGE_ROOT, 'certs/receiver.key')));
  const oaep = { key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' };
  const wrapped = publicEncrypt(oaep, Buffer.alloc(16));
  const rounds = 1500;
  let best = Number.POSITIVE_INFINITY;
  for (let repeat = 0; repeat < 3; repeat++) {
    const before = process.cpuUsage();
    for (let i = 0; i < rounds; i++) {
      privateDecrypt(oaep, wrapped);
      sign('sha256', wrapped, key);
    }
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / 1000 / rounds);
  }
  return best;
}

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
