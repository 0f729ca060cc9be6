import { expect, it } from 'vitest';
import { InProgress } from '../dedup/in-progress.ts';
import type { Store } from '../store/types.ts';
import { type Arrival, type Recaller, recall } from './recall.ts';

const arrival: Arrival = {
  sender: 'POP000001',
  messageId: 'm@x',
  referenceSet: Buffer.alloc(32),
  requestDigest: null,
  fingerprint: 'f',
  remoteAddress: '192.0.2.1',
};

/** Nothing is stored; the wall clock is set by a day, as `step` says, whenever it is asked. */
function recaller(step: number, waitForCopy: number): Recaller {
  let at = Date.UTC(2026, 10, 30);
  const store = { find: () => Promise.resolve(null) } as unknown as Store;
  const now = () => {
    at += step;
    return at;
  };
  return { store, copies: new InProgress(1), waitForCopy, now };
}

it.each([
  ['forward', 86_400_000],
  ['back', -86_400_000],
])('a wall clock that is set %s neither ends the wait for another copy nor lengthens it', async (_, step) => {
  const r = recaller(step, 60_000);
  const first = await recall(arrival, true, 'same-references', r);
  let waiting = (): void => {};
  const waits = new Promise<void>((resolve) => {
    waiting = resolve;
  });
  const second = recall(arrival, true, 'same-references', r, () => {
    waiting();
    return () => {};
  });
  await waits;
  // A wait of no time at all would be over after this.
  await new Promise((resolve) => setTimeout(resolve, 20));
  if (first.kind === 'go on') first.end?.();
  expect(await second).toMatchObject({ kind: 'go on', known: false });

  const short = { ...recaller(step, 20), copies: r.copies };
  await expect(recall(arrival, true, 'same-references', short)).rejects.toMatchObject({ reason: 'copy-in-progress' });
});
