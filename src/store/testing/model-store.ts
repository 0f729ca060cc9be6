import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { ClockKeeper } from '../clock-keeper.ts';
import { Engine } from '../engine.ts';
import type { OperationName, Operations, PurgeLimits } from '../protocol.ts';
import type { NewMessage } from '../types.ts';
import { StoreError } from '../types.ts';
import { wireMessage } from '../wire.ts';
import type { AddBlob, WorkerQueue } from '../worker-queue.ts';
import { day } from './sample.ts';

/** The process is gone, in the middle of what it was asked. */
export class Crash extends Error {}
export type CrashPoint = 'before-commit' | 'after-commit';

/** What the machine's clocks say: wall and monotonic go together, until somebody sets the wall clock. */
export class ModelClock {
  #passed = 0;
  offset = 0;
  readonly #start: number;
  constructor(start: number) {
    this.#start = start;
  }
  now = (): number => this.#start + this.#passed + this.offset;
  monotonic = (): number => this.#passed;
  sinceBoot = (): number => this.#passed;
  pass(ms: number): void {
    this.#passed += ms;
  }
}

/**
 * The store's engine in this thread, with everything that decides in it, on a file system in memory: thousands of sequences a minute.
 * What is left out is the thread, its queue and the fsyncs, which have tests of their own.
 */
export class ModelStore {
  readonly clock: ModelClock;
  /** A connection of its own, as somebody who looks at the database beside us. */
  readonly observer: Database.Database;
  readonly #directory = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'quittance-model-'));
  readonly #window: number;
  #engine!: Engine;
  #keeper!: ClockKeeper;
  #crash: CrashPoint | null = null;

  private constructor(clock: ModelClock, window: number) {
    this.clock = clock;
    this.#window = window;
    this.#openEngine();
    this.observer = new Database(join(this.#directory, 'model.db'), { timeout: 2000 });
  }

  static async open(start: number, window: number): Promise<ModelStore> {
    const store = new ModelStore(new ModelClock(start), window);
    await store.#startKeeper();
    return store;
  }

  #openEngine(): void {
    this.#engine = new Engine({
      ...{ path: join(this.#directory, 'model.db'), contentDir: join(this.#directory, 'content') },
      ...{ refusalRing: 100, exceptionsPerHour: 1_000_000 },
      checkpoint: (name) => {
        if (name !== this.#crash) return;
        this.#crash = null;
        throw new Crash(name);
      },
    });
  }

  async #startKeeper(): Promise<void> {
    const queue = { call: this.call.bind(this) } as unknown as WorkerQueue;
    const hash = async () => ({ upTo: 0, hash: '', since: 0 });
    this.#keeper = await ClockKeeper.start(queue, {
      ...{ clock: this.clock, heartbeat: true, hash, onAuditHash: () => {} },
    });
  }

  /** The next transaction that matters is not committed, or committed and never answered. */
  crashAt(point: CrashPoint | null): void {
    this.#crash = point;
  }

  /** Nothing is told to what was open, as when a process is killed; then the next one starts. */
  async restart(offFor = 0): Promise<void> {
    this.#crash = null;
    this.#keeper.stop();
    this.#engine.close();
    this.clock.pass(offFor);
    this.#openEngine();
    await this.#startKeeper();
  }

  async call<K extends OperationName>(
    name: K,
    build: (add: AddBlob) => Operations[K]['args'],
  ): Promise<Operations[K]['result']> {
    const blobs: Uint8Array[] = [];
    const args = build((bytes) => blobs.push(bytes) - 1);
    const bytes = Buffer.concat(blobs);
    const offsets = [0];
    for (const { length } of blobs) offsets.push((offsets.at(-1) ?? 0) + length);
    const buffer = new Uint8Array(bytes).buffer;
    const replies = this.#engine.run({ calls: [{ name, args, firstBlob: 0 }], bytes: buffer, offsets }, [0]);
    const [reply] = replies === 'busy' ? [] : replies;
    if (reply === undefined) throw new Error(`${name} found the database busy`);
    if ('error' in reply) throw new StoreError(reply.error.code, reply.error.message);
    return reply.value as Operations[K]['result'];
  }

  /** The time by which windows are judged. */
  judged(): number {
    return this.#keeper.effective(this.clock.now());
  }

  /** What a running process does by the hour. */
  async beat(): Promise<void> {
    this.#keeper.doubt();
    await this.call('heartbeat', () => ({ at: this.clock.now() }));
  }

  get doubted(): boolean {
    return this.#keeper.doubt() !== null;
  }

  clockIsRight(by: string): Promise<void> {
    const actor = { by, reason: 'looked at it', osUser: by, host: 'ops' };
    return this.#keeper.confirm(actor, this.clock.now());
  }

  accept(m: NewMessage): Promise<Operations['accept']['result']> {
    return this.call('accept', (add) => wireMessage(m, [], this.judged(), add));
  }

  async purge(payloadRetention: number, evidenceRetention: number): Promise<void> {
    const now = this.clock.now();
    const limits: PurgeLimits = { now, payloadRetention, evidenceRetention, auditRetention: 0, window: this.#window };
    for (;;) {
      const { files: _, ...counts } = await this.call('purgeStep', () => limits);
      if (Object.values(counts).every((n) => n === 0)) return;
    }
  }

  /** Between sequences: much later, with the clock as it should be, and without what the last one left. */
  async refresh(): Promise<void> {
    this.#crash = null;
    this.clock.offset = 0;
    this.clock.pass(3000 * day);
    await this.clockIsRight('the test');
    for (const table of ['held', 'outbox', 'message_key', 'interchange', 'message'])
      this.observer.exec(`DELETE FROM ${table}`);
  }

  close(): void {
    this.#keeper.stop();
    this.#engine.close();
    this.observer.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
