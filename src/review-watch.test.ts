import { expect, test } from 'vitest';
import { reviewConcerns } from './review-watch.ts';

const HOUR = 3_600_000;

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
