/** Milliseconds for which a stranger lets messages of known senders go before it. */
const PATIENCE = 100;
/** Milliseconds that a turn lasts at most: one that waits, for the responder of a CA or for the disk, keeps nobody from theirs. */
const LONGEST = 1_000;

/**
 * Requests from addresses to which no receipt was given yet. They have a part of the places only, and are worked on one at a time, in the
 * order in which they came, when no known sender's message is: whatever a flood costs, and from however many addresses it comes, known
 * senders do not queue behind it. An honest stranger waits a little, or gets a 503 and comes again; one receipt later it is known.
 */
export class Strangers {
  readonly #places: number;
  #inside = 0;
  #working = false;
  #known = 0;
  #waiting: ((end: () => void) => void)[] = [];
  #patience: NodeJS.Timeout | null = null;

  /** @param places of the gate that they may have */
  constructor(places: number) {
    this.#places = places;
  }

  /** @returns whether there was a place; then `leave` must follow */
  enter(): boolean {
    if (this.#inside >= this.#places) return false;
    this.#inside += 1;
    return true;
  }

  leave(): void {
    this.#inside -= 1;
  }

  /** Resolves when it is this stranger's turn. @returns hands the turn on; may be called again */
  turn(): Promise<() => void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#next();
    });
  }

  /** A known sender's message is being worked on, until `endKnown`. */
  beginKnown(): void {
    this.#known += 1;
  }

  endKnown(): void {
    this.#known -= 1;
    this.#next();
  }

  #begin(): () => void {
    this.#working = true;
    let over = false;
    const end = (): void => {
      if (over) return;
      over = true;
      clearTimeout(longest);
      this.#working = false;
      this.#next();
    };
    const longest = setTimeout(end, LONGEST);
    return end;
  }

  #next(impatient = false): void {
    if (this.#working || this.#waiting.length === 0) return;
    if (this.#known > 0 && !impatient) {
      this.#patience ??= setTimeout(() => {
        this.#patience = null;
        this.#next(true);
      }, PATIENCE);
      return;
    }
    if (this.#patience !== null) clearTimeout(this.#patience);
    this.#patience = null;
    this.#waiting.shift()?.(this.#begin());
  }
}
