import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseXml } from '../xml/parse.ts';
import { documentFile } from './document-file.ts';
import { type Sbd, SbdReader, type SbdReaderOptions } from './sbd.ts';

const SH = 'http://www.unece.org/cefact/namespaces/StandardBusinessDocumentHeader';
const WRAPPER = 'http://peppol.eu/xsd/ticc/envelope/1.0';
const scope = (type: string, instance: string, identifier = '') =>
  `<Scope><Type>${type}</Type><InstanceIdentifier>${instance}</InstanceIdentifier>${identifier === '' ? '' : `<Identifier>${identifier}</Identifier>`}</Scope>`;
const party = (side: string, value: string) =>
  `<${side}><Identifier Authority="iso6523-actorid-upis">${value}</Identifier></${side}>`;
const HEADER =
  `<StandardBusinessDocumentHeader><HeaderVersion>1.0</HeaderVersion>${party('Sender', '0088:s')}${party('Receiver', '0088:r')}` +
  '<DocumentIdentification><Standard>urn:i</Standard><TypeVersion>2.1</TypeVersion><InstanceIdentifier>uuid-1</InstanceIdentifier>' +
  '<Type>Invoice</Type><CreationDateAndTime>2026-01-01T00:00:00+01:00</CreationDateAndTime></DocumentIdentification>' +
  `<BusinessScope>${scope('DOCUMENTID', 'urn:i::Invoice##c::2.1', 'peppol-doctype-wildcard')}${scope('PROCESSID', 'urn:p')}` +
  `${scope('COUNTRY_C1', 'AT')}${scope('own', '')}</BusinessScope></StandardBusinessDocumentHeader>`;
const OPEN = `<StandardBusinessDocument xmlns="${SH}" xmlns:u="urn:unused">`;
const CLOSE = '</StandardBusinessDocument>';
const INVOICE =
  '<n:Invoice xmlns:n="urn:i" a="x>y" b=\'"/>\'><!-- </n:Invoice> --><n:ID\n>1</n:ID ><![CDATA[ </n:Invoice> ]] > ]]]>' +
  '<?pi </n:Invoice> ?><n:Empty/><n:Note>é 😀 &amp; more</n:Note></n:Invoice>';
