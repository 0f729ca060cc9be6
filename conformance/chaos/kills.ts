import { setTimeout as sleep } from 'node:timers/promises';
import type { Target } from '../target/target.ts';
import type { FaultyProxy } from './faulty-proxy.ts';

export interface KillsOptions {
  readonly target: Target;
  readonly proxy: FaultyProxy;
  readonly random: () => number;
  /** How many receipts there have been. */
  readonly receipts: () => number;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** ms between two kills at most, however few receipts there are. */
const LONGEST = 15_000;

/** Kills the receiver with SIGKILL again and again, and starts it again, until the signal comes. @returns how often */
export async function kills({ target, proxy, random, receipts, signal }: KillsOptions): Promise<number> {
  for (let count = 0; ; count++) {
    // By receipts and not by the clock, so that a slow machine does as much between two kills as a quick one.
    const enough = receipts() + Math.floor(random() ** 2 * 120);
    const late = Date.now() + LONGEST;
    while (!signal.aborted && receipts() < enough && Date.now() < late) await sleep(5);
    await sleep(random() * 50);
    if (signal.aborted) return count;
    proxy.goesTo(null);
    await killAndStart(target);
    proxy.goesTo(target.url);
  }
}

/** Tries more than once: somebody's outgoing connection may have the port for a moment, as it is one of those that are given to anybody. */
export async function killAndStart(target: Target): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await target.restart?.();
      return;
    } catch (error) {
      if (tries === 5) throw error;
      await sleep(500);
    }
  }
}
