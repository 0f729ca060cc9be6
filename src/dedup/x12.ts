import {
  type InterchangeHeader,
  isAlphanumeric,
  MAX_SERVICE_SEGMENT,
  type Separators,
  type StartResult,
  split,
  startsWith,
} from './edi.ts';

/** ISA with its terminator, where it has the fixed width of the standard (facts §8.2). */
const FIXED_LENGTH = 106;
/** Indexes of the sixteen element separators of a fixed ISA. */
const FIXED_SEPARATORS = [3, 6, 17, 20, 31, 34, 50, 53, 69, 76, 81, 83, 89, 99, 101, 103];

/**
 * Looks whether an X12 interchange begins here. ISA has a fixed width; where a sender has trimmed or widened its elements, the
 * sixteen separators are counted instead.
 * @param more whether octets may follow those that are there
 */
export function startOfX12(octets: Buffer, at: number, more: boolean): StartResult {
  const there = octets.length - at;
  if (there < 7) return more && startsWith(octets, at, 'ISA'.slice(0, there)) ? 'more' : 'no';
  const element = octets[at + 3]!;
  if (
    !startsWith(octets, at, 'ISA') ||
    isAlphanumeric(element) ||
    element === 0x20 ||
    element === 0x0a ||
    element === 0x0d ||
    octets[at + 6] !== element
  )
    return 'no';
  if (there < FIXED_LENGTH && more) return 'more';
  const fixed = FIXED_SEPARATORS.every((i) => octets[at + i] === element);
  const separators = fixed ? serviceCharacters(octets, at + 104, element) : null;
  if (separators !== null) return start(octets, at, at + FIXED_LENGTH, separators);
  const limit = Math.min(octets.length, at + MAX_SERVICE_SEGMENT);
  let last = at + 3;
  for (let n = 1; n < FIXED_SEPARATORS.length; n++) {
    last++;
    while (last < limit && octets[last] !== element) last++;
  }
  if (last >= limit) return there < MAX_SERVICE_SEGMENT && more ? 'more' : 'no';
  if (octets.length < last + 3) return more ? 'more' : 'no';
  const counted = serviceCharacters(octets, last + 1, element);
  return counted === null ? 'no' : start(octets, at, last + 3, counted);
}

/** ISA16 and the terminator, which stand side by side; null when they cannot be what they should. */
function serviceCharacters(octets: Buffer, at: number, element: number): Separators | null {
  const component = octets[at];
  const terminator = octets[at + 1];
  if (component === undefined || terminator === undefined) return null;
  if (isAlphanumeric(terminator) || terminator === element || terminator === component || component === element)
    return null;
  return { element, component, terminator, release: -1 };
}

function start(octets: Buffer, at: number, end: number, separators: Separators): StartResult {
  const header = readIsa(octets.toString('latin1', at, end - 1), separators);
  const damaged = header.reference === '' ? 'its ISA has no interchange control number (ISA13)' : null;
  return { kind: 'x12', separators, header, end, complete: true, damaged };
}

function readIsa(text: string, s: Separators): InterchangeHeader {
  const isa = split(text, s.element, -1).map((value) => value.trim());
  const usage = isa[15] ?? '';
  return {
    sender: isa[6] ?? '',
    senderQualifier: isa[5] ?? '',
    recipient: isa[8] ?? '',
    recipientQualifier: isa[7] ?? '',
    reference: controlNumber(isa[13] ?? ''),
    dateTime: `${isa[9] ?? ''} ${isa[10] ?? ''}`.trim() || null,
    usage,
    test: usage === 'T',
  };
}

/** ISA13 as IEA02 repeats it. @param text the segment without its terminator */
export function referenceOfIea(text: string, s: Separators): string {
  return controlNumber((split(text, s.element, -1)[2] ?? '').trim());
}

/** GS06. */
export function referenceOfGs(text: string, s: Separators): string {
  return (split(text, s.element, -1)[6] ?? '').trim();
}

/** A control number is nine digits; a sender that trims leaves out the zeros. */
function controlNumber(value: string): string {
  return /^\d{1,8}$/.test(value) ? value.padStart(9, '0') : value;
}
