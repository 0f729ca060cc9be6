import { beforeAll, expect, test } from 'vitest';
import { As4Error } from '../as4-error.ts';
import { parseXml } from '../xml/parse.ts';
import { testMessage } from './testing/message.ts';
import { trustEverything } from './testing/trust.ts';
import { verifyEnvelope } from './verify.ts';

let good: string;
beforeAll(async () => {
  good = (await testMessage()).envelope;
});

/** Encryption is not signed, so a change needs no new signature. */
function verify(xml: string) {
  return verifyEnvelope(parseXml(Buffer.from(xml)), trustEverything, 0).encryption;
}

const put = (pattern: string | RegExp, text: string) => (xml: string) => xml.replace(pattern, () => text);
const key = (xml: string) => /<xenc:EncryptedKey .*?<\/xenc:EncryptedKey>/.exec(xml)![0];
const data = (xml: string) => /<xenc:EncryptedData .*?<\/xenc:EncryptedData>/.exec(xml)![0];
const inKey = (change: (text: string) => string) => (xml: string) => xml.replace(key(xml), change);
const inData = (change: (text: string) => string) => (xml: string) => xml.replace(data(xml), change);
const copies = (text: string, n: number) =>
  Array.from({ length: n }, (_, i) => text.replace(/ Id="[^"]*"/, ` Id="copy-${i}"`).replace('cid:', `cid:${i}`)).join(
    '',
  );

