import type { Der, DerReader } from './der.ts';

const UTC_TIME = 0x17;
const GENERALIZED_TIME = 0x18;

export function isTime(value: Der): boolean {
  return value.tag === UTC_TIME || value.tag === GENERALIZED_TIME;
}

/** Epoch milliseconds of either form of RFC 5280 §4.1.2.5: in UTC, with seconds. Throws what `reader.fail` makes. */
export function readTime(reader: DerReader, value: Der | undefined): number {
  const text = value !== undefined && isTime(value) ? value.content.toString('latin1') : '';
  const digits = value?.tag === UTC_TIME ? `${Number(text.slice(0, 2)) < 50 ? '20' : '19'}${text}` : text;
  const match = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(digits);
  const time =
    match === null ? Number.NaN : Date.parse(digits.replace(/(....)(..)(..)(..)(..)(..)Z/, '$1-$2-$3T$4:$5:$6Z'));
  if (Number.isNaN(time)) throw reader.fail('has an unreadable date');
  return time;
}
