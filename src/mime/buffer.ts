/** Bytes that all requests together may hold in memory (architecture §2.2). */
export class BufferBudget {
  readonly #total: number;
  readonly #whole: BufferBudget | null;
  #used = 0;

  /** @param whole of which this is a part: what is taken here is taken there, too */
  constructor(totalBytes: number, whole: BufferBudget | null = null) {
    this.#total = totalBytes;
    this.#whole = whole;
  }

  /** A budget for some of the requests, of this share of the whole one. */
  share(of: number): BufferBudget {
    return new BufferBudget(Math.floor(this.#total * of), this);
  }

  get used(): number {
    return this.#used;
  }

  /** @returns false when the budget has no room; nothing is taken then */
  take(bytes: number): boolean {
    if (this.#used + bytes > this.#total) return false;
    if (this.#whole?.take(bytes) === false) return false;
    this.#used += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#used -= bytes;
    this.#whole?.give(bytes);
  }
}

/** `release` gives the bytes back to the budget; it may be called more than once. `exhausted`: a stream because the budget had no room. */
export type Buffered =
  | { readonly whole: Buffer; readonly release: () => void }
  | { readonly stream: AsyncIterable<Buffer>; readonly exhausted: boolean; readonly release: () => void };

/**
 * Takes a body into memory when it has at most `limit` bytes and the budget has room. Otherwise the body is a stream again: what was read
 * first, then the rest, as if nobody had looked. A stream gives its prefix back to the budget once that has been read.
 * Errors of `source` pass through; the budget is then as before.
 */
export async function bufferUpTo(
  source: AsyncIterable<Buffer>,
  limit: number,
  budget: BufferBudget,
): Promise<Buffered> {
  const iterator = source[Symbol.asyncIterator]();
  const prefix: Buffer[] = [];
  let held = 0;
  let taken = 0;
  const release = (): void => {
    budget.give(taken);
    taken = 0;
  };
  try {
    for (;;) {
      const step = await iterator.next();
      if (step.done === true) {
        return { whole: prefix.length === 1 ? prefix[0]! : Buffer.concat(prefix, held), release };
      }
      prefix.push(step.value);
      held += step.value.length;
      const exhausted = held <= limit && !budget.take(step.value.length);
      if (held > limit || exhausted) return { stream: replay(prefix, iterator, release), exhausted, release };
      taken += step.value.length;
    }
  } catch (error) {
    release();
    throw error;
  }
}

async function* replay(
  prefix: Buffer[],
  rest: AsyncIterator<Buffer>,
  release: () => void,
): AsyncGenerator<Buffer, void, undefined> {
  let ended = false;
  try {
    for (let chunk = prefix.shift(); chunk !== undefined; chunk = prefix.shift()) yield chunk;
    release();
    for (;;) {
      const step = await rest.next();
      ended = step.done === true;
      if (step.done === true) return;
      yield step.value;
    }
  } finally {
    release();
    if (!ended) await rest.return?.();
  }
}
