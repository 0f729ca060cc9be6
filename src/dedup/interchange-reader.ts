import { createHash, type Hash } from 'node:crypto';
import { quote } from '../ebms/quote.ts';
import {
  endOfSegment,
  type InterchangeHeader,
  type InterchangeStart,
  isBlank,
  MAX_SERVICE_SEGMENT,
  type StartResult,
  startsWith,
} from './edi.ts';
import { referenceOfUng, referenceOfUnz, startOfEdifact } from './edifact.ts';
import { referenceOfGs, referenceOfIea, startOfX12 } from './x12.ts';

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

/** What the first octets of a payload look like; null is anything else. */
export type PayloadLook = 'edifact' | 'x12' | 'pdf' | null;

export interface InterchangeLimits {
  /** Interchanges that are recorded; further ones are counted. Default 1000. */
  readonly interchanges?: number;
  /** Group references that are recorded, over all interchanges of the payload. Default 1000. */
  readonly groups?: number;
}

interface Open {
  readonly start: InterchangeStart;
  readonly groups: string[];
  /** Null for an interchange that is only counted. */
  readonly hash: Hash | null;
  bytes: number;
}

const NOTHING = Buffer.alloc(0);
/** Blanks before the first interchange. */
const MAX_LEAD = 1024;
/** Longest group reference that is kept: 0048 has 14 characters, GS06 9. */
const MAX_GROUP = 35;
const NO_SERVICE = -1;
const WAIT = -2;

/**
 * Finds the interchanges of a payload as it comes, in any chunks. A payload that begins with neither UNA, UNB nor ISA costs a look at
 * its first octets. Nothing makes it throw, and what it holds is bounded: at most a service segment, and the findings.
 */
