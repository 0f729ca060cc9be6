import { createHash } from 'node:crypto';

/** What the configuration says about repeats ([duplicates]); durations in ms. */
export interface DuplicatePolicy {
  readonly window: number;
  readonly staleTimestamp: 'review' | 'deliver' | 'refuse';
  readonly outsideWindow: 'deliver' | 'review';
  readonly rebuilt: 'own-receipt' | 'first-receipt';
}

/** Names the policy that a decision was made under: the first 16 hex digits of SHA-256 over its canonical form. */
export function policyVersion(policy: DuplicatePolicy): string {
  const canonical = JSON.stringify(Object.entries(policy).sort(([a], [b]) => (a < b ? -1 : 1)));
  return createHash('sha256').update(canonical).digest('hex').slice(0, 16);
}

/**
 * Whether a message that the log does not know may be a replay of one that was purged: its signed eb:Timestamp is older than its
 * window (architecture §3). Such a replay always looks like this, which is what lets a finite log keep an unlimited promise.
 * @param now or, where that is later, the time that the last purge went by: a clock that was ahead has made it forget too early
 */
export function isStale(ebTimestamp: number, now: number, policy: Pick<DuplicatePolicy, 'window'>): boolean {
  return ebTimestamp + policy.window <= now;
}

/** A sender's clock that runs ahead lengthens the window of its keys; more than an hour is worth a word. */
export function isFromTheFuture(ebTimestamp: number, now: number): boolean {
  return ebTimestamp > now + 3_600_000;
}
