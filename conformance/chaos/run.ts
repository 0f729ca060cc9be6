import { setTimeout as sleep } from 'node:timers/promises';
import type { Target } from '../target/target.ts';
import { balance } from './balance.ts';
import { type FaultKind, randomFaults } from './fault.ts';
import { FaultyProxy } from './faulty-proxy.ts';
import { readFolder } from './folder.ts';
import { killAndStart, kills } from './kills.ts';
import { seeded } from './seeded.ts';
import { Senders } from './senders.ts';

export interface ChaosOptions {
  readonly seconds: number;
  readonly seed: number;
  readonly target: Target;
  /** Ends the chaos early; the balance is drawn all the same. */
  readonly signal?: AbortSignal;
  /** ms for deliveries to come to rest at the end; default 20,000. */
  readonly rest?: number;
}

export interface ChaosResult {
  readonly messages: number;
  /** Messages whose sender holds none, having given up. */
  readonly pending: number;
  readonly delivered: number;
  readonly counts: Senders['counts'];
  readonly refusals: ReadonlyMap<string, number>;
  readonly happened: Readonly<Record<FaultKind, number>>;
  readonly kills: number;
  /** Empty when the balance is right. */
  readonly wrong: readonly string[];
}

const SENDERS = 8;
const REST = 20_000;

/** Lets senders, cuts and kills loose on a receiver, then draws the balance. What is decided by chance follows from the seed; when it meets what does not. */
export async function chaos({ seconds, seed, target, signal, rest = REST }: ChaosOptions): Promise<ChaosResult> {
  const { inbox } = target;
  if (inbox === null || target.restart === null) {
    throw new Error('Without its folder and a way to restart it a receiver cannot be judged.');
  }
  const [faults, moments, ...randoms] = Array.from({ length: SENDERS + 2 }, (_, i) => seeded(seed * 64 + i));
  if (faults === undefined || moments === undefined) throw new Error('no chance');
  const proxy = await FaultyProxy.open(target.url, {
    faults: () => randomFaults(faults),
    overheard: (octets) => senders.overhear(octets),
  });
  const senders = new Senders({ target, url: proxy.url, randoms });
  const over = new AbortController();
  const stop = (): void => over.abort();
  const timer = setTimeout(stop, seconds * 1000);
  signal?.addEventListener('abort', stop);
  if (signal?.aborted === true) stop();
  const receipts = () => senders.counts.receipts;
  const killing = kills({ target, proxy, random: moments, receipts, signal: over.signal }).finally(() =>
    senders.stop(),
  );
  const sending = senders.run();
  try {
    const [killed] = await Promise.all([killing, sending]);
    // Once more: what the last process had in hand, the next one brings to its end.
    proxy.goesTo(null);
    await killAndStart(target);
    await senders.settle(target.url);
    const wrong = [...senders.faults, ...nothingShown(senders), ...(await atRest(senders, inbox.directory, rest))];
    return {
      messages: senders.accounts.length,
      pending: senders.accounts.filter(({ pending }) => pending).length,
      delivered: readFolder(inbox.directory).length,
      counts: senders.counts,
      refusals: senders.refusals,
      happened: proxy.happened,
      kills: killed + 1,
      wrong,
    };
  } finally {
    stop();
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
    // Nobody starts the receiver again once the caller has stopped it.
    await Promise.allSettled([killing, sending]);
    await proxy.close();
  }
}

/** A balance of nothing is always right, and proves nothing. */
function nothingShown({ counts }: Senders): string[] {
  return counts.receipts === 0 ? ['no sender got any receipt'] : [];
}

/** The balance once nothing more is on its way: when it is right, and still is a moment later, or when patience ends. */
async function atRest(senders: Senders, folder: string, rest: number): Promise<string[]> {
  for (const end = Date.now() + rest; ; ) {
    const before = balance(senders.accounts, readFolder(folder));
    await sleep(before.length === 0 ? 1_500 : 500);
    const after = balance(senders.accounts, readFolder(folder));
    if (Date.now() > end || (before.length === 0 && after.length === 0)) return after;
  }
}
