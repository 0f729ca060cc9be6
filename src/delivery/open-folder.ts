import type { HandOver, Outbox } from '../store/types.ts';
import { DeliveryError } from './delivery-error.ts';
import type { FileWorker } from './file-worker.ts';
import type { FolderState, MarkerIds } from './protocol.ts';

export interface OpenFolderOptions {
  readonly outbox: Outbox;
  readonly files: Pick<FileWorker, 'run'>;
  /** The operator says that this database is a restored copy: rows up to this number become `unknown`. Null: nobody said so. */
  readonly restoredUpTo: number | null;
  readonly newId: () => string;
  readonly now: () => number;
}

export interface OpenedFolder {
  readonly ids: MarkerIds;
  /** The highest hand-over number that staging's marker says. */
  readonly highest: number;
}

/**
 * Looks whether the folder is this database's, without changing anything.
 * @throws {DeliveryError} `restored` when the folder is ahead of the database and nobody said that this is expected; `file-systems`
 */
export async function inspectFolder(
  o: OpenFolderOptions,
): Promise<{ state: FolderState; ids: MarkerIds | null; known: number }> {
  const ids = await o.outbox.markers();
  const state = await o.files.run('inspect', { ids, known: await o.outbox.highestHandOver() });
  // Read after the marker: another process may be handing over new numbers meanwhile.
  const known = await o.outbox.highestHandOver();
  if (state.kind !== 'wrong' && state.highest > known && o.restoredUpTo === null) {
    const text =
      `the folder has been handed hand-over number ${state.highest}, but the database knows only ${known}: it is a restored or another ` +
      'copy. Start with --restored if that is meant: what is waiting in it becomes "unknown" and is delivered only when you say so';
    throw new DeliveryError('restored', text);
  }
  return { state, ids, known };
}

/**
 * Makes sure that the folder is this database's: makes it at the first start, and settles a restored database. Only for the holder
 * of the lock.
 * @throws {DeliveryError} `held` when it is not; every row in `handingOver` is `unknown` then (architecture §4)
 */
export async function openFolder(o: OpenFolderOptions): Promise<OpenedFolder> {
  const { state, ids, known } = await inspectFolder(o);
  if (state.kind === 'wrong') {
    await forEachRow(
      () => o.outbox.inState('handingOver', 100),
      (row) => o.outbox.reconcile(row.number, 'lost', o.now()),
    );
    throw new DeliveryError('held', state.what);
  }
  // Whatever the marker says: a copy that had given its messages their numbers before it was made knows the same highest one.
  if (o.restoredUpTo !== null) await forgetPending(o, o.restoredUpTo);
  // Only now: until then the difference is what makes a start without the operator's word refuse.
  if (state.highest > known) await o.outbox.raiseHandOvers(state.highest);
  if (state.kind === 'right' && ids !== null) return { ids, highest: state.highest };
  const highest = Math.max(state.highest, known);
  const made = ids ?? { inbox: o.newId(), staging: o.newId() };
  // Files first: a database with ids and no markers would hold everything back, a marker without a database is taken over.
  await o.files.run('mark', { ids: made, highest });
  if (ids === null) await o.outbox.setMarkers(made);
  return { ids: made, highest };
}

async function forgetPending(o: OpenFolderOptions, upTo: number): Promise<void> {
  const old = (rows: HandOver[]): HandOver[] => rows.filter((row) => row.number <= upTo);
  const event = (row: HandOver): Promise<void> => o.outbox.reconcile(row.number, 'restored', o.now());
  await forEachRow(async () => old(await o.outbox.inState('handingOver', 100)), event);
  await forEachRow(async () => old(await o.outbox.pending(100)), event);
}

/** Settles pages of rows until none is left; each row must leave the page. */
async function forEachRow(read: () => Promise<HandOver[]>, settle: (row: HandOver) => Promise<void>): Promise<void> {
  let last = -1;
  for (let rows = await read(); rows.length > 0; rows = await read()) {
    const first = rows[0]?.number ?? -1;
    if (first === last)
      throw new DeliveryError('trouble', `hand-over ${first} cannot be settled; look at its decisions`);
    last = first;
    for (const row of rows) await settle(row);
  }
}
