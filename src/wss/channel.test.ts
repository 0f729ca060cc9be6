import { expect, test } from 'vitest';
import { Channel } from './channel.ts';

const chunk = (text: string) => Buffer.from(text);

test('chunks arrive in order, and close ends the iteration after the last one', async () => {
  const channel = new Channel();
  const read = (async () => {
    let all = '';
    for await (const piece of channel) all += piece.toString();
    return all;
  })();
  for (const text of ['a', 'b', 'c']) await channel.put(chunk(text));
  channel.close();
  expect(await read).toBe('abc');
});

test('a chunk is taken only when the one before has been worked on', async () => {
  const channel = new Channel();
  const reader = channel[Symbol.asyncIterator]();
  let taken = false;
  const put = channel.put(chunk('a')).then(() => {
    taken = true;
  });
  await reader.next();
  await new Promise(setImmediate);
  expect(taken).toBe(false);
  const next = reader.next();
  await put;
  channel.close();
  expect(await next).toMatchObject({ done: true });
});

test('a writer never waits for a reader that has gone: in the middle of a chunk, before it, and ever after', async () => {
  const left = new Channel();
  const reader = left[Symbol.asyncIterator]();
  const put = left.put(chunk('a'));
  await reader.next();
  await reader.return();
  await put;
  await left.put(chunk('b'));

  const neverRead = new Channel();
  const waiting = neverRead.put(chunk('a'));
  neverRead.stop();
  await waiting;
  await neverRead.put(chunk('b'));
});
