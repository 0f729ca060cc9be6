/** How many messages are being worked on, and whether new ones may come in. */
export class Gate {
  readonly #limit: number;
  #inFlight = 0;
  #aside = 0;
  #stopping = false;
  #whenEmpty: (() => void)[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Messages that hold a place. */
  get inFlight(): number {
    return this.#inFlight;
  }

  get stopping(): boolean {
    return this.#stopping;
  }

  /** @returns why no message may come in now, or null: then one has, and `leave` must follow */
  enter(): 'stopping' | 'full' | null {
    if (this.#stopping) return 'stopping';
    if (this.#inFlight >= this.#limit) return 'full';
    this.#inFlight += 1;
    return null;
  }

  /** A message comes in that is not worked on yet. @returns as `enter` does; `stepBack` must follow, and `leave` */
  enterAside(): 'stopping' | null {
    if (this.#stopping) return 'stopping';
    this.#aside += 1;
    return null;
  }

  get full(): boolean {
    return this.#inFlight >= this.#limit;
  }

  /** A message gives its place to others although it is still owed its answer: `close` waits for it, `enter` does not see it. */
  stepAside(): void {
    this.#inFlight -= 1;
    this.#aside += 1;
  }

  /** It is worked on again, also when that is one more than the limit: it was let in before. */
  stepBack(): void {
    this.#aside -= 1;
    this.#inFlight += 1;
  }

  leave(): void {
    this.#inFlight -= 1;
    if (this.#inFlight + this.#aside > 0) return;
    const waiting = this.#whenEmpty;
    this.#whenEmpty = [];
    for (const resolve of waiting) resolve();
  }

  /** No message comes in any more. Resolves when the last one has been answered. */
  close(): Promise<void> {
    this.#stopping = true;
    if (this.#inFlight + this.#aside === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#whenEmpty.push(resolve);
    });
  }
}
