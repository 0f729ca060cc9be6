import { expect, test } from 'vitest';
import { reviewConcerns, waitingReviews } from './review-watch.ts';
import type { ReviewItem } from './store/operator-types.ts';
import type { Store } from './store/types.ts';

const HOUR = 3_600_000;
const storeOf = (items: ReviewItem[], review: number) => ({
  reviews: async () => items,
  counts: async () => ({ review }) as Awaited<ReturnType<Store['counts']>>,
});
const item = (kind: ReviewItem['kind'], told: ReviewItem['told'], since: number) =>
  ({ kind, told, since }) as ReviewItem;

test('those whose sender holds a receipt are counted, and the oldest of them gives the age', async () => {
  const items = [
    item('held', 'failure', 1),
    item('unknown', 'receipt', 2),
    item('held', 'receipt', 3),
    item('message', 'receipt', 4),
  ];
  expect(await waitingReviews(storeOf(items, 1))).toEqual({ count: 2, oldest: 3 });
  expect(await waitingReviews(storeOf([], 0))).toEqual({ count: 0, oldest: null });
});

test('older conflicts without end do not hide that a message waits', async () => {
  const conflicts = Array.from({ length: 1000 }, (_, at) => item('held', 'failure', at));
  expect(await waitingReviews(storeOf(conflicts, 3))).toEqual({ count: 3, oldest: 999 });
});

test('number and age each have a threshold of their own', () => {
  const limits = { maxWaiting: 2, maxAge: HOUR };
  const told = (count: number, age: number) => reviewConcerns({ count, oldest: 10 * HOUR }, limits, 10 * HOUR + age);
  expect(told(2, HOUR)).toEqual([]);
  expect(told(3, HOUR)).toEqual([
    { what: '3 receipted messages wait for an operator: quittance review list', since: '1970-01-01T10:00:00.000Z' },
  ]);
  expect(told(1, HOUR + 1)).toEqual([
    { what: expect.stringContaining('review.maxAge'), since: '1970-01-01T10:00:00.000Z' },
  ]);
  expect(told(3, HOUR + 1)).toHaveLength(2);
  expect(reviewConcerns({ count: 0, oldest: null }, limits, 0)).toEqual([]);
});
