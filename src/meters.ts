import { performance } from 'node:perf_hooks';
import type { Metrics } from './http/metrics.ts';
import type { BufferBudget } from './mime/buffer.ts';
import { waitingReviews } from './review-watch.ts';
import type { Store } from './store/types.ts';

export interface Meters {
  readonly store: Pick<Store, 'counts' | 'waitingReviews' | 'gaps' | 'droppedRefusals'>;
  readonly budget: Pick<BufferBudget, 'used'>;
  /** Messages that are being worked on. */
  readonly inFlight: () => number;
  /** Messages of addresses that are not known. */
  readonly strangers: () => number;
  readonly now: () => number;
}

/** What is measured when somebody looks, not when it happens. */
export function registerMeters(metrics: Metrics, { store, budget, inFlight, strangers, now }: Meters): void {
  metrics.gauges('quittance_hand_overs', 'Hand-overs in the database, by state.', 'state', () => store.counts());
  metrics.gauge('quittance_reviews_waiting', 'Receipted messages that wait for an operator.', async () => {
    return (await waitingReviews(store)).count;
  });
  metrics.gauge('quittance_review_oldest_seconds', 'Since when the oldest of them waits; 0: none does.', async () => {
    const { oldest } = await waitingReviews(store);
    return oldest === null ? 0 : (now() - oldest) / 1000;
  });
  metrics.gauge('quittance_in_flight', 'Messages that are being worked on.', inFlight);
  metrics.gauge('quittance_strangers', 'Messages here from addresses that are not known.', strangers);
  metrics.gauge('quittance_buffered_bytes', 'Request bodies held in memory.', () => budget.used);
  metrics.gauge('quittance_audit_gaps_total', 'Suppressions since the start that could not be recorded.', () =>
    store.gaps(),
  );
  metrics.gauge('quittance_dropped_refusals_total', 'Refusals since the start that could not be recorded.', () =>
    store.droppedRefusals(),
  );
  let before = performance.eventLoopUtilization();
  metrics.gauge('quittance_event_loop_utilization', 'Busy share of the event loop since the last look, 0 to 1.', () => {
    const since = performance.eventLoopUtilization(before);
    before = performance.eventLoopUtilization();
    return since.utilization;
  });
  metrics.gauge('quittance_resident_bytes', 'Resident memory of the process.', () => process.memoryUsage.rss());
  metrics.gauge('quittance_cpu_seconds_total', 'CPU time of the process since its start.', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
}
