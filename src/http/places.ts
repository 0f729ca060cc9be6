/** A fixed number of places that requests hold for a while. */
export class Places {
  readonly #limit: number;
  #taken = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get taken(): number {
    return this.#taken;
  }

  /** @returns whether there was one; then `give` must follow */
  take(): boolean {
    if (this.#taken >= this.#limit) return false;
    this.#taken += 1;
    return true;
  }

  give(): void {
    this.#taken -= 1;
  }
}
