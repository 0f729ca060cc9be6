const DATE_TIME = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(Z|([+-])(\d\d):(\d\d))?$/;

/** A moment read from an xsd:dateTime. */
export interface DateTime {
  /** Epoch milliseconds; a value without time zone is UTC (Core §5.2.2.1). Digits below the millisecond are cut. */
  readonly ms: number;
  readonly hasZone: boolean;
}

/**
 * Reads an xsd:dateTime with a four-digit year and at most nine fraction digits.
 * @returns null when the text is no such dateTime or the date does not exist (30 February, 25 o'clock)
 */
export function parseDateTime(value: string): DateTime | null {
  const match = DATE_TIME.exec(value);
  if (match === null) return null;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const fraction = Number((match[7] ?? '').padEnd(3, '0').slice(0, 3));
  // 24:00:00 is the one way of xsd:dateTime to write the next midnight.
  const midnight = hour === 24 && minute === 0 && second === 0 && Number(match[7] ?? 0) === 0;
  if (year === 0 || minute > 59 || second > 59 || (hour > 23 && !midnight)) return null;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  let offset = 0;
  if (match[9] !== undefined) {
    const zoneHour = Number(match[10]);
    const zoneMinute = Number(match[11]);
    offset = zoneHour * 60 + zoneMinute;
    if (zoneMinute > 59 || offset > 14 * 60) return null;
    if (match[9] === '-') offset = -offset;
  }
  const ms = date.getTime() + hour * 3_600_000 + (minute - offset) * 60_000 + second * 1000 + fraction;
  return { ms, hasZone: match[8] !== undefined };
}
