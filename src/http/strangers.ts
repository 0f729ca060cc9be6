import { Places } from './places.ts';
import { sourceOf } from './sources.ts';

/** Milliseconds for which a stranger lets messages of known senders go before it. */
const PATIENCE = 100;
/** Milliseconds that a turn lasts at most: one that waits, for the responder of a CA or for the disk, keeps nobody from theirs. */
const LONGEST = 1_000;

interface Waiting {
  readonly source: string;
  /** @param end what ends the turn */
  readonly begin: (end: () => void) => void;
}

/** The sender hung up before its turn. */
export class HungUp extends Error {
  override readonly name = 'HungUp';
}

/**
 * Requests from addresses to which no receipt was given yet. While they arrive and wait they take no place of the gate, and they are
 * worked on one at a time, in the order in which they came, when no known sender's message is: whatever a flood costs, and from however
 * many addresses it comes, known senders do not queue behind it. An honest stranger waits a little; one receipt later it is known.
 */
export class Strangers {
  readonly #places: Places;
  readonly #hasRoom: () => boolean;
  #working = false;
  #known = 0;
  #waiting: Waiting[] = [];
  #patience: NodeJS.Timeout | null = null;

  /**
   * @param places for requests that arrive, wait or are worked on
   * @param hasRoom whether one more message may be worked on
   */
  constructor(places: number, hasRoom: () => boolean = () => true) {
    this.#places = new Places(places);
    this.#hasRoom = hasRoom;
  }

  /** Requests of strangers that are here. */
  get inside(): number {
    return this.#places.taken;
  }

  /** @returns whether there was a place; then `leave` must follow */
  enter(): boolean {
    return this.#places.take();
  }

  leave(): void {
    this.#places.give();
  }

  /**
   * Resolves when it is this stranger's turn. @returns hands the turn on; may be called again
   * @param gone aborted when the sender hangs up: then the promise rejects with {@link HungUp}
   */
  turn(address: string, gone?: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting = this.#waiting.filter((each) => each !== waiting);
        reject(new HungUp());
      };
      const begin = (end: () => void) => {
        gone?.removeEventListener('abort', leave);
        resolve(end);
      };
      const waiting = { source: sourceOf(address), begin };
      if (gone?.aborted === true) return reject(new HungUp());
      gone?.addEventListener('abort', leave, { once: true });
      this.#waiting.push(waiting);
      this.#next();
    });
  }

  /** This address is known now: what it has waiting need not wait any longer. */
  promote(address: string): void {
    const source = sourceOf(address);
    const promoted = this.#waiting.filter((waiting) => waiting.source === source);
    if (promoted.length === 0) return;
    this.#waiting = this.#waiting.filter((waiting) => waiting.source !== source);
    for (const { begin } of promoted) {
      this.beginKnown();
      begin(once(() => this.endKnown()));
    }
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
    const end = once(() => {
      clearTimeout(longest);
      this.#working = false;
      this.#next();
    });
    const longest = setTimeout(end, LONGEST);
    return end;
  }

  #next(impatient = false): void {
    if (this.#working || this.#waiting.length === 0) return;
    if ((this.#known > 0 && !impatient) || !this.#hasRoom()) {
      this.#patience ??= setTimeout(() => {
        this.#patience = null;
        this.#next(true);
      }, PATIENCE);
      return;
    }
    if (this.#patience !== null) clearTimeout(this.#patience);
    this.#patience = null;
    this.#waiting.shift()?.begin(this.#begin());
  }
}

function once(act: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    act();
  };
}
