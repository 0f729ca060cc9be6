/**
 * Whether a message that the log does not know may be a replay of one that was purged: its signed eb:Timestamp is older than its
 * window (architecture §3). Such a replay always looks like this, which is what lets a finite log keep an unlimited promise.
 * @param now or, where that is later, the time that the last purge went by: a clock that was ahead has made it forget too early
 */
export function isStale(ebTimestamp: number, now: number, { window }: { readonly window: number }): boolean {
  return ebTimestamp + window <= now;
}

/** A sender's clock that runs ahead lengthens the window of its keys; more than an hour is worth a word. */
export function isFromTheFuture(ebTimestamp: number, now: number): boolean {
  return ebTimestamp > now + 3_600_000;
}
