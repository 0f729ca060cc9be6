import { prepareAccept } from './accept.ts';
import { prepareAudit, prepareRefusals, prepareSuppress } from './audit.ts';
import { prepareChains } from './chains.ts';
import type { Db } from './database.ts';
import { prepareOutbox } from './outbox.ts';
import type { OperationTable } from './protocol.ts';
import { preparePurge } from './purge.ts';
import { prepareRecall } from './recall.ts';
import { prepareReports } from './reports.ts';

export interface OperationOptions {
  readonly contentDir: string;
  readonly refusalRing: number;
}

/** Prepares every statement once. `forget` must be called after each rollback. */
export function prepareOperations(db: Db, o: OperationOptions): OperationTable & { forget(): void } {
  const chains = prepareChains(db);
  const audit = prepareAudit(db);
  return {
    ...prepareRecall(db, chains),
    accept: prepareAccept(db, chains, audit),
    suppress: prepareSuppress(db, audit),
    ...prepareRefusals(db, o.refusalRing),
    ...prepareReports(db, chains),
    ...prepareOutbox(db, audit, o.contentDir),
    ...preparePurge(db),
    forget: () => chains.forget(),
  };
}
