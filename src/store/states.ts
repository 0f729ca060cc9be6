import type { HandOverState } from './types.ts';

/** What can happen to a hand-over (architecture §4). */
export type HandOverEvent =
  | 'handOver'
  | 'delivered'
  | 'acknowledge'
  | 'fail'
  | 'giveUp'
  | 'redeliverAfterPowerLoss'
  | 'reviewAfterPowerLoss'
  | 'lost'
  | 'restored'
  | 'release'
  | 'reject'
  | 'supersede'
  | 'confirm';

/**
 * The one table of (state, event) → state. What is not in it is refused and recorded. A state without events is terminal: a
 * redelivery is a row of its own, so none of them is ever lowered.
 */
export const transitions: Readonly<Record<HandOverState, Readonly<Partial<Record<HandOverEvent, HandOverState>>>>> = {
  received: {
    handOver: 'handingOver',
    fail: 'received',
    giveUp: 'undeliverable',
    lost: 'unknown',
    restored: 'unknown',
    supersede: 'superseded',
  },
  handingOver: {
    delivered: 'delivered',
    fail: 'received',
    giveUp: 'undeliverable',
    redeliverAfterPowerLoss: 'received',
    reviewAfterPowerLoss: 'review',
    lost: 'unknown',
    restored: 'unknown',
    // Whoever acknowledges has seen it: the rename is done, only the mark for it is missing.
    acknowledge: 'acknowledged',
  },
  delivered: { acknowledge: 'acknowledged', delivered: 'delivered' },
  // Late and repeated events change nothing, and are no faults.
  acknowledged: { acknowledge: 'acknowledged', delivered: 'acknowledged' },
  review: { release: 'received', reject: 'rejected', supersede: 'superseded' },
  rejected: {},
  superseded: {},
  unknown: { release: 'received', confirm: 'delivered', acknowledge: 'acknowledged', reject: 'rejected' },
  undeliverable: { release: 'received', reject: 'rejected' },
};

/** The state after the event; null when the table does not allow it. */
export function nextState(state: HandOverState, event: HandOverEvent): HandOverState | null {
  return transitions[state][event] ?? null;
}

/** Failures of a message's own that make it `undeliverable`. */
export const maxAttempts = 5;

/** States in which something is still to be done: purge never touches these, and counting them must be cheap. */
export const openStates = [
  'received',
  'handingOver',
  'unknown',
  'review',
  'undeliverable',
] as const satisfies HandOverState[];
