import type { Audit } from './audit.ts';
import type { Db } from './database.ts';
import type { Actor } from './operator-types.ts';
import { type HandOverEvent, nextState } from './states.ts';
import type { HandOverState } from './types.ts';

/** Columns of a row that an event may change besides its state; absent: left as it is. */
interface Changes {
  bootId?: string | null;
  directory?: string | null;
  attempts?: number;
  reason?: string | null;
  possibleDuplicate?: number;
}

export interface CurrentHandOver {
  readonly number: number;
  readonly message: number;
  readonly sender: string;
  readonly messageId: string;
  readonly state: HandOverState;
  readonly attempts: number;
  readonly bootId: string | null;
  readonly directory: string | null;
  readonly reason: string | null;
  readonly possibleDuplicate: number;
}

/** An operator's order, or the backend's word: recorded under its own name, with who gave it. */
export interface Order {
  readonly decision: string;
  readonly actor: Actor | null;
}

export interface Transitions {
  current(number: number): CurrentHandOver | undefined;
  /** What the table does not allow changes nothing and is recorded. Gives the state now and whether it applied. */
  apply(
    number: number,
    event: HandOverEvent,
    at: number,
    changes: (row: CurrentHandOver) => Changes,
    order?: Order,
  ): { state: HandOverState; applied: boolean };
}

/** Applies events to hand-overs, each decided by the one table in `states.ts` (architecture §4). */
export function prepareTransitions(db: Db, audit: Audit): Transitions {
  const current = db.prepare(
    `SELECT o.number, o.state, o.attempts, o.boot_id AS bootId, o.directory, o.reason, o.possible_duplicate AS possibleDuplicate,
       o.message, m.sender, m.message_id AS messageId FROM outbox o JOIN message m ON m.id = o.message WHERE o.number = ?`,
  );
  const update = db.prepare(
    'UPDATE outbox SET state = ?, at = ?, boot_id = ?, directory = ?, attempts = ?, reason = ?, possible_duplicate = ? WHERE number = ?',
  );
  return {
    current: (number) => current.get(number) as CurrentHandOver | undefined,
    apply(number, event, at, changes, order) {
      const row = current.get(number) as CurrentHandOver | undefined;
      const next = row ? nextState(row.state, event) : null;
      if (!row || next === null) {
        const before = row?.state ?? null;
        const about = { message: row?.message ?? null, id: row ?? null, before };
        audit.decide({
          at,
          decision: 'refusedTransition',
          ...about,
          detail: { number, event },
          actor: order?.actor ?? null,
        });
        return { state: row?.state ?? 'superseded', applied: false };
      }
      if (next === row.state && isFinished(next)) return { state: next, applied: true };
      const { bootId, directory, attempts, reason, possibleDuplicate } = { ...row, ...changes(row) };
      update.run(next, at, bootId, directory, attempts, reason, possibleDuplicate, number);
      if (order || (event !== 'handOver' && event !== 'delivered')) {
        const change = { before: row.state, after: next, reason, actor: order?.actor ?? null, detail: { number } };
        audit.decide({ at, decision: order?.decision ?? event, message: row.message, id: row, ...change });
      }
      return { state: next, applied: true };
    },
  };
}

/** A repeated event on a row that is done leaves it exactly as it is. */
function isFinished(state: HandOverState): boolean {
  return state === 'delivered' || state === 'acknowledged';
}
