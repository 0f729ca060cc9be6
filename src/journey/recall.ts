import { performance } from 'node:perf_hooks';
import type { InProgress } from '../dedup/in-progress.ts';
import type { IncomingRequest } from '../exchange.ts';
import type { MessageKey, Store, StoredAnswer, Suppression } from '../store/types.ts';

export interface Recaller {
  readonly store: Store;
  readonly copies: InProgress;
  readonly waitForCopy: number;
  readonly now: () => number;
}

export interface Arrival extends MessageKey {
  readonly referenceSet: Uint8Array;
  /** Null for a body that streams. */
  readonly requestDigest: Uint8Array | null;
  readonly fingerprint: string;
  readonly remoteAddress: string;
}

/**
 * - `answer`: the receipt that is stored for exactly this reference set.
 * - `go on`: nothing stored for it; `known` when the id is, with other references. `end` must be called when this copy has ended;
 *   null when the arrival is not complete and so does not hold others up.
 */
export type Recalled =
  | { readonly kind: 'answer'; readonly answer: StoredAnswer }
  | { readonly kind: 'go on'; readonly known: boolean; readonly end: (() => void) | null };

/**
 * Looks up what is known of an authenticated message (architecture §2.6). While another copy is in progress it waits, and then looks
 * again from the start: a waiter inherits nothing but a receipt that was stored for its own reference set.
 * @param complete whether the body has been read: only then may this copy hold up others
 * @param pause of the request: while it waits it takes nobody's place, nor afterwards when all that it needs is the stored receipt
 * @throws TransportRefusal 503 when the other copy takes too long
 */
export async function recall(
  arrival: Arrival,
  complete: boolean,
  how: Suppression['how'],
  r: Recaller,
  pause?: IncomingRequest['pause'],
): Promise<Recalled> {
  const name = `${arrival.sender}\n${arrival.messageId}`;
  // By the monotonic clock: one that is set meanwhile must not make it wait for hours, nor not at all.
  const deadline = performance.now() + r.waitForCopy;
  let goOn: (() => void) | undefined;
  for (let waited = false; ; waited = true) {
    const known = await r.store.find(arrival, arrival.referenceSet, r.now());
    if (known?.receipt) {
      r.store.suppress({ ...arrival, id: known.id, at: r.now(), how: waited ? 'waited' : how });
      return { kind: 'answer', answer: known.receipt };
    }
    const end = complete ? r.copies.claim(name) : null;
    if (end !== null || !complete) {
      goOn?.();
      return { kind: 'go on', known: known !== null, end };
    }
    await r.copies.wait(name, Math.max(0, deadline - performance.now()), () => {
      goOn ??= pause?.();
    });
  }
}
