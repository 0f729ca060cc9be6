/** Remembers values for a span of time each, at most `limit` of them; the one set longest ago goes first. */
export class VerdictCache<T> {
  readonly #limit: number;
  readonly #entries = new Map<string, { readonly value: T; readonly from: number; readonly until: number }>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The value when it holds at the time `at`: clocks that step back before it was set do not find it. */
  get(key: string, at: number): T | undefined {
    const entry = this.#entries.get(key);
    return entry !== undefined && entry.from <= at && at < entry.until ? entry.value : undefined;
  }

  /** Keeps the value for times from `from` until before `until`, epoch milliseconds. */
  set(key: string, value: T, from: number, until: number): void {
    this.#entries.delete(key);
    const oldest = this.#entries.keys().next();
    if (this.#entries.size >= this.#limit && !oldest.done) this.#entries.delete(oldest.value);
    this.#entries.set(key, { value, from, until });
  }
}
