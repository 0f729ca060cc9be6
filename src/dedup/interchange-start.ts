import { isBlank, type StartResult, startsWith } from './edi.ts';
import { startOfEdifact } from './edifact.ts';
import { startOfX12 } from './x12.ts';

/** What the first octets of a payload look like; null is anything else. */
export type PayloadLook = 'edifact' | 'x12' | 'pdf' | null;

/** Blanks before the first interchange. */
const MAX_LEAD = 1024;
const BYTE_ORDER_MARK = '\u00ef\u00bb\u00bf';
const PDF = '%PDF-';

/**
 * Looks whether an interchange begins here.
 * @param more whether octets may follow those that are there
 */
export function startOfInterchange(octets: Buffer, at: number, more: boolean): StartResult {
  const first = octets[at];
  if (first === 0x55) return startOfEdifact(octets, at, more);
  return first === 0x49 ? startOfX12(octets, at, more) : 'no';
}

/** Finds out what a payload is, by its first octets. */
export class PayloadBeginning {
  /** Blanks and byte order mark that were consumed. */
  #lead = 0;

  /**
   * @returns the look and the index of what it was seen in, or the index up to which the octets say nothing: they need not be seen
   *   again, those behind it are, together with more
   */
  look(
    octets: Buffer,
    more: boolean,
  ): { readonly is: PayloadLook; readonly at: number } | { readonly undecidedAt: number } {
    let at = 0;
    if (octets[0] === 0xef && this.#lead === 0) {
      if (octets.length < 3 && more) return { undecidedAt: 0 };
      if (startsWith(octets, 0, BYTE_ORDER_MARK)) at = 3;
    }
    while (at < octets.length && isBlank(octets[at])) at++;
    this.#lead += at;
    if (this.#lead > MAX_LEAD) return { is: null, at };
    if (at === octets.length) return { undecidedAt: at };
    const start = startOfInterchange(octets, at, more);
    if (start === 'more') return { undecidedAt: at };
    if (start !== 'no') return { is: start.kind, at };
    const there = Math.min(PDF.length, octets.length - at);
    if (!startsWith(octets, at, PDF.slice(0, there))) return { is: null, at };
    if (there === PDF.length) return { is: 'pdf', at };
    return more ? { undecidedAt: at } : { is: null, at };
  }
}
