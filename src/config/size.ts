const UNITS: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
};

/**
 * Bytes of a size as operators write it: decimal `110MB`, binary `256KiB`, or `512B`. The unit may not be left out: "110" could be either.
 * @returns null when the text is no size, or more bytes than a number can say exactly
 */
export function parseSize(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?) ?([kmgt]?i?b)$/i.exec(text.trim());
  const unit = match && UNITS[match[2]!.toLowerCase()];
  if (!match || !unit) return null;
  const bytes = Math.round(Number(match[1]) * unit);
  return Number.isSafeInteger(bytes) ? bytes : null;
}
