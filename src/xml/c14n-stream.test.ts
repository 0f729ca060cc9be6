import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalize } from './c14n.ts';
import { canonicalizeStream, type StreamOptions } from './c14n-stream.ts';
import { parseXml } from './parse.ts';
import { documentLike, serialize } from './testing/arbitrary.ts';
import { libxml2Canonical } from './testing/oracle.ts';
import type { XmlErrorCode } from './xml-error.ts';

const MAX = 1_000_000;

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function streamed(bytes: Uint8Array, size: number, options: Partial<StreamOptions> = {}): Promise<string> {
  let out = '';
  for await (const piece of canonicalizeStream(pieces(bytes, size), { maxBytes: MAX, ...options })) out += piece;
  return out;
}

async function refusal(xml: string | Uint8Array, options: Partial<StreamOptions> = {}): Promise<XmlErrorCode> {
  try {
    await streamed(Buffer.from(xml as Uint8Array), 7, options);
  } catch (error) {
    return (error as { code: XmlErrorCode }).code;
  }
  throw new Error('was not refused');
}

const utf16le = (text: string): Buffer => Buffer.from(text, 'utf16le');
const utf16be = (text: string): Buffer => utf16le(text).swap16();
const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

const text = (parts: {
  before: readonly string[];
  root: Parameters<typeof serialize>[0];
  after: readonly string[];
}): string => parts.before.join('') + serialize(parts.root) + parts.after.join('');

