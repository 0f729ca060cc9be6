import { crashAt } from '../checkpoint.ts';
import { Alarm } from './alarm.ts';
import { Attention, type Degradation } from './attention.ts';
import { Batches } from './batches.ts';
import { readBootId } from './boot-id.ts';
import { DeliveryError } from './delivery-error.ts';
import { batchSize, type DeliveryTiming, type FolderDeliveryOptions, silent, usualTiming } from './delivery-options.ts';
import { FileWorker } from './file-worker.ts';
import { groupId } from './group.ts';
import { DeliveryLock } from './lock.ts';
import type { DeliveryLog } from './log.ts';
import { inspectFolder, type OpenedFolder, type OpenFolderOptions, openFolder } from './open-folder.ts';
import { reconcile } from './reconcile.ts';

/** Hands accepted messages over to the backend (architecture §4). */
export interface Delivery {
  /**
   * Looks at the folder and goes to work in the background. Troubles that may pass never reject: deliveries wait.
   * @throws {DeliveryError} `restored`, `file-systems`: do not serve
   */
  start(): Promise<void>;
  /** A message was accepted. Costs nothing, and is never needed: there is a slow poll. */
  wake(): void;
  /** Finishes the batch in hand. Returns within seconds also when the inbox hangs. */
  stop(): Promise<void>;
  degraded(): Degradation[];
  /** Resolves once nothing that was there at the call is waiting to be delivered; for tests. */
  idle(): Promise<void>;
  /**
   * After stop(): a hung file call keeps the thread, and would keep the process: Node joins its threads in process.exit(). What ends
   * it is a signal with its default action (remove the SIGTERM listeners, then `process.kill(process.pid, 'SIGTERM')`).
   */
  readonly stuck: boolean;
}

/** Delivers into a folder. All file work is in a thread of its own. */
export function folderDelivery(options: FolderDeliveryOptions): Delivery {
  return new FolderDelivery(options);
}

class FolderDelivery implements Delivery {
  readonly #o: FolderDeliveryOptions;
  readonly #timing: DeliveryTiming;
  readonly #now: () => number;
  readonly #log: DeliveryLog;
  readonly #bootId: string;
  readonly #files: FileWorker;
  readonly #lock: DeliveryLock;
  readonly #batches: Batches;
  readonly #attention: Attention;
  readonly #alarm = new Alarm();
  readonly #halt = new Alarm();
  readonly #folder: Omit<OpenFolderOptions, 'restoredUpTo'>;
  #restoredUpTo: number | null = null;
  #opened: () => void = () => {};
  #stopping = false;
  #running: Promise<void> | null = null;
  #round = 0;
  #waiters: { readonly after: number; readonly resolve: () => void }[] = [];
  stuck = false;

