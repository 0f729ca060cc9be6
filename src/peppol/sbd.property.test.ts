import fc from 'fast-check';
import { XmlDocument, type XmlElement, XmlParseError } from 'libxml2-wasm';
import { expect, it } from 'vitest';
import { As4Error } from '../as4-error.ts';
import { type Sbd, SbdReader } from './sbd.ts';

const SH = 'http://www.unece.org/cefact/namespaces/StandardBusinessDocumentHeader';
const scope = (type: string, instance: string) =>
  `<Scope><Type>${type}</Type><InstanceIdentifier>${instance}</InstanceIdentifier></Scope>`;
const party = (side: string, value: string) =>
  `<${side}><Identifier Authority="iso6523-actorid-upis">${value}</Identifier></${side}>`;
const GOOD = `<StandardBusinessDocument xmlns="${SH}"><StandardBusinessDocumentHeader><HeaderVersion>1.0</HeaderVersion>${party('Sender', '0088:s')}${party('Receiver', '0088:r')}<DocumentIdentification><Standard>urn:i</Standard><TypeVersion>2.1</TypeVersion><InstanceIdentifier>uuid-1</InstanceIdentifier><Type>Invoice</Type><CreationDateAndTime>2026-01-01T00:00:00+01:00</CreationDateAndTime></DocumentIdentification><BusinessScope>${scope('DOCUMENTID', 'urn:i::Invoice##c::2.1')}${scope('PROCESSID', 'urn:p')}${scope('COUNTRY_C1', 'AT')}</BusinessScope></StandardBusinessDocumentHeader><n:Invoice xmlns:n="urn:i"><n:ID>1</n:ID></n:Invoice></StandardBusinessDocument>`;

interface Read extends Sbd {
  readonly passedOn: Buffer;
}

function read(bytes: Buffer, cuts: readonly number[]): Read {
  const chunks: Buffer[] = [];
  const reader = new SbdReader({ mode: 'strict', onDocument: (chunk) => void chunks.push(Buffer.from(chunk)) });
  const bounds = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].sort((a, b) => a - b);
  for (let i = 1; i < bounds.length; i++) reader.push(bytes.subarray(bounds[i - 1], bounds[i]));
  return { ...reader.end(), passedOn: Buffer.concat(chunks) };
}

/** libxml2 minds namespace names that are no absolute URIs; XML does not. */
const isHarmless = (fault: unknown): boolean => /is not a valid URI|is not absolute/.test(String(fault));

/** What libxml2, which shares no line with ours, reads at the places that decide where a document goes and what it is. */
function asLibxml2Reads(bytes: Buffer): object {
  const document = XmlDocument.fromBuffer(bytes);
  const namespaces = { s: SH };
  const header = '/s:StandardBusinessDocument/s:StandardBusinessDocumentHeader';
  const elements = (path: string) => document.find(path, namespaces) as XmlElement[];
  const values = (path: string) => elements(`${header}/${path}`).map(({ content }) => content.trim());
  try {
    const [inner, ...more] = elements('/s:StandardBusinessDocument/*[not(self::s:StandardBusinessDocumentHeader)]');
    expect(more).toEqual([]);
    return {
      sender: values('s:Sender/s:Identifier'),
      receiver: values('s:Receiver/s:Identifier'),
      instance: values('s:DocumentIdentification/s:InstanceIdentifier'),
      country: values('s:BusinessScope/s:Scope[normalize-space(s:Type)="COUNTRY_C1"]/s:InstanceIdentifier'),
      scopes: values('s:BusinessScope/s:Scope/s:Type'),
      document: [inner?.namespaceUri ?? '', inner?.name],
    };
  } finally {
    document.dispose();
  }
}

function asWeRead({ header, document }: Sbd): object {
  return {
    sender: [header.sender?.value],
    receiver: [header.receiver?.value],
    instance: [header.instanceIdentifier],
    country: [header.countryC1],
    scopes: header.scopes.map(({ type }) => type),
    document: [document.namespace, document.localName],
  };
}

function compare(sbd: Read, bytes: Buffer): void {
  try {
    expect(asWeRead(sbd)).toEqual(asLibxml2Reads(bytes));
  } catch (fault) {
    if (isHarmless(fault)) return;
    if (!(fault instanceof XmlParseError)) throw fault;
    // Characters and attributes of the document itself nobody looks at but the backend; what stands around it must be XML all the same.
    const at = bytes.indexOf(sbd.passedOn);
    const around = Buffer.concat([
      bytes.subarray(0, at),
      Buffer.from('<x xmlns=""/>'),
      bytes.subarray(at + sbd.passedOn.length),
    ]);
    const { document: _, ...ours } = asWeRead(sbd) as { document: unknown };
    try {
      expect(asLibxml2Reads(around)).toMatchObject(ours);
    } catch (inner) {
      if (!isHarmless(inner)) throw inner;
    }
  }
}

it('an SBD that was changed anywhere is refused, or read as another parser reads it, however it is cut', () => {
  const piece = fc.oneof(
    fc.string({ maxLength: 4 }),
    fc.constantFrom(
      ...[
        '<x/>',
        '</Scope>',
        '</BusinessScope>',
        '<!-- -->',
        '<!-- <',
        '-->',
        '<![CDATA[',
        ']]>',
        '<![CDATA[x]]>',
        '<?x y?>',
      ],
      ...[
        ' xmlns="urn:x"',
        ` xmlns="${SH}"`,
        ' xmlns=""',
        ' xmlns:n="urn:j"',
        ' a="1"',
        '&#0;',
        '&#65;',
        '&lt;',
        '&x;',
        '\r\n',
      ],
      ...[
        '<!DOCTYPE a [<!ENTITY x "y">]>',
        scope('COUNTRY_C1', 'BE'),
        '<Invoice xmlns="urn:i"/>',
        '\u00e9',
        'é',
        ' ',
        '<',
        '>',
      ],
    ),
  );
  const change = fc.record({ at: fc.nat(GOOD.length), cut: fc.oneof(fc.constant(0), fc.nat(60)), insert: piece });
  const seen = { refused: 0, read: 0 };
  fc.assert(
    fc.property(
      fc.array(change, { minLength: 1, maxLength: 2 }),
      fc.array(fc.nat(3000), { maxLength: 6 }),
      (all, cuts) => {
        let text = GOOD;
        for (const { at, cut, insert } of all) text = text.slice(0, at) + insert + text.slice(at + cut);
        const bytes = Buffer.from(text);
        let sbd: Read;
        try {
          sbd = read(bytes, cuts);
        } catch (error) {
          expect(error).toBeInstanceOf(As4Error);
          expect(() => read(bytes, [])).toThrow((error as As4Error).message);
          seen.refused += 1;
          return;
        }
        seen.read += 1;
        expect(read(bytes, [])).toEqual(sbd);
        compare(sbd, bytes);
      },
    ),
    { numRuns: 3_000 },
  );
  expect(Math.min(seen.refused, seen.read)).toBeGreaterThan(100);
});
