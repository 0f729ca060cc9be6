import type { Outbox } from './types.ts';
import type { WorkerQueue } from './worker-queue.ts';

/** Payload bytes that one `pending` brings over, unless told otherwise. */
const pendingBytes = 16 * 1024 * 1024;

/** The delivery's part of the store; what each call does is in `outbox.ts`, on the worker's side. */
export function sqliteOutbox(queue: WorkerQueue): Outbox {
  return {
    pending: (limit, maxBytes = pendingBytes) => queue.call('pending', () => ({ limit, maxBytes })),
    inState: (state, limit) => queue.call('inState', () => ({ state, limit })),
    startHandingOver: (rows, bootId, at) =>
      queue.call('startHandingOver', () => ({
        rows: rows.map(({ number, directory }) => ({ number, directory })),
        bootId,
        at,
      })),
    async delivered(numbers, at) {
      await queue.call('delivered', () => ({ numbers, at }));
    },
    failed: (number, error, at) => queue.call('failed', () => ({ number, error, at })),
    async reconcile(number, event, at) {
      await queue.call('transition', () => ({ number, event, at }));
    },
    markers: () => queue.call('markers', () => null),
    async setMarkers({ inbox, staging }) {
      await queue.call('setMarkers', () => ({ inbox, staging }));
    },
    highestHandOver: () => queue.call('highestHandOver', () => null),
    async raiseHandOvers(atLeast) {
      await queue.call('raiseHandOvers', () => atLeast);
    },
  };
}
