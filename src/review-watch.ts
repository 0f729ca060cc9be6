import type { Degradation } from './http/health.ts';
import type { Store } from './store/types.ts';

/** Receipted messages that wait for an operator: their senders take them for delivered. */
export interface WaitingReviews {
  readonly count: number;
  /** Since when the oldest waits, epoch ms. */
  readonly oldest: number | null;
}

/** Beyond it only "at least so many" matters, and a look must not cost a scan. */
const atMost = 1000;

/** Conflicts are left out: their senders were told. Hand-overs of unknown fate and undeliverable ones have a state that is counted by itself. */
export async function waitingReviews(store: Pick<Store, 'reviews' | 'counts'>): Promise<WaitingReviews> {
  const [items, counts] = await Promise.all([store.reviews({ limit: atMost }), store.counts()]);
  const receipted = items.filter(({ kind, told }) => told === 'receipt' && (kind === 'message' || kind === 'held'));
  // Older conflicts may fill the list; they do not hide that there are others.
  return {
    count: Math.max(receipted.length, counts.review),
    oldest: receipted[0]?.since ?? items.at(-1)?.since ?? null,
  };
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
