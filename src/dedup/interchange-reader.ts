import {
  endOfSegment,
  type InterchangeStart,
  isBlank,
  MAX_SERVICE_SEGMENT,
  type Separators,
  startsWith,
} from './edi.ts';
import { PayloadBeginning, type PayloadLook, startOfInterchange } from './interchange-start.ts';
import { type InterchangeFinding, OpenInterchange } from './open-interchange.ts';

export interface InterchangeLimits {
  /** Interchanges that are recorded; further ones are counted. Default 1000. */
  readonly interchanges?: number;
  /** Group references that are recorded, over all interchanges of the payload. Default 1000. */
  readonly groups?: number;
}

const NOTHING = Buffer.alloc(0);
/** What #service says instead of an index: this is no service segment; its end has not come yet. */
const NO_SERVICE = -1;
const WAIT = -2;

/**
 * Finds the interchanges of a payload as it comes, in any chunks. A payload that begins with neither UNA, UNB nor ISA costs a look at
 * its first octets. Nothing makes it throw, and what it holds is bounded: at most a service segment, and the findings.
 */
export class InterchangeReader {
  readonly #limits: Required<InterchangeLimits>;
  /** Null once the payload has begun. */
  #beginning: PayloadBeginning | null = new PayloadBeginning();
  #look: PayloadLook = null;
  #off = false;
  /** Octets that could not be judged yet. */
  #carry: Buffer = NOTHING;
  /** In the middle of a segment that says nothing about the interchange. */
  #skipping = false;
  /** The last octet of the chunk before was a release character. */
  #released = false;
  #open: OpenInterchange | null = null;
  /** Of the interchange begun last, also once it has ended. */
  #separators: Separators = { element: -1, component: -1, terminator: -1, release: -1 };
  /** Octets of the chunk before this index are in the digest already. */
  #digested = 0;
  /** Something that is no interchange stood behind one. */
  #beside = false;
  readonly #findings: InterchangeFinding[] = [];
  #groups = 0;
  #count = 0;

  constructor(limits: InterchangeLimits = {}) {
    this.#limits = { interchanges: 1000, groups: 1000, ...limits };
  }

  /** Known once the first octets have come. */
  get look(): PayloadLook {
    return this.#look;
  }

  /** How many interchanges were counted but not recorded. */
  get unrecorded(): number {
    return this.#count - this.#findings.length - (this.#open?.recorded ? 1 : 0);
  }

  /** Whether something that is no interchange stands behind one, or between two. */
  get beside(): boolean {
    return this.#beside;
  }

  /** The payload is neither EDIFACT nor X12: further octets tell nothing. */
  get finished(): boolean {
    return this.#off;
  }

