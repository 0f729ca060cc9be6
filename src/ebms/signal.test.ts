import fc from 'fast-check';
import { RelaxNGValidator, XmlC14NMode, XmlDocument } from 'libxml2-wasm';
import { describe, expect, it } from 'vitest';
import type { EbmsCode } from '../as4-error.ts';
import { parseXml } from '../xml/parse.ts';
import { attribute, child, childrenNamed, elements, text, type XmlElement } from '../xml/tree.ts';
import { EBMS_CODES } from './codes.ts';
import { DS, EB, EBBP, EC, S12, WSU } from './namespaces.ts';
import { errorMessaging, type ReferenceCopy, receiptMessaging } from './signal.ts';

const head = { id: '_m1', messageId: 'r1@quittance', timestamp: new Date('2026-11-30T10:15:00.123Z') };
const references: ReferenceCopy[] = [
  {
    uri: '#msg-1',
    transforms: [{ algorithm: 'http://www.w3.org/2001/10/xml-exc-c14n#', prefixList: 'S12 #default' }],
    digestMethod: 'http://www.w3.org/2001/04/xmlenc#sha256',
    digestValue: 'AAAA',
  },
  {
    uri: '#body',
    transforms: [{ algorithm: 'http://www.w3.org/2001/10/xml-exc-c14n#', prefixList: '' }],
    digestMethod: 'd',
    digestValue: 'BBBB',
  },
  {
    uri: 'cid:a&b"<@x',
    transforms: [{ algorithm: 'urn:swa', prefixList: null }],
    digestMethod: 'd',
    digestValue: 'CCCCCA==',
  },
  { uri: '#none', transforms: [], digestMethod: 'd', digestValue: 'DDDD' },
];

/** The exclusive C14N that libxml2 makes of a text. */
function canonical(xml: string): string {
  const document = XmlDocument.fromString(xml);
  try {
    return document.canonicalizeToString({ mode: XmlC14NMode.XML_C14N_EXCLUSIVE_1_0, withComments: false });
  } finally {
    document.dispose();
  }
}

const root = (xml: string): XmlElement => parseXml(Buffer.from(xml)).root;

/** The XSD's SignalMessage, EBBP's NonRepudiationInformation and xmldsig's Reference, in one grammar of our own. */
const GRAMMAR = `<element name="eb:Messaging" xmlns="http://relaxng.org/ns/structure/1.0" xmlns:eb="${EB}" xmlns:ebbp="${EBBP}"
  xmlns:ds="${DS}" xmlns:ec="${EC}" xmlns:wsu="${WSU}" xmlns:S12="${S12}" datatypeLibrary="http://www.w3.org/2001/XMLSchema-datatypes">
 <attribute name="wsu:Id"><data type="ID"/></attribute><attribute name="S12:mustUnderstand"><value>true</value></attribute>
 <element name="eb:SignalMessage">
  <element name="eb:MessageInfo"><element name="eb:Timestamp"><data type="dateTime"/></element>
   <element name="eb:MessageId"><data type="string"><param name="minLength">1</param></data></element>
   <optional><element name="eb:RefToMessageId"><data type="string"><param name="minLength">1</param></data></element></optional></element>
  <choice>
   <element name="eb:Receipt"><element name="ebbp:NonRepudiationInformation"><oneOrMore><element name="ebbp:MessagePartNRInformation">
    <element name="ds:Reference"><attribute name="URI"/>
     <optional><element name="ds:Transforms"><oneOrMore><element name="ds:Transform"><attribute name="Algorithm"/>
      <optional><element name="ec:InclusiveNamespaces"><attribute name="PrefixList"/></element></optional></element></oneOrMore></element></optional>
     <element name="ds:DigestMethod"><attribute name="Algorithm"/></element><element name="ds:DigestValue"><data type="base64Binary"/></element>
    </element></element></oneOrMore></element></element>
   <element name="eb:Error"><attribute name="errorCode"/><attribute name="severity"/><attribute name="category"/><attribute name="origin"/>
    <attribute name="shortDescription"/><optional><attribute name="refToMessageInError"/></optional>
    <element name="eb:Description"><attribute name="xml:lang"/><text/></element><optional><element name="eb:ErrorDetail"><data type="token"/></element></optional>
   </element>
  </choice></element></element>`;

function validate(xml: string): void {
  const grammar = XmlDocument.fromString(GRAMMAR);
  const document = XmlDocument.fromString(xml);
  const validator = RelaxNGValidator.fromDoc(grammar);
  try {
    validator.validate(document);
  } finally {
    validator.dispose();
    document.dispose();
    grammar.dispose();
  }
}

