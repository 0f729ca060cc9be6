/** How many messages are being worked on, and whether new ones may come in. */
export class Gate {
  readonly #limit: number;
  #inFlight = 0;
  #stopping = false;
  #whenEmpty: (() => void)[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

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

  leave(): void {
    this.#inFlight -= 1;
    if (this.#inFlight > 0) return;
    const waiting = this.#whenEmpty;
    this.#whenEmpty = [];
    for (const resolve of waiting) resolve();
  }

  /** No message comes in any more. Resolves when the last one has been answered. */
  close(): Promise<void> {
    this.#stopping = true;
    if (this.#inFlight === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#whenEmpty.push(resolve);
    });
  }
}
