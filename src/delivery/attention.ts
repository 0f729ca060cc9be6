/** What an operator should see in health, and since when (epoch ms). */
export interface Degradation {
  readonly what: string;
  readonly since: number;
}

/** What is wrong with the delivery now: at most one trouble of the folder, and a file call that does not come back. */
export class Attention {
  readonly #now: () => number;
  #trouble: Degradation | null = null;
  #hung: Degradation | null = null;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The words may change while a trouble lasts; its beginning does not. True when they did change. */
  trouble(what: string): boolean {
    if (this.#trouble?.what === what) return false;
    this.#trouble = { what, since: this.#trouble?.since ?? this.#now() };
    return true;
  }

  /** True when there had been one. */
  over(): boolean {
    const had = this.#trouble !== null;
    this.#trouble = null;
    return had;
  }

  hung(hung: boolean): void {
    this.#hung = hung ? { what: 'the inbox does not answer; look at its mount', since: this.#now() } : null;
  }

  list(): Degradation[] {
    return [this.#hung, this.#trouble].filter((one) => one !== null);
  }
}
