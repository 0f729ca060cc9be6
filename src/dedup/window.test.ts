import { expect, it } from 'vitest';
import { type DuplicatePolicy, isFromTheFuture, isStale, policyVersion } from './window.ts';

const DAY = 86_400_000;
const policy: DuplicatePolicy = {
  window: 90 * DAY,
  staleTimestamp: 'review',
  outsideWindow: 'deliver',
  rebuilt: 'own-receipt',
};

it('calls a message stale only when its key, as old as its signed timestamp, would have expired', () => {
  expect(isStale(0, 90 * DAY - 1, policy)).toBe(false);
  expect(isStale(0, 90 * DAY, policy)).toBe(true);
});

it('notices a timestamp more than an hour ahead', () => {
  expect(isFromTheFuture(3_600_000, 0)).toBe(false);
  expect(isFromTheFuture(3_600_001, 0)).toBe(true);
});

it('names a policy by its content, whatever the order of its keys', () => {
  const { window, ...rest } = policy;
  expect(policyVersion({ ...rest, window })).toBe(policyVersion(policy));
  expect(policyVersion({ ...policy, window: 1 })).not.toBe(policyVersion(policy));
});
