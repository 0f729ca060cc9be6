/** Milliseconds. `monotonic` may stand still while the machine sleeps, `sinceBoot` goes on (and is slower to read). */
export interface SystemClock {
  now(): number;
  monotonic(): number;
  sinceBoot(): number;
}

export interface ClockDoubt {
  /** What the clock said when the doubt arose. */
  readonly since: number;
  /** The last time that was trusted: windows are judged by it meanwhile, so that nothing expires. */
  readonly trusted: number;
  readonly why: string;
}

/** What the database knows of the clock. */
export interface ClockState {
  readonly newestHeartbeat: number | null;
  readonly doubt: ClockDoubt | null;
}

const hour = 3_600_000;
/** A machine may be switched off for a while; beyond this its clock is more likely wrong than its owner away. */
const longestPause = 30 * 24 * hour;

/**
 * Notices a clock that jumps ahead, which would empty the log: more than an hour gained on the monotonic clock while running, or
 * more than 30 days past the newest heartbeat at the start. A clock that comes back ends the doubt; else an operator must.
 */
export class ClockGuard {
  readonly #clock: SystemClock;
  #monotonicBase = 0;
  #bootBase = 0;
  #doubt: ClockDoubt | null = null;
  readonly #newestHeartbeat: number | null;

  constructor(clock: SystemClock, stored: ClockState) {
    this.#clock = clock;
    this.#newestHeartbeat = stored.newestHeartbeat;
    this.#rebase();
    const now = clock.now();
    if (stored.doubt !== null && !isBack(now, stored.doubt)) this.#doubt = stored.doubt;
    else if (stored.newestHeartbeat !== null && now > stored.newestHeartbeat + longestPause) {
      const why = `the clock says ${iso(now)}, more than 30 days after the last sign of life (${iso(stored.newestHeartbeat)})`;
      this.#doubt = { since: now, trusted: stored.newestHeartbeat, why };
    }
  }

  /** Looks at the clock. @returns the doubt there is now, null when the clock is trusted */
  check(): ClockDoubt | null {
    const now = this.#clock.now();
    const gained = now - this.#clock.monotonic() - this.#monotonicBase;
    if (this.#doubt !== null) {
      if (isBack(now, this.#doubt)) this.trust();
    } else if (gained > hour) {
      // A machine that slept gains on the monotonic clock, but not on the one that counts since boot.
      const awake = now - this.#clock.sinceBoot() - this.#bootBase;
      if (awake <= hour || this.#isCorrected(now, now - gained)) this.#rebase();
      else {
        const trusted = now - gained;
        const why = `the clock jumped ahead from ${iso(trusted)} to ${iso(now)} while running`;
        this.#doubt = { since: now, trusted, why };
      }
    }
    return this.#doubt;
  }

  /** The time by which windows are judged when the caller's clock says `now`. */
  effective(now: number): number {
    const doubt = this.check();
    return doubt === null ? now : Math.min(now, doubt.trusted);
  }

  /** Takes the clock as it is now for right. */
  trust(): void {
    this.#doubt = null;
    this.#rebase();
  }

  /** A machine that booted with a dead clock, long before the newest heartbeat, is set to what a start would have believed. */
  #isCorrected(now: number, before: number): boolean {
    const newest = this.#newestHeartbeat;
    return newest !== null && before < newest && now <= newest + longestPause;
  }

  #rebase(): void {
    const now = this.#clock.now();
    this.#monotonicBase = now - this.#clock.monotonic();
    this.#bootBase = now - this.#clock.sinceBoot();
  }
}

/** The clock is behind what raised the doubt, and near enough to the time that was trusted last. */
function isBack(now: number, doubt: ClockDoubt): boolean {
  return now < doubt.since - hour && now <= doubt.trusted + Math.min(longestPause, (doubt.since - doubt.trusted) / 2);
}

const iso = (at: number): string => new Date(at).toISOString();
