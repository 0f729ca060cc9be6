import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import type { Fault } from './fault.ts';
import { FaultyProxy } from './faulty-proxy.ts';

const open: (() => Promise<unknown> | undefined)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const REQUEST = 'the request ends here.';
const ANSWER = 'the answer ends here.';

interface Heard {
  text: string;
  end: 'open' | 'ended' | 'reset';
}

/** A receiver that answers as soon as it has the whole request, and what it heard on each connection. */
async function receiver(): Promise<{ readonly url: URL; readonly heard: Heard[] }> {
  const heard: Heard[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const here: Heard = { text: '', end: 'open' };
    heard.push(here);
    socket.on('data', (piece) => {
      here.text += piece.toString();
      if (here.text === REQUEST) socket.end(ANSWER);
    });
    socket.on('end', () => {
      here.end = 'ended';
      socket.end();
    });
    socket.on('error', () => {
      here.end = 'reset';
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(() => new Promise((resolve) => server.close(resolve)));
  return { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/as4`), heard };
}

/** Sends the request through a proxy with these faults, in two pieces, and says what came back on that connection. */
async function exchange(...faults: readonly Fault[]) {
  const { url, heard } = await receiver();
  const overheard: string[] = [];
  const proxy = await FaultyProxy.open(url, {
    faults: () => faults,
    overheard: (octets) => overheard.push(octets.toString()),
  });
  open.push(() => proxy.close());
  const got: Heard = { text: '', end: 'open' };
  const socket = connect(Number(proxy.url.port), '127.0.0.1');
  await new Promise<void>((resolve) => {
    socket.on('data', (piece) => {
      got.text += piece.toString();
    });
    socket.on('end', () => {
      got.end = 'ended';
    });
    socket.on('error', () => {
      got.end = 'reset';
    });
    socket.on('close', () => resolve());
    socket.write(REQUEST.slice(0, 10));
    void sleep(20).then(() => socket.write(REQUEST.slice(10)));
  });
  return { got, heard, overheard, happened: proxy.happened };
}

it('passes everything on when there is no fault, or its octet never comes', async () => {
  const { got, heard, happened } = await exchange({ kind: 'drop', side: 'answer', at: 1000 });
  expect(got).toEqual({ text: ANSWER, end: 'ended' });
  expect(heard.map(({ text }) => text)).toEqual([REQUEST]);
  expect(happened).toEqual({ drop: 0, truncate: 0, delay: 0, duplicate: 0 });
});

it.each(['request', 'answer'] as const)('resets both sides before the first octet of the %s', async (side) => {
  const { got, heard, happened } = await exchange({ kind: 'drop', side, at: 0 });
  expect(got).toEqual({ text: '', end: 'reset' });
  await expect.poll(() => heard.every(({ end }) => end === 'reset')).toBe(true);
  for (const { text } of heard) expect(text).toBe(side === 'request' ? '' : REQUEST);
  expect(happened.drop).toBe(1);
});

// Node sees a reset that comes together with octets as an end; that the connection is over, and where, is what can be relied on.
it.each([4, 10, 15])('cuts both sides off after %i octets of the request', async (at) => {
  const { got, heard } = await exchange({ kind: 'drop', side: 'request', at });
  expect(got).toEqual({ text: '', end: 'reset' });
  await expect.poll(() => heard.map(({ end }) => end)).not.toContain('open');
  // Octets that are still under way when a connection is reset may be lost with it; more than those never arrive.
  for (const { text } of heard) expect(REQUEST.slice(0, at).startsWith(text)).toBe(true);
});

it.each([7, ANSWER.length - 1])('cuts both sides off after %i octets of the answer', async (at) => {
  const { got, heard } = await exchange({ kind: 'drop', side: 'answer', at });
  expect(ANSWER.slice(0, at).startsWith(got.text)).toBe(true);
  expect(got.end).not.toBe('open');
  expect(heard.map(({ text }) => text)).toEqual([REQUEST]);
});

it('ends a request early, and the receiver sees an orderly end', async () => {
  const { got, heard } = await exchange({ kind: 'truncate', side: 'request', at: 13 });
  expect(heard).toEqual([{ text: REQUEST.slice(0, 13), end: 'ended' }]);
  expect(got.text).toBe('');
});

it('ends an answer early, and the sender sees an orderly end', async () => {
  const { got, heard } = await exchange({ kind: 'truncate', side: 'answer', at: 5 });
  expect(got).toEqual({ text: ANSWER.slice(0, 5), end: 'ended' });
  expect(heard.map(({ text }) => text)).toEqual([REQUEST]);
});

it.each(['request', 'answer'] as const)('holds the %s back and then passes all of it on', async (side) => {
  const { got, heard, happened } = await exchange({ kind: 'delay', side, at: 3, ms: 60 });
  expect(got).toEqual({ text: ANSWER, end: 'ended' });
  expect(heard.map(({ text }) => text)).toEqual([REQUEST]);
  expect(happened.delay).toBe(1);
});

it.each([
  ['request', 0],
  ['request', 5],
  ['request', 15],
  ['answer', 0],
  ['answer', 8],
] as const)('sends the request a second time, from octet %s %i on', async (side, at) => {
  const { got, heard, overheard } = await exchange({ kind: 'duplicate', side, at });
  expect(got).toEqual({ text: ANSWER, end: 'ended' });
  await expect.poll(() => overheard).toEqual([ANSWER]);
  expect(heard.map(({ text }) => text)).toEqual([REQUEST, REQUEST]);
});

it('sends the copy of a request whose answer is lost', async () => {
  const lost = { kind: 'drop', side: 'answer', at: 0 } as const;
  const { got, overheard } = await exchange({ kind: 'duplicate', side: 'request', at: 4 }, lost);
  expect(got).toEqual({ text: '', end: 'reset' });
  await expect.poll(() => overheard).toEqual([ANSWER]);
});

it('resets connections while the receiver is nowhere', async () => {
  const { url } = await receiver();
  const proxy = await FaultyProxy.open(url, { faults: () => [] });
  open.push(() => proxy.close());
  proxy.goesTo(null);
  const end = await new Promise((resolve) => {
    const socket = connect(Number(proxy.url.port), '127.0.0.1');
    socket.on('error', () => resolve('reset'));
    socket.on('close', () => resolve('closed'));
  });
  expect(end).toBe('reset');
});
