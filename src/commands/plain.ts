/** A moment as people read it, to the second, always UTC: `2026-11-30 10:15:00 UTC`. */
export function moment(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

const spans = [
  { unit: 'day', ms: 86_400_000 },
  { unit: 'hour', ms: 3_600_000 },
  { unit: 'minute', ms: 60_000 },
] as const;

/** How long something lasts, in its largest unit: `3 days`, `1 hour`, `less than a minute`. */
export function span(ms: number): string {
  for (const { unit, ms: length } of spans) {
    const n = Math.floor(ms / length);
    if (n > 0) return `${n} ${unit}${n === 1 ? '' : 's'}`;
  }
  return 'less than a minute';
}

/** A sender or an operator wrote it: on a terminal it must neither begin a line of its own nor control anything. */
export function oneLine(text: string): string {
  return text.replace(/[\s\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ').trim();
}

/** Columns padded to their widest cell. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((h, i) => Math.max(h.length, ...rows.map((r) => r[i]!.length)));
  return [head, ...rows].map((r) =>
    r
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join('  ')
      .trimEnd(),
  );
}
