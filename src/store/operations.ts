import { prepareAccept } from './accept.ts';
import { prepareAcknowledge } from './acknowledge.ts';
import { prepareAudit } from './audit.ts';
import { prepareAuditChain } from './audit-chain.ts';
import { prepareChains } from './chains.ts';
import { prepareClock } from './clock-store.ts';
import type { Db } from './database.ts';
import { prepareExceptions } from './exceptions.ts';
import { prepareInterchanges } from './interchanges.ts';
import { prepareOutbox } from './outbox.ts';
import type { OperationTable } from './protocol.ts';
import { preparePurge } from './purge.ts';
import { prepareRecall } from './recall.ts';
import { prepareRefusals } from './refusals.ts';
import { prepareReports } from './reports.ts';
import { prepareReviews } from './reviews.ts';
import { prepareStory } from './story.ts';
import { prepareSuppress } from './suppress.ts';
import { prepareTransitions } from './transitions.ts';

export interface OperationOptions {
  readonly contentDir: string;
  readonly refusalRing: number;
  readonly exceptionsPerHour: number;
}

/** Prepares every statement once. `forget` must be called after each rollback. */
export function prepareOperations(db: Db, o: OperationOptions): OperationTable & { forget(): void } {
  const chains = prepareChains(db);
  const audit = prepareAudit(db);
  const interchanges = prepareInterchanges(db);
  const transitions = prepareTransitions(db, audit);
  const reviews = prepareReviews(db, o.contentDir);
  const reports = prepareReports(db, chains);
  const { exceptionsPerHour } = o;
  return {
    ...prepareRecall(db, chains),
    accept: prepareAccept(db, chains, audit, interchanges),
    suppress: prepareSuppress(db, audit),
    ...prepareRefusals(db, audit, o.refusalRing),
    ...reports,
    ...prepareOutbox(db, transitions, o.contentDir),
    ...preparePurge(db),
    ...prepareClock(db, audit),
    reviews: reviews.reviews,
    waitingReviews: reviews.waitingReviews,
    reviewDetail: reviews.reviewDetail,
    ...prepareExceptions(db, { audit, transitions, reviews, interchanges, exceptionsPerHour }),
    acknowledge: prepareAcknowledge(db, transitions),
    ...prepareStory(db, reviews, reports.evidence),
    ...prepareAuditChain(db),
    forget: () => chains.forget(),
  };
}
