import { beforeAll, describe, expect, test } from 'vitest';
import { As4Error, TransportRefusal } from '../as4-error.ts';
import type { TrustStore } from '../pki/trust.ts';
import { parseXml } from '../xml/parse.ts';
import { requireEmptyBody } from './envelope.ts';
import { CID, MESSAGING, resign, sender, testCertificate, testMessage, testTrust } from './testing/message.ts';
import { trustEverything } from './testing/trust.ts';
import { type VerifiedEnvelope, verifyEnvelope } from './verify.ts';

const EXC_C14N = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const AT = Date.UTC(2026, 10, 30);
let good: string;
beforeAll(async () => {
  good = (await testMessage({ prefixList: 'S12' })).envelope;
});

function verify(xml: string, trust: Pick<TrustStore, 'judge'> = trustEverything): VerifiedEnvelope {
  return verifyEnvelope(parseXml(Buffer.from(xml)), trust, AT);
}

/** The refusal of a changed message; the change must have changed something. */
function refusal(change: (xml: string) => string, o: { resigned: boolean } = { resigned: true }): As4Error {
  const changed = change(good);
  expect(changed).not.toBe(good);
  try {
    verify(o.resigned ? resign(changed) : changed);
  } catch (error) {
    if (error instanceof As4Error) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

const cut = (pattern: RegExp) => (xml: string) => xml.replace(pattern, '');
const put = (pattern: string | RegExp, text: string) => (xml: string) => xml.replace(pattern, () => text);
const append = (pattern: RegExp, text: string) => (xml: string) => xml.replace(pattern, (found) => found + text);
const bodyReference = (xml: string) => /<ds:Reference URI="#body-.*?<\/ds:Reference>/.exec(xml)![0];
const cidReference = (xml: string) => /<ds:Reference URI="cid:.*?<\/ds:Reference>/.exec(xml)![0];
const signature = (xml: string) => /<ds:Signature .*<\/ds:Signature>/.exec(xml)![0];
const security = (xml: string) => /<wsse:Security .*<\/wsse:Security>/.exec(xml)![0];
const bodyId = (xml: string) => /<S12:Body [^>]*wsu:Id="([^"]*)"/.exec(xml)![1]!;
const extraReference =
  (id: string, name = `#${id}`) =>
  (xml: string) =>
    xml.replace(
      bodyReference(xml),
      (found) =>
        found +
        found
          .replace(`#${bodyId(xml)}`, name)
          .replace(/<ds:DigestValue>[^<]*/, `<ds:DigestValue>${Buffer.alloc(32, id).toString('base64')}`),
    );

