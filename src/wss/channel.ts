/**
 * Hands chunks from a pushing to a pulling side, one at a time. When the pulling side stops early, what is put later is dropped,
 * so that the pushing side never waits for nobody.
 */
export class Channel implements AsyncIterable<Buffer> {
  #chunk: Buffer | null = null;
  #closed = false;
  #stopped = false;
  #wakeReader: (() => void) | null = null;
  #wakeWriter: (() => void) | null = null;

  /** Resolves when the pulling side has taken the chunk or is gone. One put at a time. */
  put(chunk: Buffer): Promise<void> {
    if (this.#stopped || this.#closed) return Promise.resolve();
    this.#chunk = chunk;
    const taken = new Promise<void>((resolve) => {
      this.#wakeWriter = resolve;
    });
    wake(this.#wakeReader);
    return taken;
  }

  /** No more chunks. */
  close(): void {
    this.#closed = true;
    wake(this.#wakeReader);
  }

  /** The pulling side takes no more. */
  stop(): void {
    this.#stopped = true;
    wake(this.#wakeWriter);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void, undefined> {
    try {
      while (true) {
        if (this.#chunk !== null) {
          const chunk = this.#chunk;
          this.#chunk = null;
          // The writer goes on only when this chunk has been worked on: that is the back-pressure.
          yield chunk;
          wake(this.#wakeWriter);
        } else if (this.#closed) return;
        else
          await new Promise<void>((resolve) => {
            this.#wakeReader = resolve;
          });
      }
    } finally {
      this.stop();
    }
  }
}

function wake(resolve: (() => void) | null): void {
  resolve?.();
}
