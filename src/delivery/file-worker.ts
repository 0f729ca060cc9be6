import { Worker } from 'node:worker_threads';
import { workerFile } from '../worker-file.ts';
import { DeliveryError } from './delivery-error.ts';
import type { Operation, Operations, WorkerReply, WorkerSettings } from './protocol.ts';

export interface FileWorkerOptions {
  readonly settings: Omit<WorkerSettings, 'progress'>;
  /** Milliseconds without any progress after which the inbox counts as hung. */
  readonly hangTimeout: number;
  /** Called when that is so, and with false when it answers again. */
  readonly onHang: (hung: boolean) => void;
}

interface Pending {
  readonly resolve: (answer: never) => void;
  readonly reject: (error: Error) => void;
}

/**
 * The main thread's hold on the one thread that works on the files. There is never a second one: a file call that hangs cannot be
 * cancelled, so the thread is waited for, and what it does later happens under the same lock.
 */
export class FileWorker {
  readonly #o: FileWorkerOptions;
  readonly #progress = new SharedArrayBuffer(4);
  #worker: Worker | null = null;
  #pending: Pending | null = null;
  #watch: NodeJS.Timeout | undefined;
  #hung = false;
  #closed = false;

  constructor(options: FileWorkerOptions) {
    this.#o = options;
  }

  /** One at a time. Rejects with DeliveryError: `worker` when the thread ended, else what the worker says. */
  run<K extends Operation>(operation: K, request: Operations[K]['request']): Promise<Operations[K]['answer']> {
    if (this.#closed) return Promise.reject(stopped());
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
      this.#worker ??= this.#start();
      this.#worker.postMessage({ operation, request });
      this.#watchProgress();
    });
  }

  #start(): Worker {
    const worker = new Worker(workerFile(import.meta.url, 'worker'), {
      name: 'delivery',
      workerData: { ...this.#o.settings, progress: this.#progress } satisfies WorkerSettings,
    });
    worker.on('message', ({ answer, error }: WorkerReply) => {
      const pending = this.#settle();
      if (error) pending?.reject(new DeliveryError(error.code, error.message));
      else pending?.resolve(answer as never);
    });
    let cause: unknown;
    worker.on('error', (error) => {
      cause = error;
    });
    worker.on('exit', () => {
      this.#worker = null;
      const text = `the thread that writes the files ended: ${String(cause)}`;
      this.#settle()?.reject(this.#closed ? stopped() : new DeliveryError('worker', text, cause));
    });
    return worker;
  }

  #settle(): Pending | null {
    clearTimeout(this.#watch);
    if (this.#hung) this.#o.onHang(false);
    this.#hung = false;
    const pending = this.#pending;
    this.#pending = null;
    return pending;
  }

  #watchProgress(): void {
    const counter = new Int32Array(this.#progress);
    const before = Atomics.load(counter, 0);
    this.#watch = setTimeout(() => {
      if (Atomics.load(counter, 0) === before && !this.#hung) {
        this.#hung = true;
        this.#o.onHang(true);
      }
      this.#watchProgress();
    }, this.#o.hangTimeout);
    this.#watch.unref();
  }

  get hung(): boolean {
    return this.#hung;
  }

  /**
   * Ends the thread, also in the middle of a request.
   * @returns false when a hung file call keeps it; `onEnd` is called when it ends after all
   */
  async stop(onEnd: () => void): Promise<boolean> {
    this.#closed = true;
    const worker = this.#worker;
    if (worker === null) return true;
    worker.once('exit', onEnd);
    const ended = await Promise.race([worker.terminate().then(() => true), pause(500).then(() => false)]);
    if (!ended) {
      worker.unref();
      this.#settle()?.reject(stopped());
    }
    return ended;
  }
}

function stopped(): DeliveryError {
  return new DeliveryError('stopped', 'the delivery has been stopped');
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