export class InterchangeReader {
  readonly #limits: Required<InterchangeLimits>;
  #phase: 'begin' | 'segments' | 'off' = 'begin';
  #look: PayloadLook = null;
  /** Octets of a piece that could not be judged yet. */
  #carry: Buffer = NOTHING;
  /** In the middle of a segment that says nothing about the interchange. */
  #skipping = false;
  /** The last octet of the chunk before was a release character. */
  #released = false;
  #lead = 0;
  #open: Open | null = null;
  /** Of the interchange begun last, also once it has ended. */
  #last: InterchangeStart | null = null;
  #hashFrom = 0;
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
    return this.#count - this.#findings.length - (this.#open?.hash ? 1 : 0);
  }

  /** The chunk may be reused afterwards. */
  push(chunk: Buffer): void {
    if (this.#phase === 'off' || chunk.length === 0) return;
    const octets = this.#carry.length === 0 ? chunk : Buffer.concat([this.#carry, chunk]);
    const consumed = this.#scan(octets, true);
    this.#carry = consumed >= octets.length ? NOTHING : Buffer.from(octets.subarray(consumed));
  }

  /** All interchanges in the order of the payload. */
  end(): InterchangeFinding[] {
    if (this.#phase !== 'off' && this.#carry.length > 0) this.#scan(this.#carry, false);
    this.#carry = NOTHING;
    const tag = this.#open?.start.kind === 'x12' ? 'IEA' : 'UNZ';
    if (this.#open) this.#close(this.#open.start.complete ? `the payload ends before its ${tag}` : null);
    this.#phase = 'off';
    return this.#findings;
  }

  /** @returns up to where the octets need not be seen again */
  #scan(octets: Buffer, more: boolean): number {
    this.#hashFrom = 0;
    let at = 0;
    if (this.#phase === 'begin') {
      at = this.#begin(octets, more);
      if (at === WAIT) return 0;
      if (this.#look !== 'edifact' && this.#look !== 'x12') return octets.length;
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
      if (this.#open === null) this.#blame('it is followed by something that is no interchange');
      this.#skipping = true;
    }
    this.#digest(octets, at);
    return at;
  }

  /** Finds out what the payload is. @returns where the first segment begins, or WAIT */
  #begin(octets: Buffer, more: boolean): number {
    let at = 0;
    if (octets[0] === 0xef && this.#lead === 0) {
      if (octets.length < 3 && more) return WAIT;
      if (startsWith(octets, 0, '\u00ef\u00bb\u00bf')) at = 3;
    }
    while (at < octets.length && isBlank(octets[at])) at++;
    this.#lead += at;
    if (at === octets.length && this.#lead <= MAX_LEAD) return at;
    if (this.#lead > MAX_LEAD) {
      this.#phase = 'off';
      return octets.length;
    }
    const result = startOf(octets, at, more);
    if (result === 'more') {
      this.#lead -= at; // the same octets are seen again
      return WAIT;
    }
    if (result === 'no') {
      const pdf = '%PDF-';
      const there = Math.min(pdf.length, octets.length - at);
      if (more && there < pdf.length && startsWith(octets, at, pdf.slice(0, there))) {
        this.#lead -= at;
        return WAIT;
      }
      this.#phase = 'off';
      if (there === pdf.length && startsWith(octets, at, pdf)) this.#look = 'pdf';
      return octets.length;
    }
    this.#phase = 'segments';
    this.#look = result.kind;
    return at;
  }

  /** What may stand between segments, and between interchanges also the padding of old systems (NUL, SUB). */
  #isBetween(octet: number): boolean {
    return (
      isBlank(octet) ||
      octet === this.#last?.separators.terminator ||
      (this.#open === null && (octet === 0 || octet === 0x1a))
    );
  }

  /** Goes over a segment. The loop of the hot path: a payload is mostly this. */
  #skip(octets: Buffer, from: number): number {
    const { terminator, release } = this.#last!.separators;
    let at = from;
    if (this.#released) {
      this.#released = false;
      at++;
    }
    const { length } = octets;
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
    const result = startOf(octets, at, more);
    if (result === 'more') return WAIT;
    if (result !== 'no') return this.#begins(result, octets, at);
    if (this.#open === null) return NO_SERVICE;
    const { kind, separators } = this.#open.start;
    const [group, last] = kind === 'x12' ? ['GS', 'IEA'] : ['UNG', 'UNZ'];
    const there = octets.length - at;
    const tag = [group!, last!].find((t) => startsWith(octets, at, t.slice(0, there)));
    if (tag === undefined) return NO_SERVICE;
    if (there <= tag.length) {
      if (more) return WAIT;
      if (there < tag.length) return NO_SERVICE;
    } else if (octets[at + tag.length] !== separators.element && octets[at + tag.length] !== separators.terminator) {
      return NO_SERVICE;
    }
    let end = endOfSegment(octets, at, Math.min(octets.length, at + MAX_SERVICE_SEGMENT), separators);
    const unterminated = end < 0;
    if (unterminated) {
      if (there >= MAX_SERVICE_SEGMENT) return NO_SERVICE;
      if (more) return WAIT;
      end = octets.length;
    }
    const text = octets.toString('latin1', at, end);
    const next = unterminated ? end : end + 1;
    if (tag === group) this.#group(text);
    else this.#ends(text, octets, next, unterminated);
    return next;
  }

  #begins(start: InterchangeStart, octets: Buffer, at: number): number {
    if (this.#open) {
      this.#digest(octets, at);
      const tag = this.#open.start.kind === 'x12' ? 'IEA' : 'UNZ';
      this.#close(`the next interchange begins before its ${tag}`);
    }
    this.#count++;
    const recorded = this.#findings.length < this.#limits.interchanges;
    this.#open = { start, groups: [], hash: recorded ? createHash('sha256') : null, bytes: 0 };
    this.#last = start;
    this.#hashFrom = at;
    this.#skipping = !start.complete;
    return start.end;
  }

  #group(text: string): void {
    const open = this.#open!;
    if (open.hash === null || this.#groups >= this.#limits.groups) return;
    this.#groups++;
    const { kind, separators } = open.start;
    const reference = kind === 'x12' ? referenceOfGs(text, separators) : referenceOfUng(text, separators);
    open.groups.push(reference.slice(0, MAX_GROUP));
  }

  #ends(text: string, octets: Buffer, next: number, unterminated: boolean): void {
    const { kind, separators, header } = this.#open!.start;
    const x12 = kind === 'x12';
    const repeated = x12 ? referenceOfIea(text, separators) : referenceOfUnz(text, separators, true);
    const asWritten = x12 ? repeated : referenceOfUnz(text, separators);
    const [first, last] = x12 ? ['ISA', 'IEA'] : ['UNB', 'UNZ'];
    this.#digest(octets, next);
    const faults: string[] = [];
    if (header.reference !== '' && header.reference !== repeated && header.reference !== asWritten) {
      faults.push(`its ${last} repeats ${quote(repeated)} where its ${first} has ${quote(header.reference)}`);
    }
    // A line break that ends segments is often left out at the end of a file.
    if (unterminated && !isBlank(separators.terminator)) faults.push(`its ${last} has no terminator`);
    this.#close(faults.join('; ') || null);
  }

  #close(fault: string | null): void {
    const { start, groups, hash, bytes } = this.#open!;
    this.#open = null;
    if (hash === null) return;
    const damaged = [start.damaged, fault].filter((sentence) => sentence !== null).join('; ');
    const finding = { kind: start.kind, ...start.header, groups, sha256: hash.digest(), bytes };
    this.#findings.push(damaged === '' ? finding : { ...finding, damaged });
  }

  /** Says something of the interchange that was closed last, once. */
  #blame(sentence: string): void {
    const finding = this.#findings.at(-1);
    if (finding === undefined || this.unrecorded > 0 || finding.damaged?.includes(sentence)) return;
    const damaged = finding.damaged === undefined ? sentence : `${finding.damaged}; ${sentence}`;
    this.#findings[this.#findings.length - 1] = { ...finding, damaged };
  }

  /** Adds the octets up to an index to the digest of the interchange they belong to. */
  #digest(octets: Buffer, to: number): void {
    const open = this.#open;
    if (open?.hash && to > this.#hashFrom) {
      open.hash.update(octets.subarray(this.#hashFrom, to));
      open.bytes += to - this.#hashFrom;
    }
    this.#hashFrom = to;
  }
}

function startOf(octets: Buffer, at: number, more: boolean): StartResult {
  const first = octets[at];
  if (first === 0x55) return startOfEdifact(octets, at, more);
  return first === 0x49 ? startOfX12(octets, at, more) : 'no';
}
