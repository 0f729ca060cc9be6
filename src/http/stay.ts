import type { Gate } from './gate.ts';
import type { Sources } from './sources.ts';

/** What one message takes up while it is here: a place of the gate, and one of those that its source address may have. */
export class Stay {
  readonly #gate: Gate;
  readonly #sources: Sources;
  readonly #address: string;
  #inGate = true;
  #counted = true;
  #left = false;

  /** @param gate which has let the message in */
  constructor(gate: Gate, sources: Sources, address: string) {
    this.#gate = gate;
    this.#sources = sources;
    this.#address = address;
  }

  /** The message only waits for another copy of itself: neither the gate nor its source counts it until the returned function is called. */
  pause(): () => void {
    if (this.#left) return () => {};
    this.giveGate();
    if (this.#counted) this.#sources.leave(this.#address);
    this.#counted = false;
    return () => this.#resume();
  }

  /** Nothing is done for it any more but to read the rest of its upload. */
  giveGate(): void {
    if (this.#inGate && !this.#left) this.#gate.stepAside();
    this.#inGate = false;
  }

  /** It has been answered. May be called again. */
  leaveGate(): void {
    if (this.#left) return;
    if (!this.#inGate) this.#gate.stepBack();
    this.#gate.leave();
    this.#left = true;
  }

  /** The request has ended. */
  end(): void {
    this.leaveGate();
    if (this.#counted) this.#sources.leave(this.#address);
    this.#counted = false;
  }

  #resume(): void {
    if (this.#left) return;
    if (!this.#inGate) this.#gate.stepBack();
    this.#inGate = true;
    if (!this.#counted) this.#sources.comeBack(this.#address);
    this.#counted = true;
  }
}
