/** What the readers of EDIFACT and X12 have in common: octets in, texts out. */

/**
 * Longest service segment (UNB, UNZ, ISA, …) that is read. The longest UNB of syntax 4 has about 350 characters, twice that if each
 * is released; what is longer is skipped over, so that memory stays bounded.
 */
export const MAX_SERVICE_SEGMENT = 1024;

/** The service characters of an interchange, as octets. */
export interface Separators {
  readonly element: number;
  /** -1: the interchange names none. */
  readonly component: number;
  readonly terminator: number;
  /** -1: there is none, as always in X12. */
  readonly release: number;
}

/** What the header of an interchange says. All texts are trimmed; `''` is what was absent or could not be read. */
export interface InterchangeHeader {
  readonly sender: string;
  readonly senderQualifier: string;
  readonly recipient: string;
  readonly recipientQualifier: string;
  /** 0020 or ISA13, the latter zero-padded to nine digits. */
  readonly reference: string;
  /** S004 or ISA09/10 as `date time`, in the digits that the sender wrote; null when there is neither. */
  readonly dateTime: string | null;
  /** 0035 or ISA15 as written. */
  readonly usage: string;
  readonly test: boolean;
}

export const NO_HEADER: InterchangeHeader = {
  sender: '',
  senderQualifier: '',
  recipient: '',
  recipientQualifier: '',
  reference: '',
  dateTime: null,
  usage: '',
  test: false,
};

/** An interchange begins: its header was found and, unless `damaged` says otherwise, read. */
export interface InterchangeStart {
  readonly kind: 'edifact' | 'x12';
  readonly separators: Separators;
  readonly header: InterchangeHeader;
  /** Index behind the header, or within it when it could not be read to its terminator. */
  readonly end: number;
  readonly complete: boolean;
  readonly damaged: string | null;
}

/** `no`: here begins no interchange. `more`: the octets that are there do not tell yet. */
export type StartResult = 'no' | 'more' | InterchangeStart;

/** Index of the segment's terminator, or -1 when there is none before `to`. */
export function endOfSegment(octets: Uint8Array, from: number, to: number, s: Separators): number {
  const { terminator, release } = s;
  for (let i = from; i < to; i++) {
    const octet = octets[i];
    if (octet === terminator) return i;
    if (octet === release) i++;
  }
  return -1;
}

/** Splits at a service character that is not released. The pieces are still as written: release characters stay in. */
export function split(text: string, separator: number, release: number): string[] {
  const pieces: string[] = [];
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === release) i++;
    else if (code === separator) {
      pieces.push(text.slice(from, i));
      from = i + 1;
    }
  }
  pieces.push(text.slice(from));
  return pieces;
}

/** Blank, tab, CR, LF: no part of either syntax, and common between segments. */
export function isBlank(octet: number | undefined): boolean {
  return octet === 0x20 || octet === 0x0a || octet === 0x0d || octet === 0x09;
}

export function isAlphanumeric(octet: number | undefined): boolean {
  if (octet === undefined) return false;
  return (octet >= 0x30 && octet <= 0x39) || (octet >= 0x41 && octet <= 0x5a) || (octet >= 0x61 && octet <= 0x7a);
}

export function startsWith(octets: Uint8Array, at: number, tag: string): boolean {
  for (let i = 0; i < tag.length; i++) if (octets[at + i] !== tag.charCodeAt(i)) return false;
  return true;
}
