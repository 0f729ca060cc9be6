import { expect, it } from 'vitest';
import { isFromTheFuture, isStale } from './window.ts';

const DAY = 86_400_000;
const policy = { window: 90 * DAY };

it('calls a message stale only when its key, as old as its signed timestamp, would have expired', () => {
  expect(isStale(0, 90 * DAY - 1, policy)).toBe(false);
  expect(isStale(0, 90 * DAY, policy)).toBe(true);
});

it('notices a timestamp more than an hour ahead', () => {
  expect(isFromTheFuture(3_600_000, 0)).toBe(false);
  expect(isFromTheFuture(3_600_001, 0)).toBe(true);
});
