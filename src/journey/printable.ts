/** Characters of a value that a sender wrote and that goes into a log, a warning or metadata. */
const LONGEST = 255;

/** What a sender wrote, fit for a line of a log: without control and format characters, and cut. */
export function printable(text: string): string {
  // Cut first: the rest need not be looked at. Lone halves of a pair would be no Unicode.
  const cut = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  return cut.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '');
}