  constructor(o: FolderDeliveryOptions) {
    this.#o = o;
    this.#timing = { ...usualTiming, ...o.timing };
    this.#now = o.now ?? Date.now;
    this.#log = o.log ?? silent;
    this.#bootId = o.bootId ?? readBootId();
    this.#attention = new Attention(this.#now);
    this.#lock = new DeliveryLock(o.lockFile);
    const { inbox, staging, mode = null } = o;
    this.#files = new FileWorker({
      settings: { inbox, staging, mode, gid: groupId(o.group ?? ''), crashAt: o.crashAt },
      hangTimeout: this.#timing.hang,
      onHang: (hung) => {
        this.#attention.hung(hung);
        this.#log.warn({ inbox }, hung ? 'the inbox does not answer' : 'the inbox answers again');
      },
    });
    const { outbox, newId } = o;
    this.#folder = { outbox, newId, files: this.#files, now: this.#now };
    this.#batches = new Batches({
      outbox,
      files: this.#files,
      bootId: this.#bootId,
      now: this.#now,
      checkpoint: crashAt(o.crashAt),
      size: batchSize,
      retryDelay: this.#timing.retry,
      log: this.#log,
    });
  }

  async start(): Promise<void> {
    if (this.#o.restored) this.#restoredUpTo = await this.#o.outbox.highestHandOver();
    let refusal: DeliveryError | null = null;
    const looked = inspectFolder(this.#folderOptions()).then(
      () => {},
      (error: unknown) => {
        // Anything else is met again, and reported, by the one who holds the lock.
        if (error instanceof DeliveryError && (error.code === 'restored' || error.code === 'file-systems'))
          refusal = error;
      },
    );
    await Promise.race([looked, this.#patience()]);
    if (refusal !== null) {
      await this.stop();
      throw refusal;
    }
    const opened = new Promise<void>((resolve) => {
      this.#opened = resolve;
    });
    this.#running = looked.then(() => this.#work());
    // Until the folder is open, a restored database would give numbers to new messages that the backend has seen.
    if (this.#o.restored) await Promise.race([opened, this.#running, this.#patience()]);
  }

  #patience(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, this.#timing.patience).unref());
  }

  wake(): void {
    this.#alarm.ring();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#alarm.ring();
    this.#halt.ring();
    const deadline = performance.now() + this.#timing.patience;
    let working = this.#running !== null;
    const ended = this.#running?.finally(() => {
      working = false;
    });
    while (working && !this.#files.hung && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    this.stuck = !(await this.#files.stop(() => this.#lock.release()));
    await ended;
    // A thread that may still rename something keeps the lock until it or the process is gone.
    if (!this.stuck) this.#lock.release();
    for (const waiter of this.#waiters) waiter.resolve();
  }

  degraded(): Degradation[] {
    return this.#attention.list();
  }

  idle(): Promise<void> {
    if (this.#stopping) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiters.push({ after: this.#round, resolve });
      this.#alarm.ring();
    });
  }

  #folderOptions(): OpenFolderOptions {
    return { ...this.#folder, restoredUpTo: this.#restoredUpTo };
  }

  async #work(): Promise<void> {
    let failures = 0;
    while (!this.#stopping) {
      try {
        if (!this.#lock.acquire()) {
          await this.#halt.sleep(this.#timing.lockRetry);
          continue;
        }
        const folder = await openFolder(this.#folderOptions());
        // Said once: what an operator releases from now on is to be delivered, also after the folder was in trouble.
        this.#restoredUpTo = null;
        this.#opened();
        const { outbox, afterPowerLoss = 'deliver' } = this.#o;
        const found = await reconcile({
          outbox,
          files: this.#files,
          bootId: this.#bootId,
          afterPowerLoss,
          now: this.#now,
        });
        if (found.delivered + found.afterPowerLoss + found.lost > 0) this.#log.warn(found, 'reconciled');
        await this.#deliverUntilStopped(folder, () => {
          failures = 0;
        });
      } catch (error) {
        if (this.#stopping) return;
        this.#report(error);
        // Whatever wakes us: a folder in trouble is not asked more often because more messages come in.
        await this.#halt.sleep(Math.min(this.#timing.retry * 2 ** failures++, this.#timing.retryMost));
      }
    }
  }

  async #deliverUntilStopped(folder: OpenedFolder, onSuccess: () => void): Promise<void> {
    while (!this.#stopping) {
      const round = ++this.#round;
      const { done, next } = await this.#batches.run(folder);
      onSuccess();
      if (this.#attention.over()) this.#log.info({ inbox: this.#o.inbox }, 'deliveries go on');
      if (done === batchSize) continue;
      if (done === 0) {
        if (next === null) this.#wakeWaiters(round);
        await this.#alarm.sleep(Math.min(this.#timing.poll, next ?? this.#timing.poll));
      }
      await this.#halt.sleep(this.#timing.gather);
    }
  }

  #wakeWaiters(round: number): void {
    const done = this.#waiters.filter((waiter) => waiter.after < round);
    this.#waiters = this.#waiters.filter((waiter) => waiter.after >= round);
    for (const waiter of done) waiter.resolve();
  }

  #report(error: unknown): void {
    const what = error instanceof Error ? error.message : String(error);
    if (this.#attention.trouble(what)) this.#log.error({ err: error, inbox: this.#o.inbox }, 'deliveries wait');
  }
}
