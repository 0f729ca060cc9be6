import { backup } from './backup.ts';
import type { AuditHash, OperatorStore } from './operator-types.ts';
import type { Operations, VerifyState } from './protocol.ts';
import type { WorkerQueue } from './worker-queue.ts';

interface Parts {
  readonly path: string;
  readonly contentDir: string;
  readonly hash: (now: number) => Promise<AuditHash>;
}

/** The operator's part of the store; what each call does is on the worker's side. */
export function operatorSide(queue: WorkerQueue, o: Parts): Omit<OperatorStore, 'clockIsRight'> {
  return {
    reviews: (limits) => queue.call('reviews', () => limits),
    waitingReviews: () => queue.call('waitingReviews', () => null),
    reviewDetail: (id) => queue.call('reviewDetail', () => id),
    review: (id, action, actor, now) => queue.call('review', () => ({ id, action, actor: { ...actor }, now })),
    redeliver: (id, actor, now) => queue.call('redeliver', () => ({ id, actor: { ...actor }, now })),
    acknowledge: (id, actor, now) =>
      queue.call('acknowledge', () => ({ id, actor: actor === null ? null : { ...actor }, now })),
    audit: (id) => queue.call('audit', () => id),
    async *auditRange(from, to) {
      for (let after: number | null = 0; after !== null; ) {
        const at: number = after;
        const { rows, next } = await queue.call('auditPage', () => ({ from, to, after: at }));
        yield* rows;
        after = next;
      }
    },
    auditHash: o.hash,
    async verifyAudit() {
      let state: VerifyState | null = null;
      for (;;) {
        const from: VerifyState | null = state;
        const step: Operations['verifyStep']['result'] = await queue.call('verifyStep', () => from);
        if (step.fault !== null || step.done) return step.fault;
        state = { upTo: step.upTo, hash: step.hash };
      }
    },
    backup: (file) => backup(o.path, o.contentDir, file),
  };
}

/** A step at a time, so that messages are committed in between. */
export async function auditHash(queue: WorkerQueue, now: number): Promise<AuditHash> {
  for (;;) {
    const { done, upTo, hash, since } = await queue.call('hashStep', () => ({ now }));
    if (done) return { upTo, hash, since };
  }
}