describe('receiptMessaging', () => {
  const xml = receiptMessaging({ ...head, refToMessageId: 'm<1>@a', references });

  it('is its own exclusive canonical form, as libxml2 makes it', () => {
    expect(canonical(xml)).toBe(xml);
  });

  it('follows the schemas of signal, receipt and signature', () => {
    validate(xml);
    expect(() => validate(xml.replace('wsu:Id', 'wsu:No'))).toThrow();
  });

  it('has one child in Receipt and one MessagePartNRInformation per reference, in order', () => {
    const signal = child(root(xml), EB, 'SignalMessage')!;
    const [information, ...others] = elements(child(signal, EB, 'Receipt')!);
    expect(others).toHaveLength(0);
    const copied = childrenNamed(information!, EBBP, 'MessagePartNRInformation').map(
      (part) => child(part, DS, 'Reference')!,
    );
    expect(copied.map((reference) => attribute(reference, 'URI'))).toEqual(references.map(({ uri }) => uri));
    expect(copied.map((reference) => text(child(reference, DS, 'DigestValue')!))).toEqual(
      references.map((r) => r.digestValue),
    );
  });

  it('copies the PrefixList as written, also an empty one, and leaves none where there was none', () => {
    expect(xml.match(/PrefixList="[^"]*"/g)).toEqual(['PrefixList="S12 #default"', 'PrefixList=""']);
  });

  it('names the message, and carries wsu:Id and mustUnderstand', () => {
    const messaging = root(xml);
    expect(attribute(messaging, 'Id', WSU)).toBe('_m1');
    expect(attribute(messaging, 'mustUnderstand', S12)).toBe('true');
    const info = child(child(messaging, EB, 'SignalMessage')!, EB, 'MessageInfo')!;
    expect(elements(info).map(text)).toEqual(['2026-11-30T10:15:00.123Z', 'r1@quittance', 'm<1>@a']);
  });

  it('stays canonical whatever the sender wrote into his references', () => {
    const value = fc.string({
      unit: fc.constantFrom('a', '"', '&', '<', '>', '\r', '\n', '\t', ' ', 'é', '😀', "'", '\u0085'),
    });
    fc.assert(
      fc.property(value, value, value, (uri, list, ref) => {
        const reference = {
          uri,
          transforms: [{ algorithm: list, prefixList: list }],
          digestMethod: list,
          digestValue: 'AA==',
        };
        const text = receiptMessaging({ ...head, refToMessageId: ref, references: [reference] });
        expect(canonical(text)).toBe(text);
      }),
      { numRuns: 100 },
    );
  });
});

describe('errorMessaging', () => {
  const codes = Object.keys(EBMS_CODES) as EbmsCode[];

  it.each(codes)('writes %s with the attributes of the table, canonical and valid', (code) => {
    const xml = errorMessaging({
      ...head,
      refToMessageId: 'm1@a',
      code,
      description: 'what "is" <wrong> & why',
      detail: 'PEPPOL:NOT_SERVICED',
    });
    expect(canonical(xml)).toBe(xml);
    validate(xml);
    const error = child(child(root(xml), EB, 'SignalMessage')!, EB, 'Error')!;
    for (const [name, value] of Object.entries(EBMS_CODES[code])) expect(attribute(error, name)).toBe(value);
    expect(attribute(error, 'errorCode')).toBe(code);
    expect(attribute(error, 'refToMessageInError')).toBe('m1@a');
    expect(elements(error).map(text)).toEqual(['what "is" <wrong> & why', 'PEPPOL:NOT_SERVICED']);
  });

  it('relates to no message when no id may be echoed', () => {
    const xml = errorMessaging({ ...head, code: 'EBMS:0009', description: 'd' });
    validate(xml);
    expect(xml).not.toMatch(/RefToMessageId|refToMessageInError|ErrorDetail/);
  });

  it('never becomes malformed through what it quotes, and keeps ErrorDetail a token', () => {
    const xml = errorMessaging({
      ...head,
      code: 'EBMS:0004',
      description: 'a\u0000b\ud800c\uffff',
      detail: ' two\n\twords ',
    });
    expect(canonical(xml)).toBe(xml);
    const error = child(child(root(xml), EB, 'SignalMessage')!, EB, 'Error')!;
    expect(elements(error).map(text)).toEqual(['a\ufffdb\ufffdc\ufffd', 'two words']);
  });
});

describe('EBMS_CODES', () => {
  it('marks exactly the security codes with origin security', () => {
    const security = Object.entries(EBMS_CODES).filter(([, entry]) => entry.origin === 'security');
    expect(security.map(([code]) => code)).toEqual(['EBMS:0101', 'EBMS:0102', 'EBMS:0103']);
  });
});