test.each<[string, string, (xml: string) => string]>([
  ['aes256-gcm', 'algorithm-not-allowed', put('xmlenc11#aes128-gcm', 'xmlenc11#aes256-gcm')],
  [
    'aes128-cbc',
    'algorithm-not-allowed',
    put('http://www.w3.org/2009/xmlenc11#aes128-gcm', 'http://www.w3.org/2001/04/xmlenc#aes128-cbc'),
  ],
  [
    'no data encryption method',
    'algorithm-not-allowed',
    inData((s) => s.replace(/<xenc:EncryptionMethod [^>]*\/>/, '')),
  ],
  [
    'rsa-oaep-mgf1p',
    'algorithm-not-allowed',
    put('http://www.w3.org/2009/xmlenc11#rsa-oaep', 'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p'),
  ],
  [
    'rsa-1_5',
    'algorithm-not-allowed',
    put('http://www.w3.org/2009/xmlenc11#rsa-oaep', 'http://www.w3.org/2001/04/xmlenc#rsa-1_5'),
  ],
  [
    'no OAEP DigestMethod, which would mean SHA-1',
    'algorithm-not-allowed',
    inKey((s) => s.replace(/<ds:DigestMethod [^>]*\/>/, '')),
  ],
  [
    'no MGF, which would mean MGF1 with SHA-1',
    'algorithm-not-allowed',
    inKey((s) => s.replace(/<xenc11:MGF [^>]*\/>/, '')),
  ],
  ['MGF1 with SHA-1', 'algorithm-not-allowed', put('mgf1sha256', 'mgf1sha1')],
  [
    'OAEPparams',
    'oaep-params',
    inKey((s) =>
      s.replace('</xenc:EncryptionMethod>', '<xenc:OAEPparams>AAAA</xenc:OAEPparams></xenc:EncryptionMethod>'),
    ),
  ],
  [
    'an unknown child of EncryptionMethod',
    'bad-encryption-method',
    inKey((s) => s.replace('</xenc:EncryptionMethod>', '<xenc:Salt/></xenc:EncryptionMethod>')),
  ],
  ['Attachment-Complete', 'encrypted-data-type', put('#Attachment-Content-Only', '#Attachment-Complete')],
  ['no Type', 'encrypted-data-type', inData((s) => s.replace(/ Type="[^"]*"/, ''))],
  [
    'encrypted content in place',
    'not-an-attachment',
    inData((s) =>
      s.replace(/<xenc:CipherReference .*<\/xenc:CipherReference>/, '<xenc:CipherValue>AAAA</xenc:CipherValue>'),
    ),
  ],
  [
    'an http CipherReference',
    'cipher-reference-uri',
    put('<xenc:CipherReference URI="cid:', '<xenc:CipherReference URI="http://127.0.0.1:9/'),
  ],
  [
    'no ciphertext transform',
    'transform-count',
    inData((s) => s.replace(/<xenc:Transforms>.*<\/xenc:Transforms>/, '')),
  ],
  [
    'another ciphertext transform',
    'algorithm-not-allowed',
    put('#Attachment-Ciphertext-Transform', '#Attachment-Content-Signature-Transform'),
  ],
  [
    'two EncryptedData for one part',
    'doubled-encrypted-data',
    (xml) => xml.replace(data(xml), (s) => s + s.replace(/ Id="[^"]*"/, '')),
  ],
  ['no EncryptedKey', 'content-key-unresolved', (xml) => xml.replace(key(xml), '')],
  ['a KeyInfo that leads elsewhere', 'content-key-unresolved', inData((s) => s.replace(/URI="#[^"]*"/, 'URI="#msg"'))],
  [
    'a KeyInfo of another kind',
    'content-key-unresolved',
    inData((s) => s.replace(/<wsse:Sec.*<\/wsse:SecurityTokenReference>/, '<ds:KeyName>k</ds:KeyName>')),
  ],
  [
    'no KeyInfo and two keys of which both list it',
    'content-key-unresolved',
    (xml) =>
      inData((s) => s.replace(/<ds:KeyInfo .*<\/ds:KeyInfo>/, ''))(xml).replace(
        key(xml),
        (s) => s + s.replace(/ Id="[^"]*"/, ''),
      ),
  ],
  ['65 EncryptedData', 'too-many-encrypted', (xml) => xml.replace(data(xml), (s) => copies(s, 65))],
  ['65 EncryptedKey', 'too-many-encrypted', (xml) => xml.replace(key(xml), (s) => s + copies(s, 64))],
  ['a CipherValue that is not base64', 'bad-cipher-value', put('<xenc:CipherValue>', '<xenc:CipherValue>*')],
  [
    'a CipherValue that no RSA key gives',
    'bad-cipher-value',
    put('<xenc:CipherValue>', `<xenc:CipherValue>${'AAAA'.repeat(400)}`),
  ],
  [
    'a recipient named by nothing that is known',
    'recipient-not-named',
    inKey((s) =>
      s.replace(/<wsse:SecurityTokenReference>.*<\/wsse:SecurityTokenReference>/, '<ds:KeyName>you</ds:KeyName>'),
    ),
  ],
  [
    'a serial number that is none',
    'recipient-not-named',
    inKey((s) =>
      s.replace(
        /<wsse:SecurityTokenReference>.*<\/wsse:SecurityTokenReference>/,
        '<ds:X509Data><ds:X509IssuerSerial><ds:X509IssuerName>CN=a</ds:X509IssuerName><ds:X509SerialNumber>-1</ds:X509SerialNumber></ds:X509IssuerSerial></ds:X509Data>',
      ),
    ),
  ],
])('EBMS:0103: %s', (_, reason, change) => {
  const changed = change(good);
  expect(changed).not.toBe(good);
  expect(() => verify(changed)).toThrow(As4Error);
  expect(() => verify(changed)).toThrow(expect.objectContaining({ code: 'EBMS:0103', reason }));
});

test.each<[string, (xml: string) => string]>([
  [
    'empty OAEPparams',
    inKey((s) => s.replace('</xenc:EncryptionMethod>', '<xenc:OAEPparams/></xenc:EncryptionMethod>')),
  ],
  ['64 EncryptedData', (xml) => xml.replace(data(xml), (s) => copies(s, 64))],
  [
    'an EncryptedKey of another algorithm that nothing uses',
    (xml) => xml.replace(key(xml), (s) => s + s.replace(/ Id="[^"]*"/, '').replace('rsa-oaep', 'rsa-1_5')),
  ],
  [
    'EncryptedData before EncryptedKey',
    (xml) => xml.replace(data(xml), '').replace(key(xml), () => data(xml) + key(xml)),
  ],
])('accepted: %s', (_, change) => {
  const changed = change(good);
  expect(changed).not.toBe(good);
  expect(verify(changed).cids.size).toBeGreaterThan(0);
});
