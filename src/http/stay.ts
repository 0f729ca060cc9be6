import type { Gate } from './gate.ts';
import type { Sources } from './sources.ts';
import type { Strangers } from './strangers.ts';

/** What one message takes up while it is here: a place of the gate, one of those that its source address may have, a stranger's turn. */
export class Stay {
  readonly #gate: Gate;
  readonly #sources: Sources;
  readonly #address: string;
  readonly #strangers: Strangers;
  /** Null before its turn. */
  #handOn: (() => void) | null = null;
  #turnOver = false;
  #inGate: boolean;
  #counted = true;
  #left = false;
  /** Whether its source was, when it came. */
  readonly known: boolean;

  /**
   * @param gate which has let the message in
   * @param known false when `strangers` have let it in and it only stands aside of the gate, until its turn
   */
  constructor(gate: Gate, sources: Sources, address: string, strangers: Strangers, known: boolean) {
    this.#gate = gate;
    this.#sources = sources;
    this.#address = address;
    this.#strangers = strangers;
    this.known = known;
    this.#inGate = known;
  }

  /**
   * Resolves when the message may be worked on: at once, unless it is a stranger's. Called once. @throws HungUp
   * @param gone asked for only when there is something to wait for: aborted when the sender hangs up
   */
  async turn(gone: () => AbortSignal): Promise<void> {
    // It may have become known while its upload was under way.
    if (this.known || this.#sources.isKnown(this.#address)) {
      this.#strangers.beginKnown();
      this.#handOn = () => this.#strangers.endKnown();
    } else this.#handOn = await this.#strangers.turn(this.#address, gone());
    if (this.#inGate) return;
    this.#gate.stepBack();
    this.#inGate = true;
  }

  /** What is still to be done for the message is waiting, or was earned: nobody's turn waits for it any more. May be called again. */
  endTurn(): void {
    if (this.#turnOver) return;
    this.#turnOver = true;
    if (!this.known) this.#strangers.leave();
    this.#handOn?.();
  }

  /** The message only waits for another copy of itself: neither the gate nor its source counts it until the returned function is called. */
  pause(): () => void {
    if (this.#left) return () => {};
    this.endTurn();
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
    this.endTurn();
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
