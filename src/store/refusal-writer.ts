import type { Refusal } from './types.ts';

const flushMs = 250;
const rowsPerFlush = 200;
/** Beyond this the newest are dropped and counted: a flood must cost neither memory nor the lock. */
const queueLimit = 5000;

/** Writes refusals in the background, a few times a second. */
export class RefusalWriter {
  readonly #write: (rows: readonly Refusal[]) => Promise<unknown>;
  #rows: Refusal[] = [];
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> | null = null;
  dropped = 0;

  constructor(write: (rows: readonly Refusal[]) => Promise<unknown>) {
    this.#write = write;
  }

  add(r: Refusal): void {
    if (this.#rows.length >= queueLimit) {
      this.dropped++;
      return;
    }
    this.#rows.push(bounded(r));
    if (this.#rows.length >= rowsPerFlush) void this.flush();
    else this.#timer ??= setTimeout(() => void this.flush(), flushMs).unref();
  }

  /** Writes what is queued; one write at a time. */
  flush(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#writing ??= this.#drain().finally(() => {
      this.#writing = null;
    });
    return this.#writing;
  }

  async #drain(): Promise<void> {
    while (this.#rows.length > 0) {
      const rows = this.#rows.splice(0, rowsPerFlush);
      await this.#write(rows).catch(() => {
        this.dropped += rows.length;
      });
    }
  }
}

/** What a stranger sent must not make a row large. */
function bounded(r: Refusal): Refusal {
  const cut = (s: string | null, length: number) => (s === null ? null : s.slice(0, length));
  return {
    ...r,
    text: r.text.slice(0, 1000),
    sender: cut(r.sender, 255),
    messageId: cut(r.messageId, 255),
    claimedMessageId: cut(r.claimedMessageId, 255),
  };
}
