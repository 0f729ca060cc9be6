const form = /^(\d{4}-\d{2}-\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})?)?$/;

/**
 * A moment as operators write it: `2026-11-30` (its beginning), `2026-11-30T10:15`, `2026-11-30T10:15:00+01:00`. Without a zone it is
 * UTC, as everything that we print.
 * @returns epoch ms; null when it is none
 */
export function parseInstant(text: string): number | null {
  const [whole, date, zone] = form.exec(text.trim()) ?? [];
  if (whole === undefined || date === undefined) return null;
  // The engine takes the 31st of any month, and means a day of the next one.
  if (new Date(`${date}T00:00Z`).toJSON()?.slice(0, 10) !== date) return null;
  const iso = whole.replace(' ', 'T');
  const ms = Date.parse(zone === undefined && iso.length > date.length ? `${iso}Z` : iso);
  return Number.isNaN(ms) ? null : ms;
}
