import type { Trial } from './runner/trial.ts';

/** What a case cannot do without. */
export type Need = 'inbox' | 'restart' | 'sender2' | 'not-serviced' | 'serviced-list' | `bad:${string}`;

/** One assertion about a receiver. */
export interface Case {
  readonly id: string;
  /** The clause that it is about. */
  readonly source: string;
  /** What must hold, as a sentence. */
  readonly asserts: string;
  /** `norm`: a specification says so. `reading`: it leaves it open, and this is our reading of it. */
  readonly basis: 'norm' | 'reading';
  readonly needs?: readonly Need[];
  /** Why it is listed and never run. */
  readonly notApplicable?: string;
  /** `alone`: after all others, one at a time. `last`: behind these, because it looks at every answer of the run. */
  readonly when?: 'alone' | 'last';
  readonly run: (trial: Trial) => Promise<void>;
}
