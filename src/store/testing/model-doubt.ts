import { day } from './sample.ts';

const hour = 3_600_000;

/** When a clock is believed, said again: what it gained while running, and how long the receiver seems to have been away. */
export class ModelDoubt {
  doubt: { readonly since: number; readonly trusted: number } | null = null;
  #newestBeat: number;
  /** The newest sign of life before the last start; null before there was any. */
  #beatAtStart: number | null = null;
  #offset = 0;

  constructor(now: number) {
    this.#newestBeat = now;
  }

  /** The clock is looked at. @param offset how far the wall clock is from where it would be if nobody had set it */
  look(now: number, offset: number): void {
    const gained = offset - this.#offset;
    if (this.doubt !== null) {
      if (this.#isBack(now)) this.trust(now, offset);
    } else if (gained > hour && this.#isSetRight(now, now - gained)) this.#offset = offset;
    else if (gained > hour) this.doubt = { since: now, trusted: now - gained };
  }

  /** A running receiver gives a sign of life each hour, when it believes its clock. */
  beat(now: number): void {
    if (this.doubt === null) this.#newestBeat = Math.max(this.#newestBeat, now);
  }

  restart(now: number, offset: number): void {
    this.#offset = offset;
    this.#beatAtStart = this.#newestBeat;
    if (this.doubt !== null) {
      if (this.#isBack(now)) this.trust(now, offset);
    } else if (now > this.#newestBeat + 30 * day) this.doubt = { since: now, trusted: this.#newestBeat };
    this.beat(now);
  }

  trust(now: number, offset: number): void {
    this.doubt = null;
    this.#offset = offset;
    this.#newestBeat = now;
  }

  judged(now: number): number {
    return this.doubt === null ? now : Math.min(now, this.doubt.trusted);
  }

  /** It started before its newest sign of life, so the clock was wrong then, and is set to what a start would believe. */
  #isSetRight(now: number, before: number): boolean {
    const beat = this.#beatAtStart;
    return beat !== null && before < beat && now <= beat + 30 * day;
  }

  #isBack(now: number): boolean {
    const { since, trusted } = this.doubt!;
    return now < since - hour && now <= trusted + Math.min(30 * day, (since - trusted) / 2);
  }
}
