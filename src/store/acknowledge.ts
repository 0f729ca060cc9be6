import type { Db } from './database.ts';
import { wordsFor } from './exceptions.ts';
import type { OperatorOutcome } from './operator-types.ts';
import type { Operation } from './protocol.ts';
import type { Transitions } from './transitions.ts';
import type { HandOverState } from './types.ts';

interface Row {
  number: number;
  message: number;
  messageId: string;
  state: HandOverState;
}

/** Directory names end in the hand-over's number (architecture §4). */
const numberInName = /_(\d{1,15})\/?$/;

/**
 * The backend says that it has a message. A directory's name means exactly its own hand-over; a message's id the newest one that the
 * backend can have seen. It may come late, twice, or before our own mark: no terminal state is ever lowered.
 */
export function prepareAcknowledge(db: Db, transitions: Transitions): Operation<'acknowledge'> {
  const select = `SELECT o.number, o.message, o.state, m.message_id AS messageId FROM outbox o JOIN message m ON m.id = o.message`;
  const byDirectory = db.prepare(`${select} WHERE o.number = ? AND o.directory = ?`);
  const byMessage = db.prepare(`${select} WHERE o.message = ? ORDER BY o.number DESC`);
  const byMessageId = db.prepare(`${select} WHERE m.message_id = ? ORDER BY o.number DESC`);

  function rowsOf(id: string): Row[] {
    const name = id.replace(/\/+$/, '').split('/').at(-1) ?? '';
    const number = numberInName.exec(name)?.[1];
    const own = number === undefined ? undefined : (byDirectory.get(Number(number), name) as Row | undefined);
    if (own) return [own];
    const rows = /^\d{1,15}$/.test(id) ? (byMessage.all(Number(id)) as Row[]) : [];
    // A number may be the MessageId of another message: then both are meant, which is refused.
    return [...rows, ...(byMessageId.all(id) as Row[])];
  }

  return {
    writes: true,
    run({ id, actor, now }): OperatorOutcome {
      const rows = rowsOf(id);
      const [newest] = rows;
      if (!newest) {
        const text = `There is no hand-over of ${id}: it was never received, has no document, or was purged.`;
        return { kind: 'refused', reason: 'not-found', text };
      }
      if (new Set(rows.map((r) => r.message)).size > 1) {
        const text = `There are several messages ${id}: name the one you mean by its number in the list, or by its directory.`;
        return { kind: 'refused', reason: 'not-found', text };
      }
      const seen = (r: Row) => r.state === 'delivered' || r.state === 'acknowledged';
      const row = rows.find(seen) ?? rows.find((r) => r.state === 'handingOver' || r.state === 'unknown') ?? newest;
      const order = { decision: 'acknowledge', actor };
      const { state, applied } = transitions.apply(row.number, 'acknowledge', now, () => ({}), order);
      const { message, messageId, number: handOver } = row;
      if (applied) return { kind: 'done', message, messageId, handOver, state, already: row.state === 'acknowledged' };
      const text = `Message ${messageId} is ${wordsFor(state)}: the backend cannot have got it.`;
      return { kind: 'refused', reason: 'state', text };
    },
  };
}
