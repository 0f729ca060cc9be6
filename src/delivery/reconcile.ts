import type { HandOver, Outbox } from '../store/types.ts';
import { DeliveryError } from './delivery-error.ts';
import type { FileWorker } from './file-worker.ts';
import type { Renames } from './protocol.ts';

/** Far more than a batch ever leaves behind: a row that is not read here would lose its staged directory as a leftover. */
const all = 1_000_000;

const none: Renames = { outcomes: [], unsynced: null };

export interface ReconcileOptions {
  readonly outbox: Outbox;
  readonly files: Pick<FileWorker, 'run'>;
  readonly bootId: string;
  readonly afterPowerLoss: 'deliver' | 'review';
  readonly now: () => number;
}

/** What reconciliation did with the rows that it found in `handingOver`. */
export interface Reconciled {
  readonly delivered: number;
  readonly afterPowerLoss: number;
  readonly lost: number;
}

/**
 * Decides each row that a crash left in `handingOver`, by the table of architecture §4, and removes what else is left in staging.
 * The markers have been found right.
 * @throws {DeliveryError} `trouble` when the disk does not make renames durable: what was renamed is `unknown` then
 */
export async function reconcile(o: ReconcileOptions): Promise<Reconciled> {
  const rows = await o.outbox.inState('handingOver', all);
  const { found, unsynced } = await o.files.run('prepare', { keep: rows.flatMap((row) => row.directory ?? []) });
  const there = new Set(found);
  const staged = rows.filter((row) => row.directory !== null && there.has(row.directory));
  const gone = rows.filter((row) => !staged.includes(row));
  if (unsynced !== null) {
    for (const row of gone) await o.outbox.reconcile(row.number, 'lost', o.now());
    throw new DeliveryError('trouble', unsynced);
  }
  const notRenamed = staged.filter((row) => row.bootId === o.bootId);
  const doubtful = staged.filter((row) => row.bootId !== o.bootId);

  const renames =
    notRenamed.length === 0 ? none : await o.files.run('handOver', { directories: notRenamed.map(directoryOf) });
  const lost = await settleRenames(notRenamed, renames, gone, o);
  for (const row of doubtful) {
    // The rule that the message was accepted under comes before the configuration.
    const wanted = row.message.afterPowerLoss ?? o.afterPowerLoss;
    const event = wanted === 'deliver' ? 'redeliverAfterPowerLoss' : 'reviewAfterPowerLoss';
    await o.outbox.reconcile(row.number, event, o.now());
  }
  // Only now: a crash before the commit must find the directory, or it would take the row for delivered.
  if (doubtful.length > 0) await o.files.run('discard', { directories: doubtful.map(directoryOf) });
  if (renames.unsynced !== null) throw new DeliveryError('trouble', renames.unsynced);
  return { delivered: rows.length - doubtful.length - lost, afterPowerLoss: doubtful.length, lost };
}

/**
 * Commits what came of a batch of renames. One that could not be made is `unknown`: something other than us took the directory
 * away, or put another in its place. So is every one when the disk did not make them durable.
 * @param alsoDelivered rows that need no rename any more
 * @returns how many were lost
 */
export async function settleRenames(
  rows: readonly HandOver[],
  { outcomes, unsynced }: Renames,
  alsoDelivered: readonly HandOver[],
  o: Pick<ReconcileOptions, 'outbox' | 'now'>,
): Promise<number> {
  const renamed = unsynced === null ? rows.filter((_, at) => outcomes[at] === 'renamed') : [];
  const delivered = [...alsoDelivered, ...renamed].map((row) => row.number);
  if (delivered.length > 0) await o.outbox.delivered(delivered, o.now());
  const lost = rows.filter((row) => !renamed.includes(row));
  for (const row of lost) await o.outbox.reconcile(row.number, 'lost', o.now());
  return lost.length;
}

function directoryOf(row: HandOver): string {
  return row.directory ?? '';
}
