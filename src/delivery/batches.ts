import type { Checkpoint } from '../checkpoint.ts';
import type { HandOver, Outbox } from '../store/types.ts';
import { DeliveryError } from './delivery-error.ts';
import type { FileWorker } from './file-worker.ts';
import type { DeliveryLog } from './log.ts';
import { directoryName } from './names.ts';
import type { OpenedFolder } from './open-folder.ts';
import { settleRenames } from './reconcile.ts';

export interface BatchesOptions {
  readonly outbox: Outbox;
  readonly files: Pick<FileWorker, 'run'>;
  readonly bootId: string;
  readonly now: () => number;
  readonly checkpoint: Checkpoint;
  /** At most this many messages share their fsyncs. */
  readonly size: number;
  /** Milliseconds before a message that failed is tried again; doubled each time. */
  readonly retryDelay: number;
  readonly log: DeliveryLog;
}

/** Hands messages over in batches (architecture §4). What goes wrong with the folder is thrown; what is wrong with a message is not. */
export class Batches {
  readonly #o: BatchesOptions;
  #highest = 0;
  /** Were in a batch that failed, or failed: tried alone, so that the error is surely theirs. */
  readonly #alone = new Set<number>();
  /** When a message that failed is due again, epoch ms. */
  readonly #due = new Map<number, number>();

  constructor(options: BatchesOptions) {
    this.#o = options;
  }

  /**
   * Works on one batch.
   * @returns `done`: how many messages were in it; `next`: ms until a message that failed before is due, null when none waits
   */
  async run(folder: OpenedFolder): Promise<{ done: number; next: number | null }> {
    const rows = await this.#o.outbox.pending(this.#o.size + this.#due.size);
    if (rows.length === 0) this.#forget();
    const now = this.#o.now();
    const due = rows.filter((row) => (this.#due.get(row.number) ?? 0) <= now).slice(0, this.#o.size);
    if (due.length === 0) {
      const times = rows.map((row) => (this.#due.get(row.number) ?? now) - now);
      return { done: 0, next: times.length === 0 ? null : Math.min(...times) };
    }
    const single = due.find((row) => this.#alone.has(row.number));
    await this.#deliver(single === undefined ? due : [single], folder);
    return { done: single === undefined ? due.length : 1, next: null };
  }

  #forget(): void {
    this.#alone.clear();
    this.#due.clear();
  }

  async #deliver(rows: readonly HandOver[], { ids, highest }: OpenedFolder): Promise<void> {
    const jobs = rows.map((handOver) => {
      const { receivedAt, messageId } = handOver.message;
      return { handOver, directory: directoryName(receivedAt, messageId, handOver.number) };
    });
    this.#highest = Math.max(this.#highest, highest, ...rows.map((row) => row.number));
    const errors = new Map<number, string>();
    try {
      for (const { number, error } of await this.#o.files.run('stage', { ids, highest: this.#highest, jobs })) {
        if (error !== null) errors.set(number, error);
      }
    } catch (error) {
      // The thread died of one of these messages; of which one, trying each alone will show.
      if (error instanceof DeliveryError && error.code === 'worker') {
        for (const row of rows) errors.set(row.number, error.message);
        await this.#note(rows, errors);
      }
      throw error;
    }
    await this.#note(rows, errors);
    const staged = jobs.filter((job) => !errors.has(job.handOver.number));
    if (staged.length > 0) await this.#handOver(staged);
  }

  async #note(rows: readonly HandOver[], errors: ReadonlyMap<number, string>): Promise<void> {
    for (const [number, error] of errors) {
      if (rows.length > 1) this.#alone.add(number);
      else await this.#failedAlone(rows[0]!, error);
    }
  }

  async #failedAlone(row: HandOver, error: string): Promise<void> {
    const now = this.#o.now();
    const state = await this.#o.outbox.failed(row.number, error, now);
    const { messageId, sender } = row.message;
    this.#o.log.error(
      { messageId, sender, handOver: row.number, attempts: row.attempts + 1, state, error },
      'not delivered',
    );
    if (state === 'received') {
      this.#alone.add(row.number);
      this.#due.set(row.number, now + this.#o.retryDelay * 2 ** row.attempts);
    } else this.#settled(row.number);
  }

  async #handOver(jobs: readonly { handOver: HandOver; directory: string }[]): Promise<void> {
    const { outbox, files, bootId, now, checkpoint, log } = this.#o;
    const wanted = jobs.map(({ handOver, directory }) => ({ number: handOver.number, directory }));
    const won = new Set(await outbox.startHandingOver(wanted, bootId, now()));
    const winners = jobs.filter((job) => won.has(job.handOver.number));
    const losers = jobs.filter((job) => !won.has(job.handOver.number));
    // Superseded or rejected while it was written.
    if (losers.length > 0) await files.run('discard', { directories: losers.map((job) => job.directory) });
    checkpoint('handing-over');
    if (winners.length > 0) {
      const renames = await files.run('handOver', { directories: winners.map((job) => job.directory) });
      const rows = winners.map((job) => job.handOver);
      const lost = await settleRenames(rows, renames, [], { outbox, now });
      if (renames.unsynced !== null) throw new DeliveryError('trouble', renames.unsynced);
      if (lost > 0) log.error({ lost }, 'staged directories vanished before they were handed over: unknown');
      log.info({ delivered: winners.length - lost, last: winners.at(-1)?.directory }, 'delivered');
    }
    for (const job of jobs) this.#settled(job.handOver.number);
  }

  #settled(number: number): void {
    this.#alone.delete(number);
    this.#due.delete(number);
  }
}
