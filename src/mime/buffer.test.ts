import { expect, it } from 'vitest';
import { BufferBudget, bufferUpTo } from './buffer.ts';

async function* chunks(...sizes: number[]): AsyncGenerator<Buffer> {
  for (const [i, size] of sizes.entries()) yield Buffer.alloc(size, i + 1);
}

async function drain(source: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const chunk of source) all.push(chunk);
  return Buffer.concat(all);
}

it('a body up to the limit is whole and counted until it is released', async () => {
  const budget = new BufferBudget(100);
  const buffered = await bufferUpTo(chunks(4, 6), 10, budget);
  expect('whole' in buffered && buffered.whole).toEqual(await drain(chunks(4, 6)));
  expect(budget.used).toBe(10);
  buffered.release();
  buffered.release();
  expect(budget.used).toBe(0);
});

it('an empty body is whole', async () => {
  const buffered = await bufferUpTo(chunks(), 10, new BufferBudget(100));
  expect('whole' in buffered && buffered.whole.length).toBe(0);
});

it.each([
  ['one byte over the limit', 10, 100],
  ['over what the budget has left', 100, 10],
])('a body %s streams from its first byte and gives everything back', async (_, limit, total) => {
  const budget = new BufferBudget(total);
  const buffered = await bufferUpTo(chunks(4, 6, 1, 9), limit, budget);
  expect(budget.used).toBe(10);
  expect('stream' in buffered && (await drain(buffered.stream))).toEqual(await drain(chunks(4, 6, 1, 9)));
  expect(budget.used).toBe(0);
});

it('two bodies share the budget; the second one streams and the first one stays whole', async () => {
  const budget = new BufferBudget(15);
  const first = await bufferUpTo(chunks(10), 10, budget);
  const second = await bufferUpTo(chunks(10), 10, budget);
  expect('whole' in first).toBe(true);
  expect('stream' in second).toBe(true);
  expect(budget.used).toBe(10);
});

it('a share of the budget ends before the whole does, takes from it, and gives back to it', async () => {
  const budget = new BufferBudget(20);
  const share = budget.share(1 / 2);
  const first = await bufferUpTo(chunks(6), 10, share);
  expect([share.used, budget.used]).toEqual([6, 6]);
  expect(await bufferUpTo(chunks(6), 10, share)).toMatchObject({ exhausted: true });
  expect(await bufferUpTo(chunks(11), 10, budget)).toMatchObject({ exhausted: false });
  expect('whole' in (await bufferUpTo(chunks(10), 10, budget))).toBe(true);
  expect(share.take(4)).toBe(true);
  expect([share.take(1), budget.take(1)]).toEqual([false, false]);
  first.release();
  expect([share.used, budget.used]).toEqual([4, 14]);
});

it('an error of the source passes through and leaves the budget as it was', async () => {
  const budget = new BufferBudget(100);
  const failure = new Error('aborted');
  async function* failing(): AsyncGenerator<Buffer> {
    yield Buffer.alloc(5);
    throw failure;
  }
  await expect(bufferUpTo(failing(), 10, budget)).rejects.toBe(failure);
  expect(budget.used).toBe(0);
});

it('a consumer that leaves a replayed stream lets go of source and budget', async () => {
  let released = false;
  const budget = new BufferBudget(100);
  async function* source(): AsyncGenerator<Buffer> {
    try {
      for (;;) yield Buffer.alloc(8);
    } finally {
      released = true;
    }
  }
  const buffered = await bufferUpTo(source(), 10, budget);
  if (!('stream' in buffered)) throw new Error('must stream');
  for await (const chunk of buffered.stream) {
    expect(chunk.length).toBe(8);
    break;
  }
  expect(released).toBe(true);
  expect(budget.used).toBe(0);
});
