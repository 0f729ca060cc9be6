import { sourceOf } from './sources.ts';

/** Also of few connections in all a source has some: a proxy in front that we do not know is one source. */
const FEWEST = 64;

/** How many connections each source has open: whoever opens as many as the server takes would keep out everybody else. */
export class Connections {
  readonly #limit: number;
  readonly #isProxy: (address: string) => boolean;
  readonly #open = new Map<string, number>();

  /**
   * @param total connections of all sources; one of them may have a quarter
   * @param isProxy of ours: its connections are many senders'
   */
  constructor(total: number, isProxy: (address: string) => boolean) {
    this.#isProxy = isProxy;
    this.#limit = Math.max(FEWEST, Math.ceil(total / 4));
  }

  /** @returns whether the source may have one more; then `leave` must follow */
  enter(address: string): boolean {
    const key = sourceOf(address);
    const open = this.#open.get(key) ?? 0;
    if (open >= this.#limit && !this.#isProxy(address)) return false;
    this.#open.set(key, open + 1);
    return true;
  }

  leave(address: string): void {
    const key = sourceOf(address);
    const open = (this.#open.get(key) ?? 1) - 1;
    if (open === 0) this.#open.delete(key);
    else this.#open.set(key, open);
  }
}
