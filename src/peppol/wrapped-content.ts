import { sbdFault } from './sbd-fault.ts';

/** Longest piece after `&` that can still be a reference. */
const MAX_REFERENCE = 12;
const PREDEFINED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };
const NOTHING = Buffer.alloc(0);

/**
 * Decodes the character data of a TextContent or BinaryContent as it comes: references, line ends (XML 1.0 §2.11), for
 * BinaryContent base64 (RFC 4648 §4; white space is skipped, everything else must be right).
 */
export class WrappedContent {
  readonly #base64: Base64 | null;
  /** A line end or reference that the end of a piece has cut. */
  #held = '';

  constructor(kind: 'text' | 'binary') {
    this.#base64 = kind === 'binary' ? new Base64() : null;
  }

  /**
   * @param piece never cut inside a character
   * @param cdata whether it stands in a CDATA section, where references are text
   * @param last whether the run of character data ends with it
   */
  push(piece: Buffer, cdata: boolean, last: boolean): Buffer {
    let text = this.#held + piece.toString('utf8');
    this.#held = '';
    if (!last) text = this.#hold(text, cdata);
    if (text.includes('\r')) text = text.replace(/\r\n?/g, '\n');
    if (!cdata && text.includes('&')) text = text.replace(/&([^;]*)(;?)/g, resolve);
    return this.#base64 === null ? Buffer.from(text) : this.#base64.push(text);
  }

  end(): void {
    this.#base64?.end();
  }

  #hold(text: string, cdata: boolean): string {
    let keep = text.endsWith('\r') ? 1 : 0;
    const ampersand = cdata ? -1 : text.lastIndexOf('&');
    if (ampersand >= 0 && !text.includes(';', ampersand)) {
      keep = text.length - ampersand;
      if (keep > MAX_REFERENCE) throw badReference();
    }
    this.#held = text.slice(text.length - keep);
    return keep === 0 ? text : text.slice(0, -keep);
  }
}

function resolve(_: string, name: string, semicolon: string): string {
  if (semicolon === '' || name.length > MAX_REFERENCE) throw badReference();
  const known = Object.hasOwn(PREDEFINED, name) ? PREDEFINED[name] : undefined;
  if (known !== undefined) return known;
  const number = /^#(?:x([0-9a-fA-F]+)|([0-9]+))$/.exec(name);
  const code = number === null ? -1 : Number.parseInt(number[1] ?? number[2] ?? '', number[1] === undefined ? 10 : 16);
  if (!isCharacter(code)) throw badReference();
  return String.fromCodePoint(code);
}

/** XML 1.0 §2.2 production Char. */
function isCharacter(code: number): boolean {
  if (code < 0x20) return code === 9 || code === 10 || code === 13;
  return code <= 0xd7ff || (code >= 0xe000 && code <= 0xfffd) || (code >= 0x10000 && code <= 0x10ffff);
}

function badReference(): ReturnType<typeof sbdFault> {
  return sbdFault('its content has an & that begins no character or entity reference of XML', 'sbd-malformed');
}

class Base64 {
  /** Up to three characters of an unfinished group. */
  #rest = '';
  #ended = false;

  push(text: string): Buffer {
    const characters = this.#rest + text.replace(/[ \t\n\r]+/g, '');
    const whole = characters.length - (characters.length % 4);
    this.#rest = characters.slice(whole);
    if (whole === 0) return NOTHING;
    const groups = characters.slice(0, whole);
    if (this.#ended || !/^[A-Za-z0-9+/]*={0,2}$/.test(groups)) throw badBase64();
    this.#ended = groups.endsWith('=');
    return Buffer.from(groups, 'base64');
  }

  end(): void {
    if (this.#rest !== '') throw badBase64();
  }
}

function badBase64(): ReturnType<typeof sbdFault> {
  return sbdFault('the BinaryContent is not base64', 'sbd-base64');
}
