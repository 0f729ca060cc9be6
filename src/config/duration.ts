const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * Milliseconds of a duration as operators write it: `90d`, `12h`, `5m`, `30s`, `500ms`, `1.5h`.
 * @returns null when the text is no duration, or longer than a number can say exactly
 */
export function parseDuration(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?) ?(ms|s|m|h|d)$/.exec(text.trim());
  if (!match) return null;
  const milliseconds = Math.round(Number(match[1]) * UNITS[match[2]!]!);
  return Number.isSafeInteger(milliseconds) ? milliseconds : null;
}
