import { Worker } from 'node:worker_threads';
import { workerFile } from '../worker-file.ts';
import type { BlobIndex, FromWorker, OperationName, Operations, WireBatch, WireCall, WireError } from './protocol.ts';
import { StoreError } from './types.ts';
import type { WorkerSettings } from './worker.ts';

/** Takes a byte string into the batch and gives its index there. */
export type AddBlob = (bytes: Uint8Array) => BlobIndex;

interface Waiting {
  readonly name: OperationName;
  readonly args: unknown;
  readonly blobs: readonly Uint8Array[];
  readonly size: number;
  readonly resolve: (value: never) => void;
  readonly reject: (error: StoreError) => void;
}

/** Looked up for each message that comes in; they need not see what is still to be recorded, and should not wait for its commit. */
const lookUps: ReadonlySet<OperationName> = new Set<OperationName>(['findRequest', 'find']);
/** How long a record that nobody waits for may gather others, ms. */
const gather = 50;
const callsPerBatch = 256;
const bytesPerBatch = 16 * 1024 * 1024;

/**
 * The main side of the thread. While the worker is busy calls wait here and then go over as one message: its queue *is* the group
 * commit, without a timer. Byte strings are copied once, into one buffer that is handed over.
 */
export class WorkerQueue {
  readonly #worker: Worker;
  readonly #onFatal: (error: StoreError) => void;
  readonly #exited: Promise<void>;
  #waiting: Waiting[] = [];
  /** Records that nobody waits for: they share a commit with each other, or with the next call that is no look-up. */
  #gathered: Waiting[] = [];
  #gathering: NodeJS.Timeout | null = null;
  #sent: Waiting[] = [];
  #scheduled = false;
  #dead: StoreError | null = null;

  private constructor(worker: Worker, onFatal: (error: StoreError) => void) {
    this.#worker = worker;
    this.#onFatal = onFatal;
    this.#exited = new Promise((resolve) => void worker.once('exit', () => resolve()));
    worker.on('message', (message: FromWorker) => this.#received(message));
    worker.on('error', (error) =>
      this.#die(new StoreError('fatal', `The store's thread failed: ${error.message}`, error)),
    );
    worker.on('exit', () => this.#die(new StoreError('closed', 'The store is closed.')));
  }

  /** @throws StoreError when the database cannot be opened */
  static async start(settings: WorkerSettings, onFatal: (error: StoreError) => void): Promise<WorkerQueue> {
    const worker = new Worker(workerFile(import.meta.url, 'worker'), { workerData: settings });
    const first = await new Promise<FromWorker>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
      worker.once('exit', () => reject(new StoreError('fatal', 'The thread of the store ended before it was ready.')));
    });
    if (first.kind === 'failed') throw storeErrorOf(first.error);
    return new WorkerQueue(worker, onFatal);
  }

  /** Calls not yet answered. */
  get length(): number {
    return this.#waiting.length + this.#gathered.length + this.#sent.length;
  }

  call<K extends OperationName>(
    name: K,
    build: (add: AddBlob) => Operations[K]['args'],
  ): Promise<Operations[K]['result']> {
    if (this.#dead) return Promise.reject(this.#dead);
    if (!lookUps.has(name)) this.#release();
    return this.#enqueue(name, build, (waiting) => {
      this.#waiting.push(waiting);
      this.#schedule();
    });
  }

  /** {@link call} for a record that nobody waits for: goes over within 50 ms, or before the next call that is no look-up. */
  record<K extends OperationName>(
    name: K,
    build: (add: AddBlob) => Operations[K]['args'],
  ): Promise<Operations[K]['result']> {
    if (this.#dead) return Promise.reject(this.#dead);
    return this.#enqueue(name, build, (waiting) => {
      this.#gathered.push(waiting);
      if (this.#gathered.length >= callsPerBatch) this.#release();
      else this.#gathering ??= setTimeout(() => this.#release(), gather);
    });
  }

  #release(): void {
    if (this.#gathering !== null) clearTimeout(this.#gathering);
    this.#gathering = null;
    if (this.#gathered.length === 0) return;
    this.#waiting.push(...this.#gathered);
    this.#gathered = [];
    this.#schedule();
  }

  #enqueue<K extends OperationName>(
    name: K,
    build: (add: AddBlob) => Operations[K]['args'],
    take: (waiting: Waiting) => void,
  ): Promise<Operations[K]['result']> {
    const blobs: Uint8Array[] = [];
    let size = 0;
    const args = build((bytes) => {
      size += bytes.length;
      return blobs.push(bytes) - 1;
    });
    return new Promise((resolve, reject) => take({ name, args, blobs, size, resolve, reject }));
  }

  /** Waits for what is queued, then ends the thread. */
  async close(): Promise<void> {
    this.#release();
    while (this.length > 0) await new Promise((resolve) => setTimeout(resolve, 1));
    if (!this.#dead) {
      this.#dead = new StoreError('closed', 'The store is closed.');
      this.#worker.postMessage({ kind: 'close' });
    }
    await this.#exited;
  }

  #schedule(): void {
    if (this.#scheduled || this.#sent.length > 0 || this.#waiting.length === 0) return;
    this.#scheduled = true;
    // After this turn of the loop: what else it asks for belongs to the same commit.
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#dead || this.#waiting.length === 0) return;
      const batch = this.#take();
      this.#worker.postMessage({ kind: 'batch', batch }, [batch.bytes]);
    });
  }

  #take(): WireBatch {
    let count = 0;
    let size = 0;
    for (const w of this.#waiting) {
      if (count > 0 && (count === callsPerBatch || size + w.size > bytesPerBatch)) break;
      count++;
      size += w.size;
    }
    this.#sent = this.#waiting.slice(0, count);
    this.#waiting = this.#waiting.slice(count);
    const bytes = new Uint8Array(size);
    const offsets = [0];
    const calls: WireCall[] = [];
    let at = 0;
    for (const { name, args, blobs } of this.#sent) {
      calls.push({ name, args, firstBlob: offsets.length - 1 });
      for (const blob of blobs) {
        bytes.set(blob, at);
        at += blob.length;
        offsets.push(at);
      }
    }
    return { calls, bytes: bytes.buffer, offsets };
  }

  #received(message: FromWorker): void {
    if (message.kind === 'fatal') this.#die(storeErrorOf(message.error));
    if (message.kind !== 'replies') return;
    const sent = this.#sent;
    if (message.last) {
      this.#sent = [];
      this.#schedule();
    }
    for (const [i, reply] of message.replies) {
      const waiting = sent[i];
      if (!waiting) continue;
      if ('value' in reply) waiting.resolve(reply.value as never);
      else {
        const error = storeErrorOf(reply.error);
        waiting.reject(error);
        if (error.code === 'fatal') this.#die(error);
      }
    }
  }

  #die(error: StoreError): void {
    if (this.#dead) return;
    this.#dead = error;
    const lost = [...this.#sent, ...this.#waiting, ...this.#gathered];
    if (this.#gathering !== null) clearTimeout(this.#gathering);
    this.#gathered = [];
    this.#sent = [];
    this.#waiting = [];
    for (const w of lost) w.reject(error);
    if (error.code === 'fatal') this.#onFatal(error);
  }
}

const storeErrorOf = ({ code, message }: WireError) => new StoreError(code, message);