const sbd = (document = INVOICE, header = HEADER) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n${OPEN}${header}${document}${CLOSE}\n`;

interface Result extends Sbd {
  readonly passedOn: Buffer;
}

function read(
  input: string | Uint8Array,
  options: Partial<SbdReaderOptions> = {},
  cuts: readonly number[] = [],
): Result {
  const bytes = typeof input === 'string' ? Buffer.from(input) : input;
  const chunks: Buffer[] = [];
  const reader = new SbdReader({ mode: 'strict', onDocument: (chunk) => chunks.push(Buffer.from(chunk)), ...options });
  const bounds = [...new Set([0, ...cuts.map((cut) => Math.min(cut, bytes.length)), bytes.length])].sort(
    (a, b) => a - b,
  );
  for (let i = 1; i < bounds.length; i++) {
    // Each chunk is overwritten after use: the reader must not rely on it.
    const chunk = Buffer.from(bytes.subarray(bounds[i - 1], bounds[i]));
    reader.push(chunk);
    chunk.fill(0);
  }
  return { ...reader.end(), passedOn: Buffer.concat(chunks) };
}

const bytewise = (length: number) => Array.from({ length }, (_, i) => i);
const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');
const wrapped = (local: string, content: string, attributes = 'mimeType="application/pdf"') =>
  `<p:${local} xmlns:p="${WRAPPER}" ${attributes}>${content}</p:${local}>`;

/** The refusal as [code, reason, detail]; fails when there is none. */
function refusal(
  input: string | Uint8Array,
  options: Partial<SbdReaderOptions> = {},
): { code: string; reason: string; detail: string } {
  const results = [[], bytewise(Buffer.byteLength(input))].map((cuts) => {
    try {
      read(input, options, cuts);
    } catch (error) {
      const { code, reason, detail } = error as { code: string; reason: string; detail: string };
      return { code, reason, detail };
    }
    throw new Error('was accepted');
  });
  expect(results[1]).toEqual(results[0]);
  return results[0]!;
}

describe('SbdReader', () => {
  it('reads the header and the very octets of the document', () => {
    const result = read(sbd());
    expect(result.header).toEqual({
      headerVersion: '1.0',
      sender: { scheme: 'iso6523-actorid-upis', value: '0088:s' },
      receiver: { scheme: 'iso6523-actorid-upis', value: '0088:r' },
      standard: 'urn:i',
      typeVersion: '2.1',
      instanceIdentifier: 'uuid-1',
      type: 'Invoice',
      creationDateAndTime: '2026-01-01T00:00:00+01:00',
      documentType: { scheme: 'peppol-doctype-wildcard', value: 'urn:i::Invoice##c::2.1' },
      process: { scheme: 'cenbii-procid-ubl', value: 'urn:p' },
      countryC1: 'AT',
      scopes: expect.arrayContaining([{ type: 'own', instanceIdentifier: '', identifier: null }]),
    });
    expect(result.document).toMatchObject({ kind: 'xml', namespace: 'urn:i', localName: 'Invoice', mimeType: null });
    expect(result.passedOn.toString()).toBe(INVOICE);
    expect(result.document.bytes).toBe(Buffer.byteLength(INVOICE));
    expect(result.document.sha256.toString('hex')).toBe(sha256(INVOICE));
    expect(result.warnings).toEqual([]);
  });

  it('uses the default scheme of a DOCUMENTID without Identifier', () => {
    const header = HEADER.replace('<Identifier>peppol-doctype-wildcard</Identifier>', '');
    expect(read(sbd(INVOICE, header)).header.documentType?.scheme).toBe('busdox-docid-qns');
  });

  it('gives the same result however the input is cut, and passes on what it hashes', () => {
    const inputs = [
      sbd(),
      `\ufeff${sbd()}`,
      sbd('<Invoice xmlns=""/>'),
      sbd(wrapped('BinaryContent', Buffer.from('some bytes, not many').toString('base64').replace(/.{5}/g, '$&\r\n'))),
      sbd(wrapped('TextContent', 'a&amp;b\r\n&#x20AC;<!-- c --><![CDATA[&x;\r]]]]>\r<?pi?>é', 'mimeType="text/plain"')),
    ].map((text) => Buffer.from(text));
    for (const input of inputs) {
      const { passedOn, document, header } = read(input);
      expect(sha256(passedOn)).toBe(document.sha256.toString('hex'));
      expect(passedOn).toHaveLength(document.bytes);
      expect(read(input, {}, bytewise(input.length))).toEqual({ passedOn, document, header, warnings: [] });
      fc.assert(
        fc.property(fc.array(fc.nat(input.length), { maxLength: 12 }), (cuts) => {
          expect(read(input, {}, cuts)).toEqual({ passedOn, document, header, warnings: [] });
        }),
        { numRuns: 30 },
      );
    }
  });

  it('passes on any well-formed document unchanged, whatever stands in its values, comments and sections', () => {
    const characters = fc.string({
      unit: fc.constantFrom('a', '>', "'", '/', ']', '-', '?', '!', 'é', '\n', '&lt;'),
      maxLength: 12,
    });
    const filler = fc.oneof(
      characters.map((text) => text.replaceAll(']]>', '')),
      characters.map((text) => `<!--${text.replace(/-+/g, 'x')}-->`),
      characters.map((text) => `<![CDATA[<x>${text.replaceAll(']]>', '')}</x>]]>`),
      characters.map((text) => `<?pi <x> ${text.replaceAll('?>', '')}?>`),
    );
    const { element } = fc.letrec<{ element: string }>((tie) => ({
      element: fc
        .tuple(
          fc.constantFrom('n:a', 'n:ab', 'n:é'),
          characters.map((text) => text.replaceAll("'", '')),
          fc.constantFrom("'", '"'),
          fc.array(fc.oneof({ maxDepth: 4 }, filler, tie('element')), { maxLength: 4 }),
          fc.constantFrom('', ' ', '\n'),
        )
        .map(([name, value, quote, children, space]) =>
          children.length === 0
            ? `<${name}${space}/>`
            : `<${name} v=${quote}${value}${quote}${space}>${children.join('')}</${name}${space}>`,
        ),
    }));
    fc.assert(
      fc.property(element, fc.array(fc.nat(3000), { maxLength: 8 }), (inner, cuts) => {
        const document = `<n:I xmlns:n="urn:i">${inner}</n:I>`;
        expect(read(sbd(document), {}, cuts).passedOn.toString()).toBe(document);
      }),
      { numRuns: 150 },
    );
  });

  it('makes a document stand alone that inherits namespaces, without changing its digest', () => {
    const document = '<Invoice xmlns="urn:i"><u:Extension/></Invoice>';
    const alone = read(sbd(document), { standalone: true });
    expect(alone.passedOn.toString()).toBe(`<Invoice xmlns:u="urn:unused"${document.slice(8)}`);
    expect(alone.document.sha256.toString('hex')).toBe(sha256(document));
    expect(alone.document.declarations).toEqual(new Map([['u', 'urn:unused']]));
    expect(parseXml(alone.passedOn).root.local).toBe('Invoice');
    const inDefault = read(
      `<s:StandardBusinessDocument xmlns:s="${SH}" xmlns="${SH}">${HEADER}<n:I xmlns:n="urn:i"/></s:StandardBusinessDocument>`,
      {
        standalone: true,
      },
    );
    expect(inDefault.passedOn.toString()).toBe(`<n:I xmlns:s="${SH}" xmlns="${SH}" xmlns:n="urn:i"/>`);
  });

  describe('encodings', () => {
    const accented = sbd('<Invoice xmlns="urn:i">é €</Invoice>').replace('encoding="UTF-8"', 'encoding="UTF-16"');
    const utf16 = Buffer.from(`\ufeff${accented}`, 'utf16le');
    const expected = '<Invoice xmlns="urn:i">é €</Invoice>';

    it('reads UTF-16 by its byte order mark or its first characters, in any chunks', () => {
      for (const bytes of [
        utf16,
        utf16.subarray(2),
        Buffer.from(utf16).swap16(),
        Buffer.from(utf16).swap16().subarray(2),
      ]) {
        expect(read(bytes).passedOn.toString()).toBe(expected);
        expect(read(bytes, {}, bytewise(bytes.length)).document.sha256.toString('hex')).toBe(sha256(expected));
      }
    });

    it('reads ISO-8859-1 by the declaration, before what the charset says, or by the charset alone', () => {
      const latin = Buffer.from(
        sbd('<Invoice xmlns="urn:i">é\u0080</Invoice>').replace('UTF-8', 'ISO-8859-1'),
        'latin1',
      );
      expect(read(latin, { charset: 'utf-8' }).passedOn.toString()).toBe('<Invoice xmlns="urn:i">é\u0080</Invoice>');
      const undeclared = Buffer.from(sbd('<Invoice xmlns="urn:i">é</Invoice>').replace(/^<\?.*\?>\n/, ''), 'latin1');
      expect(read(undeclared, { charset: 'ISO-8859-1' }).passedOn.toString()).toBe(
        '<Invoice xmlns="urn:i">é</Invoice>',
      );
      expect(refusal(undeclared).reason).toBe('sbd-encoding');
    });

    it('says of a file that is no XML that it is none, not that its encoding is wrong', () => {
      expect(refusal(Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3', 'latin1')).detail).toBe('it is not XML');
    });

    it('refuses octets that are not what they claim, and unknown encodings', () => {
      const cut = Buffer.from(sbd('<Invoice xmlns="urn:i">é</Invoice>'));
      const broken = Buffer.concat([cut.subarray(0, cut.indexOf(0xc3) + 1), cut.subarray(cut.indexOf(0xc3) + 2)]);
      expect(refusal(broken).reason).toBe('sbd-encoding');
      expect(refusal(Buffer.concat([Buffer.from(sbd()), Buffer.from([0xe2, 0x82])])).reason).toBe('sbd-encoding');
      expect(refusal(sbd().replace('UTF-8', 'EBCDIC-CP-US')).detail).toMatch(/ebcdic-cp-us/);
      expect(refusal(sbd().replace('UTF-8', 'constructor')).reason).toBe('sbd-encoding');
      expect(refusal(utf16.subarray(0, -1)).reason).toMatch(/sbd-encoding|sbd-malformed/);
    });
  });

  const deep = (levels: number) => `<a xmlns="">${'<a>'.repeat(levels - 1)}${'</a>'.repeat(levels)}`;
  const malformed: Record<string, [string, string]> = {
    'no XML': ['sbd-malformed', '%PDF-1.7'],
    nothing: ['sbd-malformed', ''],
    'white space only': ['sbd-malformed', ' \n '],
    'a bare invoice': ['sbd-missing', INVOICE],
    'a large bare invoice': ['sbd-missing', `<Invoice xmlns="urn:i">${'x'.repeat(100_000)}<a/><b/></Invoice>`],
    'much that is no XML': ['sbd-malformed', 'x'.repeat(100_000)],
    'a root of another namespace': ['sbd-missing', sbd().replace(SH, 'urn:x')],
    'no header': ['sbd-header-missing', `${OPEN}<a/>${CLOSE}`],
    'the header after the document': ['sbd-header-missing', `${OPEN}<a/>${HEADER}${CLOSE}`],
    'no document': ['sbd-document-missing', `${OPEN}${HEADER}${CLOSE}`],
    'two documents': ['sbd-two-documents', sbd(`${INVOICE}<b/>`)],
    'an envelope in the envelope': ['sbd-nested', sbd(`${OPEN}${HEADER}${INVOICE}${CLOSE}`)],
    'a DOCTYPE before the root': ['sbd-doctype', sbd().replace('?>\n', '?><!DOCTYPE a>')],
    'a DOCTYPE in the document': ['sbd-doctype', sbd('<a xmlns=""><!DOCTYPE b></a>')],
    'an entity declaration': ['sbd-doctype', sbd('<a xmlns=""><!ENTITY b "c"></a>')],
    'an XML declaration in the document': ['sbd-malformed', sbd('<?xml version="1.0"?><a xmlns=""/>')],
    'an XML declaration deeper in the document': ['sbd-malformed', sbd('<a xmlns=""><?XML version="1.0"?></a>')],
    'an unclosed element': ['sbd-malformed', sbd('<a xmlns=""><b></a>')],
    'an element closed twice': ['sbd-malformed', sbd('<a xmlns=""></a></a>')],
    'overlapping elements': ['sbd-malformed', sbd('<a xmlns=""><b><c></b></c></a>')],
    'an end tag of another name': ['sbd-malformed', sbd('<a xmlns=""><bb></b></a>')],
    'an end tag with an attribute': ['sbd-malformed', sbd('<a xmlns=""></a b="">')],
    'a tag without name': ['sbd-malformed', sbd('<a xmlns="">< b/></a>')],
    'a tag in a tag': ['sbd-malformed', sbd('<a xmlns=""><b <c></b></a>')],
    'a stray slash': ['sbd-malformed', sbd('<a xmlns=""><b/ ></a>')],
    'too many levels': ['sbd-malformed', sbd(deep(1001))],
    'names too long': ['sbd-malformed', sbd(`<a xmlns=""><${'n'.repeat(70_000)}/></a>`)],
    'an attribute twice in the start tag': ['sbd-malformed', sbd('<a xmlns="" b="1" b="2"/>')],
    'an unbound prefix in the start tag': ['sbd-malformed', sbd('<z:a/>')],
    'a truncated document': ['sbd-malformed', sbd().slice(0, -60)],
    'a truncated comment': ['sbd-malformed', `${OPEN}${HEADER}${INVOICE}${CLOSE}<!-- `],
    'text before the document': ['sbd-malformed', sbd(`text${INVOICE}`)],
    'text after the document': ['sbd-malformed', sbd(`${INVOICE}text`)],
    'text after the envelope': ['sbd-malformed', `${sbd()}text`],
    'an element after the envelope': ['sbd-trailing', `${sbd()}<a/>`],
    'CDATA after the envelope': ['sbd-malformed', `${sbd()}<![CDATA[x]]>`],
    'a header of 64 KiB': [
      'sbd-too-long',
      sbd(INVOICE, HEADER.replace('<Scope>', `<!--${'x'.repeat(70_000)}--><Scope>`)),
    ],
    'a start tag of 64 KiB': ['sbd-too-long', sbd(`<a xmlns="" b="${'x'.repeat(70_000)}"/>`)],
    'too much after the document': ['sbd-too-long', sbd(`${INVOICE}${' '.repeat(70_000)}`)],
    'a wrapper of unknown kind': ['sbd-wrapper', sbd(wrapped('XmlContent', ''))],
    'a wrapper without mimeType': ['sbd-wrapper', sbd(wrapped('TextContent', 'a', ''))],
    'a wrapper with child elements': ['sbd-wrapper', sbd(wrapped('TextContent', 'a<b/>'))],
    'nested wrappers': ['sbd-wrapper', sbd(wrapped('TextContent', wrapped('TextContent', 'a')))],
    'base64 with strange characters': ['sbd-base64', sbd(wrapped('BinaryContent', 'AA-_'))],
    'base64 cut short': ['sbd-base64', sbd(wrapped('BinaryContent', 'AAAAA'))],
    'base64 after its padding': ['sbd-base64', sbd(wrapped('BinaryContent', 'AA==AAAA'))],
    'an unknown entity in TextContent': ['sbd-malformed', sbd(wrapped('TextContent', '&nbsp;'))],
    'a bare ampersand in TextContent': ['sbd-malformed', sbd(wrapped('TextContent', `a & b${'c'.repeat(40)}`))],
    'a reference to no character': ['sbd-malformed', sbd(wrapped('TextContent', '&#0;'))],
  };
  it.each(Object.keys(malformed))('refuses %s with EBMS:0004 in strict and in report mode', (name) => {
    const [reason, input] = malformed[name]!;
    for (const mode of ['strict', 'report'] as const) {
      expect(refusal(input, { mode })).toMatchObject({
        code: 'EBMS:0004',
        reason,
        detail: expect.stringMatching(/\w/),
      });
    }
  });

  it('accepts comments and white space around the document, and one of 1000 levels', () => {
    expect(read(sbd(`<!-- a -->\n${INVOICE}\n<!-- b -->`)).passedOn.toString()).toBe(INVOICE);
    expect(read(sbd(deep(999))).document.bytes).toBe(999 * 7 + 9);
  });

  describe('the header', () => {
    const drop = (what: string) => HEADER.replace(what, '');
    const faults: Record<string, string> = {
      'HeaderVersion other than 1.0': HEADER.replace('>1.0<', '>2.0<'),
      'no HeaderVersion': drop('<HeaderVersion>1.0</HeaderVersion>'),
      'no Sender': drop(party('Sender', '0088:s')),
      'two Receivers': HEADER.replace(
        '<DocumentIdentification>',
        `${party('Receiver', '0088:x')}<DocumentIdentification>`,
      ),
      'a participant without Authority': HEADER.replace(' Authority="iso6523-actorid-upis"', ''),
      'another Authority': HEADER.replace('iso6523-actorid-upis', 'gln'),
      'a participant that is no XXXX:value': HEADER.replace('0088:s', 's'),
      'no Standard': drop('<Standard>urn:i</Standard>'),
      'no TypeVersion': drop('<TypeVersion>2.1</TypeVersion>'),
      'no Type': drop('<Type>Invoice</Type>'),
      'an empty InstanceIdentifier': HEADER.replace('uuid-1', ' '),
      'a creation time without zone': HEADER.replace('+01:00', ''),
      'an impossible creation time': HEADER.replace('2026-01-01', '2026-02-30'),
      'no BusinessScope': HEADER.replace(/<BusinessScope>.*<\/BusinessScope>/, ''),
      'no DOCUMENTID': HEADER.replace('DOCUMENTID', 'documentid'),
      'an empty PROCESSID': HEADER.replace('urn:p<', '<'),
      'no COUNTRY_C1': drop(scope('COUNTRY_C1', 'AT')),
      'a country in words': HEADER.replace('>AT<', '>Austria<'),
      'a Scope without Type': HEADER.replace('<Type>own</Type>', ''),
      'a Scope without InstanceIdentifier': HEADER.replace(
        '<Type>own</Type><InstanceIdentifier></InstanceIdentifier>',
        '<Type>own</Type>',
      ),
      'a key twice': HEADER.replace('</BusinessScope>', `${scope('own', '2')}</BusinessScope>`),
    };
    it.each(Object.keys(faults))('is refused in strict mode and passes with a warning in report mode: %s', (name) => {
      const input = sbd(INVOICE, faults[name]);
      expect(refusal(input)).toMatchObject({ code: 'EBMS:0004', reason: 'sbdh-format' });
      const { warnings, passedOn } = read(input, { mode: 'report' });
      expect(warnings.length).toBeGreaterThan(0);
      expect(passedOn.toString()).toBe(INVOICE);
    });

    it('is refused in every mode when it routes two ways', () => {
      const input = sbd(INVOICE, HEADER.replace('</BusinessScope>', `${scope('PROCESSID', 'urn:q')}</BusinessScope>`));
      for (const mode of ['strict', 'report'] as const)
        expect(refusal(input, { mode }).reason).toBe('sbd-contradiction');
    });
  });

  describe('the Peppol wrapper', () => {
    it('yields the decoded octets of BinaryContent', () => {
      const pdf = Buffer.from(Array.from({ length: 1000 }, (_, i) => (i * 7) % 256));
      const base64 = pdf.toString('base64').replace(/.{76}/g, '$&&#13;\n');
      const { document, passedOn } = read(sbd(wrapped('BinaryContent', `\n ${base64}\n`)));
      expect(passedOn.equals(pdf)).toBe(true);
      expect(document).toMatchObject({
        kind: 'binary',
        localName: 'BinaryContent',
        mimeType: 'application/pdf',
        bytes: 1000,
      });
      expect(documentFile(document)).toEqual({ name: 'document.pdf', mime: 'application/pdf' });
    });

    it('yields the text of TextContent with references, CDATA and line ends resolved', () => {
      const content = "UNA:+.? '\r\nUNB+&lt;&#38;&#x20ac;&apos;<![CDATA[<&amp;]]&]]><!-- no --><?no?>\r.";
      const { document, passedOn } = read(
        sbd(wrapped('TextContent', content, 'mimeType="Application/EDIFACT" encoding="UTF-8"')),
      );
      expect(passedOn.toString()).toBe("UNA:+.? '\nUNB+<&€'<&amp;]]&\n.");
      expect(document).toMatchObject({ kind: 'text', mimeType: 'Application/EDIFACT', encoding: 'UTF-8' });
      expect(documentFile(document).name).toBe('document.edi');
    });

    it('may be empty', () => {
      expect(read(sbd(wrapped('TextContent', ''))).document.bytes).toBe(0);
      expect(read(sbd(`<p:BinaryContent xmlns:p="${WRAPPER}" mimeType="a/b"/>`)).document.bytes).toBe(0);
    });
  });

  it('reads 100 MB without holding them', () => {
    const line =
      '<n:Line unit="C62"><n:ID>1</n:ID><n:Text>Some text of an ordinary invoice line, é</n:Text></n:Line>\n';
    const block = Buffer.from(line.repeat(640));
    const blocks = Math.ceil(100_000_000 / block.length);
    const start = `<n:Invoice xmlns:n="urn:i">`;
    const hash = createHash('sha256').update(start);
    const reader = new SbdReader({ mode: 'strict', charset: 'UTF-8', onDocument: () => {} });
    reader.push(Buffer.from(`${OPEN}${HEADER}${start}`));
    const before = process.memoryUsage();
    let most = 0;
    for (let i = 0; i < blocks; i++) {
      hash.update(block);
      reader.push(block);
      if (i % 50 === 0) {
        const { heapUsed, arrayBuffers } = process.memoryUsage();
        most = Math.max(most, heapUsed - before.heapUsed + (arrayBuffers - before.arrayBuffers));
      }
    }
    reader.push(Buffer.from(`</n:Invoice>${CLOSE}`));
    const { document } = reader.end();
    expect(document.bytes).toBeGreaterThan(100_000_000);
    expect(document.sha256.toString('hex')).toBe(hash.update('</n:Invoice>').digest('hex'));
    expect(most).toBeLessThan(40_000_000);
  });
});