describe('canonicalizeStream', () => {
  it('gives for a whole document what libxml2 gives, however it is cut and in every Unicode encoding', async () => {
    await fc.assert(
      fc.asyncProperty(documentLike, fc.integer({ min: 1, max: 40 }), async (parts, size) => {
        // White space before a declaration would be malformed, so the declaration comes only where there is none.
        const body = text(parts);
        const expected = libxml2Canonical(`<?xml version="1.0"?>${body}`, null);
        expect(await streamed(Buffer.from(`<?xml version="1.0"?>${body}`), size)).toBe(expected);
        expect(await streamed(Buffer.from(`\ufeff<?xml version="1.0" encoding="utf-8"?>${body}`), size)).toBe(expected);
        expect(await streamed(Buffer.from(body), 100_000)).toBe(expected);
        const wide = `\ufeff<?xml version="1.0" encoding="UTF-16"?>${body}`;
        expect(libxml2Canonical(utf16be(wide), null)).toBe(expected);
        expect(await streamed(utf16le(wide), size)).toBe(expected);
        expect(await streamed(utf16be(wide), size)).toBe(expected);
        expect(await streamed(utf16le(wide.slice(1)), size, { charset: 'UTF-16' })).toBe(expected);
        expect(await streamed(utf16be(body), size, { charset: 'utf-16be' })).toBe(expected);
      }),
      { numRuns: 500 },
    );
  });

  it('gives for a document without processing instructions what the tree gives', async () => {
    const xml = '<?xml version="1.0"?>\n<a xmlns="urn:a"><!--c-->t<b xmlns="" x="1" a="2"/>\r\n</a>\n<!--d-->';
    expect(await streamed(Buffer.from(xml), 3)).toBe(canonicalize(parseXml(Buffer.from(xml)).root));
  });

  it('keeps processing instructions, with a line feed on the side of the root', async () => {
    const xml = '<?a?>\n\n<?b  x ?><r><?c y?></r>  <?d?><?e z?>\n';
    expect(await streamed(Buffer.from(xml), 5)).toBe('<?a?>\n<?b x ?>\n<r><?c y?></r>\n<?d?>\n<?e z?>');
  });

  it('reads the 8-bit encoding that the XML declaration names', async () => {
    const xml = '<?xml version="1.0" encoding="ISO-8859-1"?><r a="é">äöü\u0085</r>';
    expect(libxml2Canonical(latin1(xml), null)).toBe('<r a="é">äöü\u0085</r>');
    expect(await streamed(latin1(xml), 9)).toBe('<r a="é">äöü\u0085</r>');
  });

  it('tells windows-1252 from ISO-8859-1', async () => {
    const head = Buffer.from('<?xml version="1.0" encoding="windows-1252"?><r>');
    const bytes = Buffer.concat([head, Buffer.from([0x80, 0x93, 0xe4]), Buffer.from('</r>')]);
    expect(await streamed(bytes, 9)).toBe('<r>€“ä</r>');
  });

  it('reads other encodings of the Encoding Standard', async () => {
    const bytes = Buffer.concat([
      Buffer.from("<?xml version='1.0' encoding='ISO-8859-15' ?><r>"),
      Buffer.from([0xa4]),
      Buffer.from('</r>'),
    ]);
    expect(await streamed(bytes, 50)).toBe('<r>€</r>');
  });

  it('lets the charset of the media type win over the XML declaration, and a BOM over both', async () => {
    const xml = '<?xml version="1.0" encoding="ISO-8859-1"?><r>ä</r>';
    expect(await streamed(Buffer.from(xml), 9, { charset: 'utf-8' })).toBe('<r>ä</r>');
    expect(await streamed(latin1(xml), 9, { charset: 'LATIN1' })).toBe('<r>ä</r>');
    expect(await streamed(Buffer.from(`\ufeff${xml}`), 9, { charset: 'iso-8859-1' })).toBe('<r>ä</r>');
  });

  it('refuses an encoding that it does not know', async () => {
    expect(await refusal('<?xml version="1.0" encoding="x-unheard-of"?><r/>')).toBe('unknown-encoding');
    expect(await refusal('<r/>', { charset: 'EBCDIC-CP-US' })).toBe('unknown-encoding');
    expect(await refusal(Buffer.from([0xff, 0xfe, 0, 0, 0x3c, 0, 0, 0]))).toBe('unknown-encoding');
    expect(await refusal(Buffer.from([0, 0, 0xfe, 0xff, 0, 0, 0, 0x3c]))).toBe('unknown-encoding');
  });

  it('refuses octets that the encoding does not have', async () => {
    expect(await refusal(Buffer.from([0x3c, 0x72, 0x3e, 0xff]))).toBe('bad-encoding');
    expect(await refusal(Buffer.from('<r>ä'), { charset: 'us-ascii' })).toBe('bad-encoding');
    expect(await refusal(Buffer.concat([Buffer.from('<r>'), Buffer.from([0xc3])]))).toBe('bad-encoding');
    expect(await refusal(utf16le('\ufeff<r>\ud800</r>'))).toBe('bad-encoding');
  });

  it('refuses a declaration of UTF-16 in octets that are none', async () => {
    expect(await refusal('<?xml version="1.0" encoding="UTF-16"?><r/>')).toBe('bad-encoding');
  });

  it('refuses a DOCTYPE, with or without an internal subset', async () => {
    expect(await refusal('<!DOCTYPE r><r/>')).toBe('doctype');
    expect(await refusal('<!DOCTYPE r [<!ENTITY a "b">]><r>&a;</r>')).toBe('doctype');
  });

  it.each([
    ['an empty body', ''],
    ['white space alone', ' \n '],
    ['a truncated document', '<r><a></a>'],
    ['a truncated reference', '<r>&am'],
    ['two roots', '<r/><r/>'],
    ['text behind the root', '<r/>x'],
    ['two BOMs', '\ufeff\ufeff<r/>'],
    ['XML 1.1', '<?xml version="1.1"?><r/>'],
    ['an XML declaration behind white space', ' <?xml version="1.0"?><r/>'],
    ['an unbound prefix', '<p:r/>'],
    ['an HTML entity', '<r>&nbsp;</r>'],
  ])('refuses %s as malformed', async (_what, xml) => {
    expect(await refusal(xml)).toBe('malformed');
  });

  it('takes exactly the limit of octets and refuses one more', async () => {
    const xml = '<r>12345</r>';
    expect(await streamed(Buffer.from(xml), 5, { maxBytes: xml.length })).toBe(xml);
    expect(await refusal(xml, { maxBytes: xml.length - 1 })).toBe('too-large');
  });

  it('refuses nesting beyond its limit', async () => {
    const nested = (n: number): string => '<a>'.repeat(n) + '</a>'.repeat(n);
    expect(await streamed(Buffer.from(nested(256)), 1000)).toBe(nested(256));
    expect(await refusal(nested(257))).toBe('too-deep');
  });

  it('passes errors of the source on as they are, and closes the source when its reader stops', async () => {
    const broken = new Error('the connection is gone');
    async function* fails(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('<r>');
      throw broken;
    }
    await expect(canonicalizeStream(fails(), { maxBytes: MAX }).next()).rejects.toBe(broken);

    let closed = false;
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        yield Buffer.from('<r>');
        for (;;) yield Buffer.from('<a/>'.repeat(500));
      } finally {
        closed = true;
      }
    }
    for await (const _piece of canonicalizeStream(endless(), { maxBytes: MAX })) break;
    expect(closed).toBe(true);
  });

  it('refuses thousands of namespace prefixes, and takes a few that are declared on every element', async () => {
    const rows = (row: string) => `<r>${row.repeat(5000)}</r>`;
    const ubl = 'urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2';
    const everyElement = rows(`<cbc:ID xmlns:cbc="${ubl}">1</cbc:ID>`);
    expect(await streamed(Buffer.from(everyElement), 1000)).toBe(everyElement);
    expect(await streamed(Buffer.from(rows('<v xmlns="">1</v>')), 1000)).toBe(rows('<v>1</v>'));
    const many = (count: number) =>
      `<r>${Array.from({ length: count }, (_, i) => `<y xmlns:n${i}="u"/>`).join('')}</r>`;
    expect(await streamed(Buffer.from(many(128)), 7)).toContain('<y></y>');
    expect(await refusal(many(129))).toBe('too-many-namespaces');
  });

  it('hands canonical text on while the document is still coming', async () => {
    let given = 0;
    async function* long(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('<r>');
      for (; given < 1000; given++) yield Buffer.from('<item>some text</item>'.repeat(100));
      yield Buffer.from('</r>');
    }
    let longest = 0;
    let givenAtFirst = -1;
    for await (const piece of canonicalizeStream(long(), { maxBytes: 10_000_000 })) {
      longest = Math.max(longest, piece.length);
      if (givenAtFirst < 0) givenAtFirst = given;
    }
    expect(givenAtFirst).toBeLessThan(3);
    expect(given).toBe(1000);
    expect(longest).toBeLessThan(10_000);
  });
});
