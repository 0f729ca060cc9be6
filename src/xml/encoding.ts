import { TextDecoder } from 'node:util';
import { XmlError } from './xml-error.ts';

/** Turns octets into characters piece by piece; an empty last call flushes. */
export type Decode = (octets: Uint8Array, last: boolean) => string;

/** So many octets of the start are enough for BOM and XML declaration. */
export const HEAD_BYTES = 1024;

/**
 * The decoder for an XML entity: by BOM, else by the charset of its media type, else by its XML declaration, else UTF-8 (RFC 7303 §3,
 * XML 1.0 appendix F). A BOM stays in the characters.
 * @param head the first {@link HEAD_BYTES} octets, or all there are
 * @throws XmlError unknown-encoding here; bad-encoding when decoding meets octets that are none
 */
export function decoderFor(head: Uint8Array, charset: string | undefined): Decode {
  const label = byBom(head) ?? byCharset(head, charset) ?? byDeclaration(head) ?? 'utf-8';
  let decoder: TextDecoder;
  try {
    decoder = new TextDecoder(label, { fatal: true, ignoreBOM: true });
  } catch (cause) {
    throw new XmlError('unknown-encoding', 'The encoding of the XML is not known here.', { cause });
  }
  if (decoder.encoding === 'windows-1252') return latin(label);
  return (octets, last) => {
    try {
      return decoder.decode(octets, { stream: !last });
    } catch (cause) {
      throw new XmlError('bad-encoding', `The XML is not valid ${decoder.encoding}.`, { cause });
    }
  };
}

function byBom(head: Uint8Array): string | null {
  const [a, b, c, d] = head;
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8';
  if (a === 0xfe && b === 0xff) return 'utf-16be';
  if (a === 0xff && b === 0xfe) return c === 0 && d === 0 ? 'utf-32le' : 'utf-16le';
  if (a === 0 && b === 0 && c === 0xfe && d === 0xff) return 'utf-32be';
  return null;
}

function byCharset(head: Uint8Array, charset: string | undefined): string | null {
  if (charset === undefined || charset.trim() === '') return null;
  const label = charset.trim().toLowerCase();
  // RFC 2781 §4.3: "UTF-16" without BOM is big-endian, but senders who forget the BOM write what their machine does; `<` tells.
  if (label === 'utf-16') return withoutBom(head) ?? 'utf-16be';
  return label;
}

function byDeclaration(head: Uint8Array): string | null {
  const wide = withoutBom(head);
  if (wide !== null) return wide;
  const text = Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('latin1');
  const label = /^<\?xml[ \t\r\n][^>?]*?[ \t\r\n]encoding[ \t\r\n]*=[ \t\r\n]*(["'])([A-Za-z][A-Za-z0-9._-]*)\1/.exec(
    text,
  )?.[2];
  if (label === undefined) return null;
  if (/^utf-?(16|32)|ucs/i.test(label))
    throw new XmlError('bad-encoding', 'The XML declares an encoding that it is not in.');
  return label.toLowerCase();
}

/** UTF-16 seen by how it writes `<`. */
function withoutBom(head: Uint8Array): string | null {
  if (head[0] === 0 && head[1] === 0x3c) return 'utf-16be';
  if (head[0] === 0x3c && head[1] === 0) return 'utf-16le';
  return null;
}

/** Code points of windows-1252's octets 0x80 to 0x9F; the five without a character stay C1 controls. */
const WINDOWS_1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

/**
 * The Encoding Standard reads US-ASCII and ISO-8859-1 as windows-1252, XML means what it says; and what Node 20 calls windows-1252 is
 * ISO-8859-1 in truth. So these three are told apart here.
 */
function latin(label: string): Decode {
  const windows = label.endsWith('1252');
  const ascii = label.endsWith('ascii') || label.startsWith('ansi_x3.4');
  return (octets) => {
    if (ascii && octets.some((octet) => octet > 0x7f))
      throw new XmlError('bad-encoding', 'The XML is not valid US-ASCII.');
    const text = Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength).toString('latin1');
    return windows ? text.replace(/[\x80-\x9f]/g, (c) => WINDOWS_1252[c.charCodeAt(0) - 0x80]!) : text;
  };
}
