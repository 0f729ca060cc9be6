import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import type { Answer, IncomingRequest } from '../exchange.ts';
import { TestSender } from '../testing/messages.ts';
import { openUpload, post } from '../testing/post.ts';
import { removeDirectory, startReceiver } from '../testing/receiver.ts';
import type { Server, ServerOptions } from './server.ts';
import { RawClient } from './testing/raw-client.ts';
import { echoLength, startTestServer } from './testing/start.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function start(options: Partial<ServerOptions>): Promise<Server> {
  const server = await startTestServer(options);
  cleanUps.push(() => server.stop(0));
  return server;
}

async function connectTo(server: Server): Promise<RawClient> {
  const client = await RawClient.connect(server.port);
  cleanUps.push(() => client.socket.destroy());
  return client;
}

const type = 'Content-Type: application/soap+xml';

it('what has not shown who sent it in time gets 408, and its place is free for others', async () => {
  const server = await start({ inFlight: 1, envelopeTimeoutMs: 150 });
  const slow = await connectTo(server);
  await slow.post(`${type}\r\nContent-Length: 10`, 'x');
  const answer = await slow.answer();
  expect([answer.status, answer.body, answer.header('Connection')]).toEqual([408, 'slow-envelope', 'close']);
  const next = await connectTo(server);
  await next.post(`${type}\r\nContent-Length: 1`, 'x');
  expect((await next.answer()).status).toBe(200);
});

it('an authenticated upload may take longer than that', async () => {
  const server = await start({
    envelopeTimeoutMs: 100,
    receive: (request) => {
      request.authenticated?.();
      return echoLength(request);
    },
  });
  const client = await connectTo(server);
  await client.post(`${type}\r\nContent-Length: 2`, 'x');
  await pause(300);
  await client.write('y');
  expect((await client.answer()).body).toBe('<r>2</r>');
});

/** An error that is certain after the first bytes, as most are. */
async function refuseAtOnce(request: IncomingRequest): Promise<Answer> {
  for await (const _ of request.body) break;
  return { status: 200, contentType: 'application/soap+xml', body: Buffer.from('<e/>') };
}

it('the rest of a refused upload holds no place', async () => {
  let calls = 0;
  const receive = (request: IncomingRequest) => {
    calls += 1;
    return calls === 1 ? refuseAtOnce(request) : echoLength(request);
  };
  const server = await start({ inFlight: 1, receive });
  const refused = await connectTo(server);
  await refused.post(`${type}\r\nContent-Length: 10`, 'x');
  while (calls === 0 || server.inFlight() > 0) await pause(1);
  const next = await connectTo(server);
  await next.post(`${type}\r\nContent-Length: 1`, 'x');
  expect((await next.answer()).body).toBe('<r>1</r>');
  // It still gets its answer, on the connection that it keeps.
  await refused.write('123456789');
  const answer = await refused.answer();
  expect([answer.body, answer.header('Connection')]).toEqual(['<e/>', 'keep-alive']);
});

it('a refused upload is read to its end for a moment also when no place for reading on is left', async () => {
  const server = await start({ draining: 0, receive: refuseAtOnce });
  const client = await connectTo(server);
  const body = Buffer.alloc(5_000_000, 'x');
  expect(await client.post(`${type}\r\nContent-Length: ${body.length}`, body)).toBeUndefined();
  const answer = await client.answer();
  expect([answer.body, answer.header('Connection')]).toEqual(['<e/>', 'keep-alive']);
});

it('stopping waits for a refused upload and its answer', async () => {
  let called = false;
  const server = await start({
    receive: (request) => {
      called = true;
      return refuseAtOnce(request);
    },
  });
  const client = await connectTo(server);
  await client.post(`${type}\r\nContent-Length: 2`, 'x');
  while (!called || server.inFlight() > 0) await pause(1);
  const stopped = server.stop(20_000);
  await client.write('y');
  expect((await client.answer()).body).toBe('<e/>');
  expect(await stopped).toBe(true);
});

it('a receiver takes a large message whose rest is slow, and answers 408 to a small one that is', async () => {
  const receiver = await startReceiver({ settings: { 'http.envelopeTimeout': '1s' } });
  cleanUps.push(() => receiver.stop().finally(() => removeDirectory(receiver)));
  const sender = new TestSender();
  const [large, small] = [await sender.message({ bytes: 1_300_000 }), await sender.message()];
  const rest = await openUpload(receiver.url, large);
  await rest.write(large.body.length - 1000);
  const stuck = await openUpload(receiver.url, small);
  await stuck.write(small.body.length - 1000);
  const late = await stuck.read();
  expect([late.status, late.body.toString()]).toEqual([408, 'The request took too long to arrive.\n']);
  await rest.write();
  const receipt = await rest.read();
  expect([receipt.status, sender.judge(receipt.body, large).verified]).toEqual([200, true]);
  // A message that failed so leaves nothing behind.
  expect((await post(receiver.url, small)).status).toBe(200);
});
