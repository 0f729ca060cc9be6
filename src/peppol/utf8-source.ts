import { isAscii, isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { quote } from '../ebms/quote.ts';
import { sbdFault } from './sbd-fault.ts';

/** Turns octets of any chunking into UTF-8 that is never cut inside a character. */
interface Transcoder {
  push(chunk: Buffer): Buffer;
  end(): Buffer;
}

const NOTHING = Buffer.alloc(0);
/** How far an XML declaration may reach. */
const DECLARATION_LIMIT = 1024;

/** Encodings that are accepted, by lower-case name. */
const TRANSCODERS: Readonly<Record<string, () => Transcoder>> = {
  'utf-8': () => new Utf8(),
  utf8: () => new Utf8(),
  'us-ascii': () => new Ascii(),
  'utf-16le': () => new Decoded('utf-16le'),
  'utf-16be': () => new Decoded('utf-16be'),
  // WHATWG's decoder means windows-1252 by this name, which is another set.
  'iso-8859-1': () => new Latin1(),
  'iso-8859-15': () => new Decoded('iso-8859-15'),
  'windows-1252': () => new Decoded('windows-1252'),
};

/**
 * Finds out the encoding of an XML text and yields it as UTF-8 without byte order mark, for UTF-8 the very octets.
 * BOM, then UTF-16 by its first characters, then the XML declaration, then the charset that came with it, then UTF-8: the
 * declaration was written with the octets, the charset by somebody else.
 * @throws {As4Error} EBMS:0004 for octets that are not what they claim to be, and for other encodings
 */
export class Utf8Source {
  readonly #charset: string | undefined;
  #transcoder: Transcoder | null = null;
  #head: Buffer = NOTHING;

  constructor(charset: string | undefined) {
    this.#charset = charset;
  }

  push(chunk: Uint8Array): Buffer {
    const octets = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (this.#transcoder !== null) return this.#transcoder.push(octets);
    this.#head = this.#head.length === 0 ? octets : Buffer.concat([this.#head, octets]);
    if (!isDecidable(this.#head)) {
      this.#head = Buffer.from(this.#head); // the caller may reuse its chunk
      return NOTHING;
    }
    return this.#decide();
  }

  end(): Buffer {
    const first = this.#transcoder === null ? this.#decide() : NOTHING;
    const last = this.#transcoder?.end() ?? NOTHING;
    return first.length === 0 ? last : Buffer.concat([first, last]);
  }

  #decide(): Buffer {
    const { name, skip } = detect(this.#head, this.#charset);
    const make = Object.hasOwn(TRANSCODERS, name) ? TRANSCODERS[name] : undefined;
    if (make === undefined) throw sbdFault(`its encoding ${quote(name)} is not supported`, 'sbd-encoding');
    this.#transcoder = make();
    const head = this.#head.subarray(skip);
    this.#head = NOTHING;
    return this.#transcoder.push(head);
  }
}

function isDecidable(head: Buffer): boolean {
  if (head.length < 4) return false;
  // Only a text that begins with an XML declaration must be seen up to its end.
  return head.length >= DECLARATION_LIMIT || !head.includes('<?') || head.includes('?>');
}

function detect(head: Buffer, charset: string | undefined): { name: string; skip: number } {
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return { name: 'utf-8', skip: 3 };
  if (head[0] === 0xff && head[1] === 0xfe) return { name: 'utf-16le', skip: 2 };
  if (head[0] === 0xfe && head[1] === 0xff) return { name: 'utf-16be', skip: 2 };
  if (head[0] === 0x3c && head[1] === 0) return { name: 'utf-16le', skip: 0 };
  if (head[0] === 0 && head[1] === 0x3c) return { name: 'utf-16be', skip: 0 };
  const start = head.toString('latin1', 0, DECLARATION_LIMIT);
  // A PDF or an EDI file is told so, not that it is bad UTF-8.
  if (/^[ \t\r\n]*[^ \t\r\n<]/.test(start)) throw sbdFault('it is not XML', 'sbd-malformed');
  const declared = /^<\?xml\s[^?>]*?encoding\s*=\s*["']([^"']{1,60})["']/.exec(start)?.[1];
  return { name: (declared ?? charset ?? 'utf-8').toLowerCase(), skip: 0 };
}

class Utf8 implements Transcoder {
  #cut: Buffer = NOTHING;

  push(chunk: Buffer): Buffer {
    const octets = this.#cut.length === 0 ? chunk : Buffer.concat([this.#cut, chunk]);
    const whole = octets.length - cutLength(octets);
    this.#cut = whole === octets.length ? NOTHING : Buffer.from(octets.subarray(whole));
    const characters = octets.subarray(0, whole);
    if (!isUtf8(characters)) throw notWhatItClaims('UTF-8');
    return characters;
  }

  end(): Buffer {
    if (this.#cut.length > 0) throw notWhatItClaims('UTF-8');
    return NOTHING;
  }
}

/** Octets at the end that begin a character without completing it. */
function cutLength(octets: Buffer): number {
  for (let back = 1; back <= Math.min(3, octets.length); back++) {
    const octet = octets[octets.length - back]!;
    if (octet >= 0xc0) return back < (octet >= 0xf0 ? 4 : octet >= 0xe0 ? 3 : 2) ? back : 0;
    if (octet < 0x80) return 0;
  }
  return 0;
}

class Ascii implements Transcoder {
  push(chunk: Buffer): Buffer {
    if (!isAscii(chunk)) throw notWhatItClaims('US-ASCII');
    return chunk;
  }

  end(): Buffer {
    return NOTHING;
  }
}

class Latin1 implements Transcoder {
  push(chunk: Buffer): Buffer {
    return Buffer.from(chunk.toString('latin1'));
  }

  end(): Buffer {
    return NOTHING;
  }
}

class Decoded implements Transcoder {
  readonly #decoder: TextDecoder;

  constructor(label: string) {
    this.#decoder = new TextDecoder(label, { fatal: true, ignoreBOM: true });
  }

  push(chunk: Buffer): Buffer {
    return this.#decode(() => this.#decoder.decode(chunk, { stream: true }));
  }

  end(): Buffer {
    return this.#decode(() => this.#decoder.decode());
  }

  #decode(next: () => string): Buffer {
    try {
      return Buffer.from(next());
    } catch (error) {
      throw notWhatItClaims(this.#decoder.encoding, error);
    }
  }
}

function notWhatItClaims(name: string, cause?: unknown): ReturnType<typeof sbdFault> {
  return sbdFault(`its octets are not valid ${name}`, 'sbd-encoding', cause);
}
