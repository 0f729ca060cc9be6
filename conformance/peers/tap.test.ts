import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { Tap } from './tap.ts';

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

/** A receiver that counts: its answers differ. */
async function receiver(): Promise<URL> {
  let count = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      count += 1;
      response.end(`answer ${count}`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/as4`);
}

async function tapBefore(upstream: URL): Promise<Tap> {
  const tap = await Tap.open(upstream);
  open.push(() => tap.close());
  return tap;
}

const post = async (tap: Tap, body: string) => {
  const answer = await fetch(tap.url, { method: 'POST', body });
  return `${answer.status} ${await answer.text()}`;
};

it('relays an answer, and has seen both sides to the octet', async () => {
  const tap = await tapBefore(await receiver());
  expect(await post(tap, 'hello')).toBe('200 answer 1');
  const [passed] = tap.passed;
  expect(passed?.request.toString()).toMatch(/^POST \/as4 HTTP\/1\.1\r\n[\s\S]*\r\n\r\nhello$/);
  expect(passed?.answer.body.toString()).toBe('answer 1');
});

it('loses an answer that the receiver has given', async () => {
  const tap = await tapBefore(await receiver());
  tap.reset(await receiver(), ['lose']);
  await expect(post(tap, 'lost')).rejects.toThrow();
  expect(await post(tap, 'again')).toBe('200 answer 2');
  expect(tap.passed.map(({ answer }) => answer.body.toString())).toEqual(['answer 1', 'answer 2']);
});

it('says 503 in place of an answer that the receiver has given', async () => {
  const tap = await tapBefore(await receiver());
  tap.reset(await receiver(), ['busy']);
  expect(await post(tap, 'first')).toBe('503 ');
  expect(await post(tap, 'again')).toBe('200 answer 2');
});

it('gives the first answer once more', async () => {
  const tap = await tapBefore(await receiver());
  tap.reset(await receiver(), ['relay', 'first-answer']);
  expect(await post(tap, 'one')).toBe('200 answer 1');
  expect(await post(tap, 'two')).toBe('200 answer 1');
  expect(tap.passed[1]?.answer.body.toString()).toBe('answer 2');
});

it('sends the next request of a connection to another receiver', async () => {
  const tap = await tapBefore(await receiver());
  expect(await post(tap, 'one')).toBe('200 answer 1');
  expect(await post(tap, 'two')).toBe('200 answer 2');
  tap.reset(await receiver());
  expect(await post(tap, 'three')).toBe('200 answer 1');
});
