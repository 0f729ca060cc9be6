/**
 * Requests from addresses to which no receipt was given yet. They have a part of the places only, and are worked on a few at a time in
 * the order in which they came: whatever a flood costs, and from however many addresses it comes, senders that are known do not queue
 * behind it. An honest stranger waits a little, or gets a 503 and comes again; one receipt later it is known.
 */
export class Strangers {
  readonly #places: number;
  readonly #atATime: number;
  #inside = 0;
  #working = 0;
  #waiting: (() => void)[] = [];

  /**
   * @param places of the gate that they may have
   * @param atATime of them that are worked on; the others' requests may arrive meanwhile
   */
  constructor(places: number, atATime: number) {
    this.#places = places;
    this.#atATime = atATime;
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

  /** Resolves when it is this request's turn; then `end` must follow. */
  async turn(): Promise<void> {
    if (this.#working < this.#atATime) this.#working += 1;
    else await new Promise<void>((resolve) => void this.#waiting.push(resolve));
  }

  /** Hands the turn on. */
  end(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#working -= 1;
    else next();
  }
}