  /** The chunk may be reused afterwards. */
  push(chunk: Buffer): void {
    if (this.#off || chunk.length === 0) return;
    const octets = this.#carry.length === 0 ? chunk : Buffer.concat([this.#carry, chunk]);
    const consumed = this.#scan(octets, true);
    this.#carry = consumed >= octets.length ? NOTHING : Buffer.from(octets.subarray(consumed));
  }

  /** All interchanges in the order of the payload. */
  end(): InterchangeFinding[] {
    if (!this.#off && this.#carry.length > 0) this.#scan(this.#carry, false);
    this.#carry = NOTHING;
    this.#off = true;
    this.#close(this.#open?.breakOff('the payload ends'));
    return this.#findings;
  }

  /** @returns up to where the octets need not be seen again */
  #scan(octets: Buffer, more: boolean): number {
    this.#digested = 0;
    let at = 0;
    if (this.#beginning !== null) {
      const seen = this.#beginning.look(octets, more);
      if ('undecidedAt' in seen) return seen.undecidedAt;
      this.#beginning = null;
      this.#look = seen.is;
      this.#off = seen.is !== 'edifact' && seen.is !== 'x12';
      if (this.#off) return octets.length;
      at = seen.at;
    }
    while (at < octets.length) {
      if (this.#skipping) {
        at = this.#skip(octets, at);
        continue;
      }
      const octet = octets[at]!;
      if (this.#isBetween(octet)) {
        at++;
        continue;
      }
      // U of UNA, UNB, UNG, UNZ; I of ISA, IEA; G of GS
      if (octet === 0x55 || octet === 0x49 || octet === 0x47) {
        const next = this.#service(octets, at, more);
        if (next === WAIT) break;
        if (next !== NO_SERVICE) {
          at = next;
          continue;
        }
      }
      if (this.#open === null) {
        this.#beside = true;
        this.#blame('it is followed by something that is no interchange');
      }
      this.#skipping = true;
    }
    this.#digest(octets, at);
    return at;
  }

  /** What may stand between segments, and between interchanges also the padding of old systems (NUL, SUB). */
  #isBetween(octet: number): boolean {
    if (isBlank(octet) || octet === this.#separators.terminator) return true;
    return this.#open === null && (octet === 0 || octet === 0x1a);
  }

  /** Goes over a segment. The loop of the hot path: a payload is mostly this. */
  #skip(octets: Buffer, from: number): number {
    const { terminator, release } = this.#separators;
    const { length } = octets;
    let at = this.#released ? from + 1 : from;
    this.#released = false;
    for (; at < length; at++) {
      const octet = octets[at];
      if (octet === terminator) {
        this.#skipping = false;
        return at + 1;
      }
      if (octet === release) at++;
    }
    this.#released = at > length;
    return length;
  }

  /** @returns index behind the service segment, NO_SERVICE or WAIT */
  #service(octets: Buffer, at: number, more: boolean): number {
    const start = startOfInterchange(octets, at, more);
    if (start === 'more') return WAIT;
    if (start !== 'no') return this.#begin(start, octets, at);
    if (this.#open === null) return NO_SERVICE;
    const { group, last } = this.#open.tags;
    const there = octets.length - at;
    const tag = [group, last].find((t) => startsWith(octets, at, t.slice(0, there)));
    if (tag === undefined) return NO_SERVICE;
    if (there <= tag.length && more) return WAIT;
    if (there < tag.length) return NO_SERVICE;
    const next = octets[at + tag.length];
    if (next !== undefined && next !== this.#separators.element && next !== this.#separators.terminator)
      return NO_SERVICE;
    const end = endOfSegment(octets, at, Math.min(octets.length, at + MAX_SERVICE_SEGMENT), this.#separators);
    if (end < 0 && there >= MAX_SERVICE_SEGMENT) return NO_SERVICE;
    if (end < 0 && more) return WAIT;
    const behind = end < 0 ? octets.length : end + 1;
    const text = octets.toString('latin1', at, end < 0 ? octets.length : end);
    if (tag === group) {
      if (this.#open.recorded && this.#groups++ < this.#limits.groups) this.#open.addGroup(text);
    } else {
      this.#digest(octets, behind);
      this.#close(this.#open.end(text, end >= 0));
    }
    return behind;
  }

  #begin(start: InterchangeStart, octets: Buffer, at: number): number {
    this.#digest(octets, at);
    this.#close(this.#open?.breakOff('the next interchange begins'));
    this.#count++;
    this.#open = new OpenInterchange(start, this.#findings.length < this.#limits.interchanges);
    this.#separators = start.separators;
    this.#skipping = !start.complete;
    return start.end;
  }

  #close(finding: InterchangeFinding | null | undefined): void {
    this.#open = null;
    if (finding) this.#findings.push(finding);
  }

  /** Says something of the interchange that was closed last, once. */
  #blame(sentence: string): void {
    const finding = this.#findings.at(-1);
    if (finding === undefined || this.unrecorded > 0 || finding.damaged?.includes(sentence)) return;
    const damaged = finding.damaged === undefined ? sentence : `${finding.damaged}; ${sentence}`;
    this.#findings[this.#findings.length - 1] = { ...finding, damaged };
  }

  /** Adds the octets up to an index to the digest of the interchange that is open. */
  #digest(octets: Buffer, to: number): void {
    if (to > this.#digested) this.#open?.digest(octets.subarray(this.#digested, to));
    this.#digested = to;
  }
}
