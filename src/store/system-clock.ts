import { uptime } from 'node:os';
import type { SystemClock } from './clock-guard.ts';

/** The machine's clocks. */
export const systemClock: SystemClock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sinceBoot: () => uptime() * 1000,
};
