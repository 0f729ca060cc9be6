import { type Der, DerReader, TAG } from './der.ts';
import { PkiError } from './errors.ts';

/** One AttributeTypeAndValue of X.501: `type` is a dotted OID, `value` the decoded string, or `#` and the BER in hex. */
export interface NameAttribute {
  readonly type: string;
  readonly value: string;
}

/**
 * A parsed X.501 name. `rdns` stand in the order of the certificate (country first, as a rule).
 * A name that came as text is in the order that RFC 4514 §2.1 implies; writers that forget to reverse exist,
 * hence `source`: `sameDn` gives text, and only text, the benefit of either order.
 */
export interface DistinguishedName {
  readonly source: 'der' | 'text';
  readonly rdns: readonly (readonly NameAttribute[])[];
}

/** Keywords that RFC 4514 §3, RFC 1779, OpenSSL and Java write for attribute types. */
const KEYWORDS: ReadonlyMap<string, string> = new Map([
  ['CN', '2.5.4.3'],
  ['COMMONNAME', '2.5.4.3'],
  ['SURNAME', '2.5.4.4'],
  ['SN', '2.5.4.4'],
  ['SERIALNUMBER', '2.5.4.5'],
  ['C', '2.5.4.6'],
  ['COUNTRYNAME', '2.5.4.6'],
  ['L', '2.5.4.7'],
  ['LOCALITYNAME', '2.5.4.7'],
  ['ST', '2.5.4.8'],
  ['S', '2.5.4.8'],
  ['STATEORPROVINCENAME', '2.5.4.8'],
  ['STREET', '2.5.4.9'],
  ['O', '2.5.4.10'],
  ['ORGANIZATIONNAME', '2.5.4.10'],
  ['OU', '2.5.4.11'],
  ['ORGANIZATIONALUNITNAME', '2.5.4.11'],
  ['T', '2.5.4.12'],
  ['TITLE', '2.5.4.12'],
  ['DESCRIPTION', '2.5.4.13'],
  ['BUSINESSCATEGORY', '2.5.4.15'],
  ['POSTALCODE', '2.5.4.17'],
  ['GN', '2.5.4.42'],
  ['GIVENNAME', '2.5.4.42'],
  ['DNQ', '2.5.4.46'],
  ['DNQUALIFIER', '2.5.4.46'],
  ['ORGANIZATIONIDENTIFIER', '2.5.4.97'],
  ['UID', '0.9.2342.19200300.100.1.1'],
  ['DC', '0.9.2342.19200300.100.1.25'],
  ['E', '1.2.840.113549.1.9.1'],
  ['EMAIL', '1.2.840.113549.1.9.1'],
  ['EMAILADDRESS', '1.2.840.113549.1.9.1'],
]);

const SHORT_NAMES: ReadonlyMap<string, string> = new Map(
  ['C', 'ST', 'L', 'O', 'OU', 'CN', 'SERIALNUMBER', 'DC', 'UID', 'STREET', 'EMAILADDRESS'].map((k) => [
    KEYWORDS.get(k) as string,
    k,
  ]),
);

/** X.520 commonName. */
export const COMMON_NAME = '2.5.4.3';
/** X.520 organizationalUnitName. */
export const ORGANIZATIONAL_UNIT = '2.5.4.11';

/** Names also come out of messages; a real one has about 100 characters. */
const MAX_LENGTH = 4096;
const der = new DerReader('bad-name', 'The distinguished name');

/** Reads a Name out of a certificate or CRL. Throws PkiError `bad-name`. */
export function readDn(name: Der | undefined): DistinguishedName {
  const rdns = der.inside(name, TAG.sequence).map((rdn) =>
    der.inside(rdn, TAG.set).map((pair): NameAttribute => {
      const [type, value] = der.inside(pair, TAG.sequence);
      return { type: der.oid(type), value: stringOf(value) };
    }),
  );
  return { source: 'der', rdns };
}

/** DirectoryString and its kin (X.520 §6.1) by identifier octet; any other type stays hex. */
function stringOf(value: Der | undefined): string {
  if (value === undefined) throw der.fail('is not built as X.509 says');
  switch (value.tag) {
    case 0x0c: // UTF8String
    case 0x12: // NumericString
    case 0x13: // PrintableString
    case 0x16: // IA5String
    case 0x1a: // VisibleString
      return value.content.toString('utf8');
    case 0x14: // TeletexString, in practice always Latin-1
      return value.content.toString('latin1');
    case 0x1e: // BMPString
      return value.content.length % 2 === 0 ? Buffer.from(value.content).swap16().toString('utf16le') : hexOf(value);
    default:
      return hexOf(value);
  }
}

function hexOf(value: Der): string {
  return `#${value.whole.toString('hex')}`;
}

/**
 * Parses a name written as RFC 4514 or 2253 (`CN=a,O=b`), RFC 1779 (quotes, `;`, `OID.2.5.4.3=`) or OpenSSL (`/C=b/CN=a`).
 * Throws PkiError `bad-name` when it is none of these.
 */
