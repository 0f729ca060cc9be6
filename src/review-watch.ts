import type { Degradation } from './http/health.ts';
import type { Store } from './store/types.ts';

/** Receipted messages that wait for an operator: their senders take them for delivered. */
export interface WaitingReviews {
  readonly count: number;
  /** Since when the oldest waits, epoch ms. */
  readonly oldest: number | null;
}

/** Conflicts are left out: their senders were told. Hand-overs of unknown fate and undeliverable ones have a state that is counted by itself. */
export function waitingReviews(store: Pick<Store, 'waitingReviews'>): Promise<WaitingReviews> {
  return store.waitingReviews();
}

/** What health says of them: `[review]` of the configuration sets the thresholds. */
export function reviewConcerns(
  { count, oldest }: WaitingReviews,
  limits: { readonly maxWaiting: number; readonly maxAge: number },
  now: number,
): Degradation[] {
  if (count === 0 || oldest === null) return [];
  const since = new Date(oldest).toISOString();
  const found: Degradation[] = [];
  if (count > limits.maxWaiting) {
    found.push({
      what: `${count} receipted ${count === 1 ? 'message waits' : 'messages wait'} for an operator: quittance review list`,
      since,
    });
  }
  if (now - oldest > limits.maxAge) {
    found.push({ what: 'a receipted message waits for an operator for longer than review.maxAge', since });
  }
  return found;
}
