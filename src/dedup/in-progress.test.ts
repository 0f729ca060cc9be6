import { expect, it } from 'vitest';
import { InProgress } from './in-progress.ts';

it('lets one copy in and tells the others that one is at work', () => {
  const copies = new InProgress(10);
  expect(copies.claim('a')).toBeTypeOf('function');
  expect(copies.claim('a')).toBeNull();
  expect(copies.claim('b')).toBeTypeOf('function');
});

it('wakes every waiter when the copy ends, and the id is free again', async () => {
  const copies = new InProgress(10);
  const end = copies.claim('a');
  const waiters = Promise.all([copies.wait('a', 5000), copies.wait('a', 5000)]);
  end?.();
  await waiters;
  expect(copies.claim('a')).toBeTypeOf('function');
});

it('does not end a later copy when an earlier one reports its end twice', () => {
  const copies = new InProgress(10);
  const first = copies.claim('a');
  first?.();
  copies.claim('a');
  first?.();
  expect(copies.claim('a')).toBeNull();
});

it('sends a waiter away with 503 when the copy takes too long', async () => {
  const copies = new InProgress(10);
  copies.claim('a');
  await expect(copies.wait('a', 10)).rejects.toMatchObject({ status: 503, reason: 'copy-in-progress' });
});

it('sends a waiter away at once when too many wait already', async () => {
  const copies = new InProgress(1);
  const end = copies.claim('a');
  const first = copies.wait('a', 5000);
  await expect(copies.wait('a', 5000)).rejects.toMatchObject({ status: 503, reason: 'too-many-waiting' });
  end?.();
  await first;
});

it('does not wait for a copy that is not there', async () => {
  await new InProgress(0).wait('a', 5000);
});
