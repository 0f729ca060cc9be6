import { afterEach, expect, it } from 'vitest';
import type { DoorRefusal } from './app-options.ts';
import { proxyList } from './remote-address.ts';
import type { Server, ServerOptions } from './server.ts';
import { RawClient } from './testing/raw-client.ts';
import { startTestServer } from './testing/start.ts';

const ALIVE = 'GET /health/live HTTP/1.1';
const servers: Server[] = [];
const clients: RawClient[] = [];
const refusals: DoorRefusal[] = [];
afterEach(async () => {
  for (const { socket } of clients.splice(0)) socket.destroy();
  await Promise.all(servers.splice(0).map((server) => server.stop(0)));
  refusals.length = 0;
});

async function start(options: Partial<ServerOptions>): Promise<Server> {
  const server = await startTestServer({ onRefused: (refusal) => refusals.push(refusal), ...options });
  servers.push(server);
  return server;
}

async function open({ port }: Server, source: string): Promise<RawClient> {
  const client = await RawClient.connect(port, source);
  clients.push(client);
  return client;
}

async function isAnswered(client: RawClient): Promise<boolean> {
  await client.post('X: y', '', ALIVE);
  return (await client.answer()).status === 200;
}

it('a source that opens as many connections as it can has a quarter of them, and others are received', async () => {
  const server = await start({ maxConnections: 300 });
  const greedy: RawClient[] = [];
  for (let n = 0; n < 75; n++) greedy.push(await open(server, '127.0.0.9'));
  await (await open(server, '127.0.0.9')).closed();
  expect(refusals).toMatchObject([{ status: 0, reason: 'source-connections', remoteAddress: '127.0.0.9' }]);
  expect(await isAnswered(await open(server, '127.0.0.1'))).toBe(true);
  expect(await isAnswered(greedy[74] as RawClient)).toBe(true);
  // One that has ended makes room for another.
  (greedy[0] as RawClient).socket.destroy();
  await expect
    .poll(async () => isAnswered(await open(server, '127.0.0.9')).catch(() => false), { timeout: 10_000 })
    .toBe(true);
});

it('a proxy of ours is many sources, and may have all of them', async () => {
  const server = await start({ maxConnections: 300, isProxy: proxyList(['127.0.0.0/8']) });
  for (let n = 0; n < 80; n++) await open(server, '127.0.0.9');
  expect(await isAnswered(await open(server, '127.0.0.9'))).toBe(true);
  expect(refusals).toEqual([]);
});

it('who does not read its answers is let go, however many requests it has sent ahead', async () => {
  const server = await start({ answerTimeoutMs: 200, metrics: async () => 'x'.repeat(500_000) });
  const client = await open(server, '127.0.0.9');
  await client.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(100));
  await expect.poll(() => refusals.map(({ reason }) => reason), { timeout: 10_000 }).toEqual(['unread-answer']);
  await client.closed();
});

it('who reads slowly, but does, gets its answer', async () => {
  const server = await start({ answerTimeoutMs: 60_000, metrics: async () => 'x'.repeat(500_000) });
  const client = await open(server, '127.0.0.9');
  await client.post('X: y', '', 'GET /metrics HTTP/1.1');
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect((await client.answer()).body).toHaveLength(500_000);
  expect(refusals).toEqual([]);
});