describe('a message that is signed as Peppol has it', () => {
  test('gives the very nodes of the tree, the signer and all references in document order', () => {
    const doc = parseXml(Buffer.from(good));
    const result = verifyEnvelope(doc, trustEverything, AT);
    expect(doc.byId.get('msg')).toBe(result.messaging);
    expect(doc.byId.get(bodyId(good))).toBe(result.body);
    expect(result.signer.certificate.der.equals(sender.certificate.der)).toBe(true);
    expect(result.references.map((r) => r.uri)).toEqual(['#msg', `#${bodyId(good)}`, CID]);
    expect(result.references.map((r) => r.transforms[0]!.prefixList)).toEqual(['S12', null, null]);
    expect(result.references[0]).not.toHaveProperty('prefixes');
    expect([...result.attachments.keys()]).toEqual([CID]);
    expect([...result.encryption.cids]).toEqual([CID]);
  });

  test.each<[string, (xml: string) => string]>([
    [
      'the token after the signature',
      (xml) => {
        const token =
          /<wsse:BinarySecurityToken (?:(?!<wsse:BinarySecurityToken ).)*?<\/wsse:BinarySecurityToken>(?=<ds:Signature)/.exec(
            xml,
          )![0];
        return xml.replace(token, '').replace('</ds:Signature>', () => `</ds:Signature>${token}`);
      },
    ],
    ['Messaging named by its plain id', put('wsu:Id="msg"', 'id="msg"')],
    [
      'an expired wsu:Timestamp',
      append(
        /<wsse:Security [^>]*>/,
        '<wsu:Timestamp xmlns:wsu="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd" wsu:Id="ts"><wsu:Created>2001-01-01T00:00:00Z</wsu:Created><wsu:Expires>2001-01-01T00:05:00Z</wsu:Expires></wsu:Timestamp>',
      ),
    ],
    ['a PrefixList with odd white space', put(/PrefixList="S12"/g, 'PrefixList=" S12&#xA; &#x9;eb "')],
    ['an InclusiveNamespaces without PrefixList', put(' PrefixList="S12"', '')],
    ['a token without EncodingType, whose default is base64', put(/ EncodingType="[^"]*"/g, '')],
    [
      'an unknown header that need not be understood',
      append(/<S12:Header>/, '<x:Route xmlns:x="urn:x" S12:mustUnderstand="0"/>'),
    ],
    [
      'a further signed element',
      (xml) => extraReference('ts')(xml).replace(/<S12:Header>/, '$&<x:Route xmlns:x="urn:x" Id="ts"/>'),
    ],
  ])('is accepted with %s', (_, change) => {
    const changed = change(good);
    expect(changed).not.toBe(good);
    expect(verify(resign(changed)).signer.commonName).toBe(sender.certificate.commonName);
  });

  test('is accepted with white space and &#xD; in SignatureValue and DigestValue, and its reference set is the same', () => {
    // Canonical SignedInfo keeps the white space, so the digests must be signed with it.
    const spaced = good.replace(/(<ds:DigestValue>.{10})/g, '$1&#xD;\n  ');
    const resigned = resign(spaced).replace(/(<ds:SignatureValue>.{64})/, '$1&#xD;\n');
    const result = verify(resigned);
    expect(result.references.at(-1)!.digestValue).toMatch(/^[A-Za-z0-9+/]{43}=$/);
    expect(result.referenceSet.equals(verify(good).referenceSet)).toBe(true);
  });
});

describe('EBMS:0103: the message is not secured as Peppol has it', () => {
  test.each<[string, string, (xml: string) => string]>([
    ['no wsse:Security', 'unsigned', (xml) => xml.replace(security(xml), '')],
    ['no ds:Signature', 'unsigned', (xml) => xml.replace(signature(xml), '')],
    ['two ds:Signature', 'several-signatures', (xml) => xml.replace(signature(xml), (s) => s + s)],
    [
      'two wsse:Security for different roles',
      'several-security-headers',
      put(
        '</S12:Header>',
        `<wsse:Security xmlns:wsse="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd" S12:role="ebms"/></S12:Header>`,
      ),
    ],
    [
      'a signature that is not a child of wsse:Security',
      'unsigned',
      (xml) => xml.replace(signature(xml), (s) => `<x:Box xmlns:x="urn:x">${s}</x:Box>`),
    ],
    [
      'two SignedInfo',
      'bad-signature-structure',
      (xml) => xml.replace(/<ds:SignedInfo>.*<\/ds:SignedInfo>/, (s) => s + s),
    ],
    ['a ds:Object', 'bad-signature-structure', put('</ds:Signature>', '<ds:Object/></ds:Signature>')],
    [
      'a manifest',
      'manifest',
      put('<ds:Reference URI="#msg"', '<ds:Reference Type="http://www.w3.org/2000/09/xmldsig#Manifest" URI="#msg"'),
    ],
    [
      "a truncated HMAC's child of SignatureMethod",
      'bad-signature-structure',
      put(
        /(<ds:SignatureMethod[^>]*)\/>/,
        '<ds:SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"><ds:HMACOutputLength>8</ds:HMACOutputLength></ds:SignatureMethod>',
      ),
    ],
    ['Messaging not signed', 'messaging-not-signed', cut(/<ds:Reference URI="#msg".*?<\/ds:Reference>/)],
    ['Body not signed', 'body-not-signed', (xml) => xml.replace(bodyReference(xml), '')],
    ['two references with one URI', 'doubled-reference', (xml) => xml.replace(bodyReference(xml), (s) => s + s)],
    [
      'two references to one element',
      'doubled-reference',
      (xml) => extraReference('also')(xml).replace('wsu:Id="msg"', 'wsu:Id="msg" Id="also"'),
    ],
    ['a cid signed twice', 'doubled-reference', (xml) => xml.replace(cidReference(xml), (s) => s + s)],
    [
      '31 references',
      'reference-count',
      (xml) =>
        xml.replace(cidReference(xml), (s) =>
          Array.from({ length: 29 }, (_, i) => s.replace('part-1', `part-${i}`)).join(''),
        ),
    ],
    ['no reference', 'reference-count', cut(/<ds:Reference .*<\/ds:Reference>/)],
    ['a reference to the whole document', 'reference-uri-not-allowed', put('URI="#msg"', 'URI=""')],
    ['a reference without URI', 'reference-uri-not-allowed', put('URI="#msg"', '')],
    ['an XPointer', 'reference-uri-not-allowed', put('URI="#msg"', 'URI="#xpointer(id(\'msg\'))"')],
    [
      'an http reference, which is not fetched',
      'reference-uri-not-allowed',
      put('URI="#msg"', 'URI="http://127.0.0.1:9/x"'),
    ],
    ['a file reference, which is not read', 'reference-uri-not-allowed', put('URI="#msg"', 'URI="file:///etc/passwd"')],
    [
      'a reference that encloses the signature',
      'enveloped-signature',
      (xml) => extraReference('sec')(xml).replace('<wsse:Security ', '<wsse:Security Id="sec" '),
    ],
    [
      'no Transforms',
      'no-transforms',
      (xml) => xml.replace(bodyReference(xml), (s) => s.replace(/<ds:Transforms>.*<\/ds:Transforms>/, '')),
    ],
    [
      'an empty Transforms',
      'transform-count',
      (xml) => xml.replace(bodyReference(xml), (s) => s.replace(/<ds:Transform .*<\/ds:Transform>/, '')),
    ],
    [
      'exclusive C14N twice',
      'transform-count',
      (xml) => xml.replace(bodyReference(xml), (s) => s.replace(/<ds:Transform .*<\/ds:Transform>/, (t) => t + t)),
    ],
    [
      'six transforms',
      'transform-count',
      (xml) =>
        xml.replace(bodyReference(xml), (s) => s.replace(/<ds:Transform .*<\/ds:Transform>/, (t) => t.repeat(6))),
    ],
    [
      'an InclusiveNamespaces with a neighbour',
      'bad-signature-structure',
      put(
        /(<ec:InclusiveNamespaces [^>]*\/>)/,
        '<ec:InclusiveNamespaces xmlns:ec="http://www.w3.org/2001/10/xml-exc-c14n#" PrefixList="S12"/><ds:X/>',
      ),
    ],
    [
      'an InclusiveNamespaces with elements in it, which would be canonicalised before anybody is authenticated',
      'bad-signature-structure',
      (xml) =>
        xml.replace(
          /(<ec:InclusiveNamespaces [^>]*?)(?:\/>|><\/ec:InclusiveNamespaces>)/,
          '$1><a/></ec:InclusiveNamespaces>',
        ),
    ],
    [
      'a DigestMethod with elements in it',
      'bad-signature-structure',
      (xml) =>
        xml.replace(bodyReference(xml), (s) =>
          s.replace(/(<ds:DigestMethod [^>]*?)(?:\/>|><\/ds:DigestMethod>)/, '$1><a/></ds:DigestMethod>'),
        ),
    ],
    [
      'a PrefixList of 65 prefixes',
      'too-many-prefixes',
      put(/PrefixList="S12"/, `PrefixList="${Array.from({ length: 65 }, (_, i) => `p${i}`).join(' ')}"`),
    ],
    [
      'a child in an attachment transform',
      'bad-signature-structure',
      (xml) =>
        xml.replace(cidReference(xml), (s) => s.replace('</ds:Transform>', '<ds:XPath>1</ds:XPath></ds:Transform>')),
    ],
    [
      'a third child of Reference',
      'bad-signature-structure',
      (xml) =>
        xml.replace(bodyReference(xml), (s) =>
          s.replace('</ds:Reference>', '<ds:DigestValue>AAAA</ds:DigestValue></ds:Reference>'),
        ),
    ],
  ])('%s', (_, reason, change) => {
    expect(refusal(change, { resigned: false })).toMatchObject({ code: 'EBMS:0103', reason });
  });

  const bodyTransform = (uri: string) => (xml: string) =>
    xml.replace(bodyReference(xml), (s) =>
      s.replace(`Transform Algorithm="${EXC_C14N}"`, `Transform Algorithm="${uri}"`),
    );
  test.each<[string, (xml: string) => string]>([
    [
      'inclusive C14N',
      put(
        `CanonicalizationMethod Algorithm="${EXC_C14N}"`,
        'CanonicalizationMethod Algorithm="http://www.w3.org/TR/2001/REC-xml-c14n-20010315"',
      ),
    ],
    [
      'C14N with comments',
      put(
        `CanonicalizationMethod Algorithm="${EXC_C14N}"`,
        `CanonicalizationMethod Algorithm="${EXC_C14N}WithComments"`,
      ),
    ],
    ['rsa-sha1', put('xmldsig-more#rsa-sha256', 'xmldsig#rsa-sha1')],
    ['hmac-sha256', put('xmldsig-more#rsa-sha256', 'xmldsig-more#hmac-sha256')],
    [
      'a digest of SHA-1',
      put(
        'DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"/><ds:DigestValue',
        'DigestMethod Algorithm="http://www.w3.org/2000/09/xmldsig#sha1"/><ds:DigestValue',
      ),
    ],
    ['a name that every object has', put('http://www.w3.org/2001/04/xmldsig-more#rsa-sha256', 'constructor')],
    ['an enveloped-signature transform', bodyTransform('http://www.w3.org/2000/09/xmldsig#enveloped-signature')],
    ['XSLT', bodyTransform('http://www.w3.org/TR/1999/REC-xslt-19991116')],
    ['XPath', bodyTransform('http://www.w3.org/TR/1999/REC-xpath-19991116')],
    [
      'an attachment transform on an element',
      bodyTransform('http://docs.oasis-open.org/wss/oasis-wss-SwAProfile-1.1#Attachment-Content-Signature-Transform'),
    ],
    [
      'exclusive C14N on an attachment',
      put('http://docs.oasis-open.org/wss/oasis-wss-SwAProfile-1.1#Attachment-Content-Signature-Transform', EXC_C14N),
    ],
    [
      'the Attachment-Complete transform',
      put('#Attachment-Content-Signature-Transform', '#Attachment-Complete-Signature-Transform'),
    ],
  ])('algorithm outside the table: %s', (_, change) => {
    expect(refusal(change, { resigned: false })).toMatchObject({ code: 'EBMS:0103', reason: 'algorithm-not-allowed' });
  });

  const keyInfo = (inner: string) => put(/(?<=<\/ds:SignatureValue><ds:KeyInfo>).*?(?=<\/ds:KeyInfo>)/, inner);
  const str = (inner: string) => keyInfo(`<wsse:SecurityTokenReference>${inner}</wsse:SecurityTokenReference>`);
  const identifier = (type: string) =>
    str(`<wsse:KeyIdentifier ValueType="http://docs.oasis-open.org/wss/${type}">AAAA</wsse:KeyIdentifier>`);
  test.each<[string, (xml: string) => string]>([
    ['subject key identifier', identifier('2004/01/oasis-200401-wss-x509-token-profile-1.0#X509SubjectKeyIdentifier')],
    ['thumbprint', identifier('oasis-wss-soap-message-security-1.1#ThumbprintSHA1')],
    ['issuer and serial', str('<ds:X509Data><ds:X509IssuerSerial/></ds:X509Data>')],
    ['embedded token', str('<wsse:Embedded/>')],
    ['ds:X509Data', keyInfo('<ds:X509Data><ds:X509Certificate>AAAA</ds:X509Certificate></ds:X509Data>')],
    ['ds:KeyName', keyInfo('<ds:KeyName>me</ds:KeyName>')],
    ['ds:KeyValue', keyInfo('<ds:KeyValue/>')],
    ['ds:RetrievalMethod', keyInfo('<ds:RetrievalMethod URI="http://127.0.0.1:9/"/>')],
    ['more than one child', keyInfo('<wsse:SecurityTokenReference/><wsse:SecurityTokenReference/>')],
    ['nothing', keyInfo('')],
    ['with 2 children', str('<wsse:Reference URI="#a"/><wsse:Reference URI="#b"/>')],
    [
      'X509PKIPathv1',
      str(
        '<wsse:Reference URI="#a" ValueType="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-x509-token-profile-1.0#X509PKIPathv1"/>',
      ),
    ],
    ['leads to no such token', str('<wsse:Reference URI="http://127.0.0.1:9/token"/>')],
    ['leads to no such token', str('<wsse:Reference URI="#msg"/>')],
    [
      'leads to no such token',
      (xml) =>
        xml.replace(/X509v3"( wsu:Id="[^"]*">[^<]*<\/wsse:BinarySecurityToken><ds:Signature)/, 'X509PKIPathv1"$1'),
    ],
  ])('the signing key named in a form that is not allowed is answered with its name: %s', (words, change) => {
    const error = refusal(change, { resigned: false });
    expect(error.code).toBe('EBMS:0103');
    expect(error.message).toContain(words);
  });

  test('a token outside the one wsse:Security is not taken', () => {
    const move = (xml: string) => {
      const token = /<wsse:BinarySecurityToken [^<]*<\/wsse:BinarySecurityToken>(?=<ds:Signature)/.exec(xml)![0];
      return xml
        .replace(token, '')
        .replace(
          '<S12:Header>',
          () =>
            `<S12:Header>${token.replace(/:Binary/, '$&').replace('<wsse:BinarySecurityToken', '<wsse:BinarySecurityToken xmlns:wsse="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd"')}`,
        );
    };
    expect(refusal(move)).toMatchObject({ code: 'EBMS:0103', reason: 'key-reference-unresolved' });
  });
});

describe('EBMS:0009: it is no AS4 envelope', () => {
  test.each<[string, string, (xml: string) => string]>([
    [
      'SOAP 1.1',
      'not-soap',
      put('http://www.w3.org/2003/05/soap-envelope', 'http://schemas.xmlsoap.org/soap/envelope/'),
    ],
    ['no Header', 'bad-soap-structure', cut(/<S12:Header>.*<\/S12:Header>/)],
    ['two Bodies', 'bad-soap-structure', put('</S12:Envelope>', '<S12:Body/></S12:Envelope>')],
    ['no eb:Messaging', 'messaging-count', cut(/<eb:Messaging .*<\/eb:Messaging>/)],
    [
      'two eb:Messaging',
      'messaging-count',
      put('</S12:Header>', `${MESSAGING.replace('"msg"', '"second"')}</S12:Header>`),
    ],
    [
      'an unknown header that must be understood',
      'unknown-mandatory-header',
      put('<S12:Header>', '<S12:Header><x:Route xmlns:x="urn:x" S12:mustUnderstand="1"/>'),
    ],
  ])('%s', (_, reason, change) => {
    expect(refusal(change, { resigned: false })).toMatchObject({ code: 'EBMS:0009', reason });
  });
});

test.each(['x', '<x/>', ' <x/> '])('a user message with a signed Body that holds %j is EBMS:0009', (content) => {
  const filled = resign(good.replace(/<S12:Body ([^>]*)\/>/, (_, a: string) => `<S12:Body ${a}>${content}</S12:Body>`));
  const { body } = verify(filled);
  expect(() => requireEmptyBody(body)).toThrow(
    expect.objectContaining({ code: 'EBMS:0009', reason: 'body-not-empty' }),
  );
});

test('a signed Body of white space is empty enough', () => {
  const spaced = resign(good.replace(/<S12:Body ([^>]*)\/>/, (_, a: string) => `<S12:Body ${a}>\n </S12:Body>`));
  expect(() => requireEmptyBody(verify(spaced).body)).not.toThrow();
});

describe('EBMS:0101: it is not authentic', () => {
  test.each<[string, string, (xml: string) => string]>([
    ['Messaging changed after signing', 'digest-mismatch', put('m-1@sender.test', 'm-2@sender.test')],
    ['Body changed after signing', 'digest-mismatch', put(/(<S12:Body [^>]*)\/>/, '<S12:Body/>')],
    [
      'SignedInfo changed after signing',
      'signature-mismatch',
      (xml) => xml.replace(cidReference(xml), (s) => s.replace('part-1', 'part-2')),
    ],
    [
      "another signer's certificate",
      'signature-mismatch',
      (xml) =>
        xml.replace(sender.certificate.der.toString('base64'), testCertificate('sender-2').der.toString('base64')),
    ],
    ['a SignatureValue that is not base64', 'bad-signature-value', put('<ds:SignatureValue>', '<ds:SignatureValue>*')],
    [
      'a SignatureValue with an element in it',
      'bad-signature-value',
      put('<ds:SignatureValue>', '<ds:SignatureValue><ds:X/>'),
    ],
    ['a DigestValue that is too short', 'bad-digest-value', put(/<ds:DigestValue>[^<]*/, '<ds:DigestValue>AAAA')],
    ['a reference that leads nowhere', 'reference-unresolved', extraReference('nowhere')],
    ['a token that is not base64', 'bad-token', (xml) => xml.replace(sender.certificate.der.toString('base64'), '*')],
  ])('%s', (_, reason, change) => {
    // A Body without its Id would fail earlier.
    const fixed = (xml: string) =>
      change(xml).replace(
        '<S12:Body/>',
        `<S12:Body xmlns:wsu="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd" wsu:Id="${bodyId(xml)}">x</S12:Body>`,
      );
    expect(refusal(fixed, { resigned: false })).toMatchObject({ code: 'EBMS:0101', reason });
  });

  test('the digest of a reference beyond the required ones is wrong', () => {
    const changed = extraReference('ts')(good).replace(/<S12:Header>/, '$&<x:Route xmlns:x="urn:x" Id="ts"/>');
    const signed = resign(changed);
    expect(verify(signed).references).toHaveLength(4);
    expect(() => verify(signed.replace('<x:Route ', '<x:Route a="" '))).toThrow(
      expect.objectContaining({ code: 'EBMS:0101', reason: 'digest-mismatch' }),
    );
  });

  test('SignatureValue is checked before any digest', () => {
    const both = (xml: string) =>
      xml
        .replace('m-1@sender.test', 'm-2@sender.test')
        .replace(cidReference(xml), (s) => s.replace('part-1', 'part-2'));
    expect(refusal(both, { resigned: false }).reason).toBe('signature-mismatch');
  });

  test('the certificate of the signer is revoked, expired or none', async () => {
    const trust = await testTrust();
    expect(verify(good, trust).signer.chain.length).toBeGreaterThan(1);
    const signer = sender.certificate.der.toString('base64');
    for (const reason of ['revoked', 'expired']) {
      const other = good.replace(signer, testCertificate(reason).der.toString('base64'));
      expect(() => verify(other, trust)).toThrow(expect.objectContaining({ code: 'EBMS:0101', reason }));
    }
    const garbage = good.replace(signer, 'AAAA');
    expect(() => verify(garbage, trust)).toThrow(expect.objectContaining({ code: 'EBMS:0101', reason: 'malformed' }));
  });

  test("the signer is not trusted: the trust store's words go to the sender", () => {
    const trust: Pick<TrustStore, 'judge'> = {
      judge: () => ({ status: 'refused', reason: 'expired', text: 'The certificate has expired' }),
    };
    expect(() => verify(good, trust)).toThrow(
      expect.objectContaining({ code: 'EBMS:0101', reason: 'expired', message: 'The certificate has expired' }),
    );
  });
});

test('revocation that cannot be decided is 503 without a signal, so that the sender tries again', () => {
  const trust: Pick<TrustStore, 'judge'> = {
    judge: () => ({ status: 'unknown', reason: 'revocation-unknown', text: 'try again' }),
  };
  expect(() => verify(good, trust)).toThrow(TransportRefusal);
  expect(() => verify(good, trust)).toThrow(expect.objectContaining({ status: 503 }));
});

describe('signature wrapping', () => {
  const forged = MESSAGING.replace('m-1@', 'forged@').replace('wsu:Id="msg"', 'wsu:Id="forged"');
  test.each<[string, (xml: string) => string]>([
    [
      'the signed Messaging in a wrapper, a forged one in its place',
      (xml) => xml.replace(/<eb:Messaging .*<\/eb:Messaging>/, (m) => `<x:W xmlns:x="urn:x">${m}</x:W>${forged}`),
    ],
    [
      'the signed Messaging in the Body',
      (xml) =>
        xml
          .replace(/<eb:Messaging .*<\/eb:Messaging>/, forged)
          .replace(/<S12:Body ([^>]*)\/>/, (_, a: string) => `<S12:Body ${a}>${MESSAGING}</S12:Body>`),
    ],
    [
      'the signed Body in the Header, a forged one in its place',
      (xml) =>
        xml
          .replace(/<S12:Body [^>]*\/>/, '<S12:Body/>')
          .replace(
            '</S12:Header>',
            () => `<x:W xmlns:x="urn:x">${/<S12:Body [^>]*\/>/.exec(xml)![0]}</x:W></S12:Header>`,
          ),
    ],
  ])('%s', (_, change) => {
    expect(refusal(change, { resigned: false }).code).toBe('EBMS:0103');
  });

  test('a Messaging that hides deeper in the document is content, not the message', () => {
    const hidden = resign(good.replace('</S12:Header>', () => `<x:W xmlns:x="urn:x">${forged}</x:W></S12:Header>`));
    expect(
      JSON.stringify(verify(hidden).messaging.children[0], (key, value) => (key === 'parent' ? undefined : value)),
    ).toContain('m-1@');
  });

  test('a comment inside a DigestValue cannot split it into two readings', () => {
    const split = resign(good).replace(/(<ds:DigestValue>.{8})/, '$1<!-- x -->');
    expect(verify(split).references).toHaveLength(3);
  });
});
