import { setTimeout as sleep } from 'node:timers/promises';
import type { Target } from '../target/target.ts';
import type { FaultyProxy } from './faulty-proxy.ts';

/** Kills the receiver with SIGKILL again and again, and starts it again, until the signal comes. @returns how often */
export async function kills(
  target: Target,
  proxy: FaultyProxy,
  random: () => number,
  signal: AbortSignal,
): Promise<number> {
  for (let count = 0; ; count++) {
    // Often soon after it has started, when senders wait for it and deliveries of before go on.
    const pause = 200 + random() ** 2 * 5_000;
    await sleep(pause, undefined, { signal }).catch(() => {});
    if (signal.aborted) return count;
    proxy.goesTo(null);
    await restart(target);
    proxy.goesTo(target.url);
  }
}

/** Somebody's outgoing connection may have the port for a moment, as it is one of those that are given to anybody. */
async function restart(target: Target): Promise<void> {
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
