import { Failure } from '../failure.ts';
import type { Result } from './run.ts';

/** Cases in a row without an answer, until somebody asks whether there is anybody at all. */
const SILENCE = 4;

/**
 * Whether the receiver is alive. One that hangs would keep a run for hours, a minute a case; one that answers just some things with nothing
 * must be asked all the same.
 */
export class Pulse {
  /** No answer, not even to a right message. */
  gone = false;
  readonly #ask: () => Promise<unknown>;
  #silent = 0;

  /** @param ask sends a right message; rejects with a {@link Failure} `unanswered` when nothing comes back */
  constructor(ask: () => Promise<unknown>) {
    this.#ask = ask;
  }

  async note({ verdict, kind }: Pick<Result, 'verdict' | 'kind'>): Promise<void> {
    if (verdict !== 'passed' && verdict !== 'failed') return;
    this.#silent = kind === 'unanswered' ? this.#silent + 1 : 0;
    if (this.#silent < SILENCE) return;
    this.#silent = 0;
    try {
      await this.#ask();
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      this.gone = true;
    }
  }
}
