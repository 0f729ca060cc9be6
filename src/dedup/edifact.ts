import { isUtf8 } from 'node:buffer';
import {
  endOfSegment,
  type InterchangeHeader,
  isAlphanumeric,
  isBlank,
  MAX_SERVICE_SEGMENT,
  NO_HEADER,
  type Separators,
  type StartResult,
  split,
  startsWith,
} from './edi.ts';

/** Level A, and what nearly everyone means without UNA (ISO 9735-1 §5.1). */
const LEVEL_A: Separators = { element: 0x2b, component: 0x3a, terminator: 0x27, release: 0x3f };
/** Level B without UNA: IS3, IS1, IS4 of ISO 646, and no release character. */
const LEVEL_B: Separators = { element: 0x1d, component: 0x1f, terminator: 0x1c, release: -1 };
const UNA_LENGTH = 9;
/** Blanks and line breaks between UNA and UNB. */
const MAX_GAP = 16;
/** `UNB`, its separator, the syntax identifier and what follows it. */
const UNB_PREFIX = 9;

/**
 * Looks whether an EDIFACT interchange begins here: UNB, or UNA and then UNB (facts §8.1). UNA wins over everything else.
 * @param more whether octets may follow those that are there
 */
export function startOfEdifact(octets: Buffer, at: number, more: boolean): StartResult {
  const there = octets.length - at;
  if (there < 3) return more && startsWith(octets, at, 'UN'.slice(0, there)) ? 'more' : 'no';
  if (startsWith(octets, at, 'UNB')) return startOfUnb(octets, at, more, null);
  if (!startsWith(octets, at, 'UNA')) return 'no';
  if (there < UNA_LENGTH) return more ? 'more' : 'no';
  const separators = readUna(octets, at);
  if (separators === null) return 'no';
  let unb = at + UNA_LENGTH;
  while (unb < at + UNA_LENGTH + MAX_GAP && isBlank(octets[unb])) unb++;
  if (octets.length - unb < 3)
    return more && startsWith(octets, unb, 'UNB'.slice(0, octets.length - unb)) ? 'more' : 'no';
  return startsWith(octets, unb, 'UNB') ? startOfUnb(octets, unb, more, separators) : 'no';
}

/** Null when those nine octets cannot be a service string advice. */
function readUna(octets: Buffer, at: number): Separators | null {
  const [component, element, , release, , terminator] = octets.subarray(at + 3, at + UNA_LENGTH);
  const named = [component!, element!, terminator!, ...(release === 0x20 ? [] : [release!])];
  if (new Set(named).size !== named.length || named.some(isAlphanumeric)) return null;
  return {
    component: component!,
    element: element!,
    terminator: terminator!,
    release: release === 0x20 ? -1 : release!,
  };
}

function startOfUnb(octets: Buffer, at: number, more: boolean, una: Separators | null): StartResult {
  if (octets.length - at < UNB_PREFIX) return more ? 'more' : 'no';
  const separator = octets[at + 3]!;
  // Four capitals or digits and then none: else it is a text that happens to begin so.
  if (
    isAlphanumeric(separator) ||
    separator === 0x20 ||
    separator === 0x0a ||
    separator === 0x0d ||
    isAlphanumeric(octets[at + 8])
  )
    return 'no';
  if (!/^[A-Z0-9]{4}$/.test(octets.toString('latin1', at + 4, at + 8))) return 'no';
  const separators = una ?? (separator === LEVEL_B.element ? LEVEL_B : LEVEL_A);
  if (separator !== separators.element && !startsWith(octets, at + 4, 'UNO')) return 'no';
  const start = { kind: 'edifact', separators, header: NO_HEADER, end: at + 4, complete: false } as const;
  if (separator !== separators.element) {
    const expected = una === null ? 'there is no UNA that names it' : 'UNA names another one';
    return { ...start, damaged: `the character after UNB is no data element separator: ${expected}` };
  }
  const limit = Math.min(octets.length, at + MAX_SERVICE_SEGMENT);
  const end = endOfSegment(octets, at, limit, separators);
  if (end >= 0) {
    const header = readUnb(octets.toString('latin1', at, end), separators);
    const damaged = header.reference === '' ? 'its UNB has no interchange control reference (0020)' : null;
    return { ...start, header, end: end + 1, complete: true, damaged };
  }
  if (octets.length - at >= MAX_SERVICE_SEGMENT)
    return { ...start, damaged: `its UNB is longer than ${MAX_SERVICE_SEGMENT} octets` };
  return more ? 'more' : { ...start, damaged: 'the payload ends inside its UNB' };
}

function readUnb(text: string, s: Separators): InterchangeHeader {
  const elements = elementsOf(text, s);
  const [, s001, s002, s003, s004] = elements;
  const utf8 = ['UNOW', 'UNOY'].includes(component(s001, 0, s));
  const value = (element: string | undefined, index: number) => decode(component(element, index, s), utf8);
  const usage = value(elements[11], 0);
  return {
    sender: value(s002, 0),
    senderQualifier: value(s002, 1),
    recipient: value(s003, 0),
    recipientQualifier: value(s003, 1),
    reference: value(elements[5], 0),
    dateTime: `${value(s004, 0)} ${value(s004, 1)}`.trim() || null,
    usage,
    test: usage !== '' && usage !== '0',
  };
}

/** 0020 as UNZ repeats it, read as UTF-8 and as ISO 8859-1. @param text the segment without its terminator */
export function referenceOfUnz(text: string, s: Separators): string[] {
  const reference = component(elementsOf(text, s)[2], 0, s);
  return [decode(reference, true), reference];
}

/** 0048 of UNG. */
export function referenceOfUng(text: string, s: Separators): string {
  return component(elementsOf(text, s)[5], 0, s);
}

function elementsOf(text: string, s: Separators): string[] {
  // Files that are wrapped after so many columns have line breaks anywhere; no value of a service segment may contain one.
  return split(text.replace(/[\r\n]/g, ''), s.element, s.release);
}

/** A component with its release characters resolved. */
function component(element: string | undefined, index: number, s: Separators): string {
  if (element === undefined || element === '') return '';
  const written = split(element, s.component, s.release)[index] ?? '';
  if (s.release < 0) return written.trim();
  const release = String.fromCharCode(s.release);
  if (!written.includes(release)) return written.trim();
  let value = '';
  for (let i = 0; i < written.length; i++) value += written[i] === release ? (written[++i] ?? '') : written[i];
  return value.trim();
}

/** Octets read as ISO 8859-1 keep all values apart; UTF-8 is only nicer to read. */
function decode(latin1: string, utf8: boolean): string {
  if (!utf8) return latin1;
  const octets = Buffer.from(latin1, 'latin1');
  return isUtf8(octets) ? octets.toString('utf8') : latin1;
}
