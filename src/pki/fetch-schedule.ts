/** Never sooner: whatever the configuration and the server say, a CA's server is not to be hammered. */
const SOONEST_MS = 60_000;
/** Timers of Node do not reach further than 24 days, and no list should be left alone that long. */
const LATEST_MS = 86_400_000;

/**
 * Milliseconds until a list is fetched again: after the interval, later when the server has asked for that, but early
 * enough to fail several times before the list ends.
 * @param interval milliseconds
 * @param maxAge seconds that the server's answer stays fresh; null: it said nothing
 * @param left milliseconds until the list's nextUpdate
 */
export function untilNextFetch(interval: number, maxAge: number | null, left: number): number {
  return Math.max(SOONEST_MS, Math.min(Math.max(interval, (maxAge ?? 0) * 1000), left / 2, LATEST_MS));
}

/** Milliseconds until a fetch is tried again that has failed so many times, at least once; at most the interval. */
export function untilRetry(interval: number, failures: number): number {
  return Math.max(SOONEST_MS, Math.min(SOONEST_MS * 2 ** (failures - 1), interval, LATEST_MS));
}
