import { createHash, type Hash } from 'node:crypto';
import { quote } from '../ebms/quote.ts';
import { type InterchangeHeader, type InterchangeStart, isBlank, type Separators } from './edi.ts';
import { referenceOfUng, referenceOfUnz } from './edifact.ts';
import { referenceOfGs, referenceOfIea } from './x12.ts';

/** One interchange of a payload. */
export interface InterchangeFinding extends InterchangeHeader {
  readonly kind: 'edifact' | 'x12';
  /** UNG 0048 or GS06, the first ones of a payload only. */
  readonly groups: readonly string[];
  /** Over its octets from the first of UNA, UNB or ISA to the terminator of UNZ or IEA. */
  readonly sha256: Buffer;
  readonly bytes: number;
  /** A sentence that says what is wrong with it. It is recorded all the same, and has a key if `reference` could be read. */
  readonly damaged?: string;
}

/** The tags by which a syntax begins an interchange, begins a group in it, and ends it. */
interface Tags {
  readonly first: string;
  readonly group: string;
  readonly last: string;
}

const TAGS: Readonly<Record<InterchangeStart['kind'], Tags>> = {
  edifact: { first: 'UNB', group: 'UNG', last: 'UNZ' },
  x12: { first: 'ISA', group: 'GS', last: 'IEA' },
};
/** Longest group reference that is kept: 0048 has 14 characters, GS06 9. */
const MAX_GROUP = 35;

/** An interchange whose end has not come yet. */
export class OpenInterchange {
  readonly #start: InterchangeStart;
  readonly #groups: string[] = [];
  /** Null for an interchange that is only counted. */
  readonly #hash: Hash | null;
  #bytes = 0;

  constructor(start: InterchangeStart, recorded: boolean) {
    this.#start = start;
    this.#hash = recorded ? createHash('sha256') : null;
  }

  get recorded(): boolean {
    return this.#hash !== null;
  }

  get separators(): Separators {
    return this.#start.separators;
  }

  get tags(): Tags {
    return TAGS[this.#start.kind];
  }

  digest(octets: Buffer): void {
    this.#hash?.update(octets);
    this.#bytes += octets.length;
  }

  /** @param text UNG or GS without its terminator */
  addGroup(text: string): void {
    const { kind, separators } = this.#start;
    const reference = kind === 'x12' ? referenceOfGs(text, separators) : referenceOfUng(text, separators);
    this.#groups.push(reference.slice(0, MAX_GROUP));
  }

  /** @param text UNZ or IEA without its terminator */
  end(text: string, terminated: boolean): InterchangeFinding | null {
    const { kind, separators, header } = this.#start;
    const { first, last } = this.tags;
    const repeated = kind === 'x12' ? [referenceOfIea(text, separators)] : referenceOfUnz(text, separators);
    const faults: string[] = [];
    if (header.reference !== '' && !repeated.includes(header.reference)) {
      faults.push(`its ${last} repeats ${quote(repeated[0]!)} where its ${first} has ${quote(header.reference)}`);
    }
    // A line break that ends segments is often left out at the end of a file.
    if (!terminated && !isBlank(separators.terminator)) faults.push(`its ${last} has no terminator`);
    return this.#finding(faults);
  }

  /** It has no end. @param why `the payload ends`, or what else came before it */
  breakOff(why: string): InterchangeFinding | null {
    return this.#finding(this.#start.complete ? [`${why} before its ${this.tags.last}`] : []);
  }

  #finding(faults: readonly string[]): InterchangeFinding | null {
    if (this.#hash === null) return null;
    const { kind, header } = this.#start;
    const damaged = [...(this.#start.damaged === null ? [] : [this.#start.damaged]), ...faults].join('; ');
    const finding = { kind, ...header, groups: this.#groups, sha256: this.#hash.digest(), bytes: this.#bytes };
    return damaged === '' ? finding : { ...finding, damaged };
  }
}