export function parseDn(written: string): DistinguishedName {
  if (written.length > MAX_LENGTH) throw der.fail(`is longer than ${MAX_LENGTH} characters`);
  const trimmed = written.trimStart();
  if (/^\/[A-Za-z0-9.]+=/.test(trimmed)) {
    const parts = trimmed.slice(1).split(/\/(?=[A-Za-z][A-Za-z0-9.]*=|[0-9]+(?:\.[0-9]+)+=)/);
    return { source: 'text', rdns: parts.map((part) => [attributeOf(part, part)]) };
  }
  const rdns: NameAttribute[][] = [];
  let rdn: NameAttribute[] = [];
  for (const { raw, end } of splitUnescaped(trimmed)) {
    rdn.push(attributeOf(raw, trimmed));
    if (end !== '+') {
      rdns.push(rdn);
      rdn = [];
    }
  }
  return { source: 'text', rdns: rdns.reverse() };
}

function* splitUnescaped(text: string): Generator<{ raw: string; end: string }> {
  if (text === '') return;
  let start = 0;
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i] as string;
    if (c === '\\') i++;
    else if (c === '"') quoted = !quoted;
    else if (!quoted && (c === ',' || c === ';' || c === '+')) {
      yield { raw: text.slice(start, i), end: c };
      start = i + 1;
    }
  }
  if (quoted) throw new PkiError('bad-name', 'The distinguished name has a quote that does not end');
  yield { raw: text.slice(start), end: '' };
}

function attributeOf(raw: string, whole: string): NameAttribute {
  const equals = raw.indexOf('=');
  if (equals < 0) throw new PkiError('bad-name', `The distinguished name "${whole}" has a part without "="`);
  const keyword = raw
    .slice(0, equals)
    .trim()
    .replace(/^oid\./i, '');
  const type = /^\d+(\.\d+)+$/.test(keyword) ? keyword : KEYWORDS.get(keyword.toUpperCase());
  if (type === undefined) {
    throw new PkiError('bad-name', `The distinguished name "${whole}" has the unknown attribute type "${keyword}"`);
  }
  return { type, value: unescapeValue(raw.slice(equals + 1).replace(/^\s+/, '')) };
}

function unescapeValue(written: string): string {
  let text = trimUnescapedEnd(written);
  if (/^#(?:[0-9a-f]{2})+$/i.test(text)) return stringOf(der.one(Buffer.from(text.slice(1), 'hex')));
  if (text.startsWith('"')) {
    if (text.length < 2 || !text.endsWith('"')) throw der.fail('has text beside a quoted value');
    text = text.slice(1, -1);
  }
  // Hex pairs are octets of UTF-8 (RFC 4514 §2.4): a run of them is decoded together.
  return text.replace(/((?:\\[0-9a-f]{2})+)|\\(.)/gis, (_, octets: string | undefined, escaped: string) =>
    octets === undefined ? escaped : Buffer.from(octets.replaceAll('\\', ''), 'hex').toString('utf8'),
  );
}

/** Cuts blanks at the end, but not one that is escaped: it belongs to the value (RFC 4514 §2.4). */
function trimUnescapedEnd(written: string): string {
  const trimmed = written.trimEnd();
  const backslashes = /\\*$/.exec(trimmed)?.[0].length ?? 0;
  return backslashes % 2 === 1 ? written.slice(0, trimmed.length + 1) : trimmed;
}

/** True when both are the same name: types and values pairwise equal, case and runs of blanks aside (RFC 5280 §7.1). */
export function sameDn(a: DistinguishedName, b: DistinguishedName): boolean {
  if (a.rdns.length !== b.rdns.length) return false;
  const left = a.rdns.map(foldRdn);
  const right = b.rdns.map(foldRdn);
  if (left.every((rdn, i) => rdn === right[i])) return true;
  return (a.source === 'text' || b.source === 'text') && left.every((rdn, i) => rdn === right[right.length - 1 - i]);
}

function foldRdn(rdn: readonly NameAttribute[]): string {
  const pairs = rdn.map(({ type, value }) => [type, value.normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase()]);
  return JSON.stringify(pairs.map((pair) => JSON.stringify(pair)).sort());
}

/** All values of one attribute type, in order. */
export function valuesOf(name: DistinguishedName, type: string): string[] {
  return name.rdns.flatMap((rdn) => rdn.filter((pair) => pair.type === type).map((pair) => pair.value));
}

/** The name as RFC 4514 text, for logs and messages. */
export function formatDn(name: DistinguishedName): string {
  const escaped = (value: string) =>
    value.startsWith('#') ? value : value.replace(/[\\,;+"<>=]|^[ #]| $/g, (c) => `\\${c}`);
  const pairs = (rdn: readonly NameAttribute[]) =>
    rdn.map(({ type, value }) => `${SHORT_NAMES.get(type) ?? type}=${escaped(value)}`).join('+');
  return [...name.rdns].reverse().map(pairs).join(',');
}
