import { type ClockDoubt, ClockGuard, type SystemClock } from './clock-guard.ts';
import type { Actor, AuditHash } from './operator-types.ts';
import type { WorkerQueue } from './worker-queue.ts';

const minute = 60_000;
const minutesPerHour = 60;

export interface ClockKeeperOptions {
  readonly clock: SystemClock;
  /** False for commands: they look at the clock and do not testify for it. */
  readonly heartbeat: boolean;
  /** Takes the new decisions into the running hash. */
  readonly hash: (now: number) => Promise<AuditHash>;
  /** Called each hour, for the log. */
  readonly onAuditHash: (hash: AuditHash) => void;
}

/** Watches the clock for one process, writes its heartbeats, and shares a doubt through the database. */
export class ClockKeeper {
  readonly #o: ClockKeeperOptions;
  readonly #queue: WorkerQueue;
  readonly #guard: ClockGuard;
  #known: ClockDoubt | null;
  #shared = false;
  #minutes = 0;
  #timer: NodeJS.Timeout | null = null;

  private constructor(queue: WorkerQueue, guard: ClockGuard, stored: ClockDoubt | null, o: ClockKeeperOptions) {
    this.#o = o;
    this.#queue = queue;
    this.#guard = guard;
    this.#known = stored;
    this.#shared = stored !== null;
  }

  static async start(queue: WorkerQueue, o: ClockKeeperOptions): Promise<ClockKeeper> {
    const stored = await queue.call('clockState', () => null);
    const keeper = new ClockKeeper(queue, new ClockGuard(o.clock, stored), stored.doubt, o);
    keeper.doubt();
    if (o.heartbeat) {
      keeper.#beat();
      keeper.#timer = setInterval(() => void keeper.tick(), minute).unref();
    }
    return keeper;
  }

  /** The time by which windows are judged. */
  effective(now: number): number {
    const at = this.#guard.effective(now);
    this.doubt();
    return at;
  }

  doubt(): ClockDoubt | null {
    const doubt = this.#guard.check();
    if (doubt !== this.#known) {
      this.#known = doubt;
      this.#shared = false;
      this.#share();
    }
    return doubt;
  }

  /** The doubt that any process on this database has. */
  async anyDoubt(): Promise<ClockDoubt | null> {
    const stored = await this.#queue.call('clockState', () => null);
    const own = this.doubt();
    // Ours was written down and is gone: an operator has ended it, in another process.
    if (own !== null && this.#shared && stored.doubt === null) this.#trust();
    return this.#known ?? stored.doubt;
  }

  /** Once a minute. */
  async tick(): Promise<void> {
    try {
      if (this.doubt() !== null) {
        if (!this.#shared) this.#share();
        await this.anyDoubt();
      }
      this.#minutes = (this.#minutes + 1) % minutesPerHour;
      if (this.#minutes !== 0) return;
      this.#beat();
      this.#o.onAuditHash(await this.#o.hash(this.#o.clock.now()));
    } catch {
      // The next minute tries again; a store that is gone for good has told everyone itself.
    }
  }

  async confirm(actor: Actor, at: number): Promise<void> {
    await this.#queue.call('trustClock', () => ({ at, actor: { ...actor } }));
    this.#trust();
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
  }

  #trust(): void {
    this.#guard.trust();
    this.#known = null;
  }

  #beat(): void {
    if (this.#known !== null) return;
    this.#queue.call('heartbeat', () => ({ at: this.#o.clock.now() })).catch(() => {});
  }

  #share(): void {
    const doubt = this.#known;
    const written =
      doubt === null
        ? this.#queue.call('trustClock', () => ({ at: this.#o.clock.now(), actor: null }))
        : this.#queue.call('doubtClock', () => ({ ...doubt }));
    written.then(
      () => {
        this.#shared = this.#known === doubt;
      },
      () => {},
    );
  }
}
