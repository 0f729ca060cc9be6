import { createHash, randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { As4Error } from '../as4-error.ts';
import type { Identity } from '../pki/identity.ts';
import { parseXml } from '../xml/parse.ts';
import { type ContentKeys, unwrapKeys } from './content-keys.ts';
import { encryptPart, newContentKey, wrapKey } from './encrypt.ts';
import { openBuffer, openPart } from './open.ts';
import type { PlainPart } from './secure-message.ts';
import { CID, receiver, resign, testCertificate, testIdentity, testMessage } from './testing/message.ts';
import { trustEverything } from './testing/trust.ts';
import { type VerifiedEnvelope, verifyEnvelope } from './verify.ts';

const AT = Date.UTC(2026, 10, 30);
const verify = (xml: string): VerifiedEnvelope => verifyEnvelope(parseXml(Buffer.from(xml)), trustEverything, AT);

interface Case {
  readonly verified: VerifiedEnvelope;
  readonly cipher: Buffer;
}

async function message(content: Buffer, mimeType: string, change = (xml: string) => xml): Promise<Case> {
  const part: PlainPart = { cid: CID.slice(4), mimeType, content };
  const { envelope, parts } = await testMessage({ attachments: [part] });
  return { verified: verify(change(envelope)), cipher: parts[0]!.cipher };
}

async function* pieces(whole: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < whole.length; at += size) yield whole.subarray(at, at + size);
}

/** Opens in memory and as streams of several chunk sizes; all must do the same. */
async function openBoth(
  { verified, cipher }: Case,
  identity: Identity = receiver,
  maxXmlBytes?: number,
): Promise<Buffer> {
  const keys = await unwrapKeys(verified.encryption, [CID], identity);
  const reference = verified.attachments.get(CID)!;
  const options = maxXmlBytes === undefined ? {} : { maxXmlBytes };
  const whole = await settled(openBuffer(cipher, CID, keys, reference, options));
  for (const size of [1, 11, 12, 13, 28, 29, 4096]) {
    const chunks: Buffer[] = [];
    const streamed = await settled(
      openPart(pieces(cipher, size), CID, keys, reference, async (c) => void chunks.push(c), options),
    );
    if (whole instanceof As4Error) {
      expect(streamed).toBeInstanceOf(As4Error);
      expect(streamed).toMatchObject({ code: whole.code, message: whole.message, reason: whole.reason });
    } else {
      expect(streamed).toEqual({ bytes: whole.bytes, sha256: whole.sha256 });
      expect(Buffer.concat(chunks).equals(whole.plain)).toBe(true);
    }
  }
  if (whole instanceof As4Error) throw whole;
  expect(whole.sha256.equals(createHash('sha256').update(whole.plain).digest())).toBe(true);
  return whole.plain;
}

async function settled<T>(promise: Promise<T>): Promise<T | As4Error> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof As4Error) return error;
    throw error;
  }
}

describe('the digest of an attachment is over its canonical form (SwA §5.4.2)', () => {
  const xml = Buffer.from('<?xml version="1.0"?>\r\n<a  b="1"   a=\'2\'><!-- c --><b/>é\r\n</a>\n');
  const iso = Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><a>\xe9</a>', 'latin1');
  test.each<[string, Buffer, string]>([
    ['application/xml', xml, '<a a="2" b="1"><b></b>é\n</a>'],
    ['Text/XML; charset=utf-8', xml, '<a a="2" b="1"><b></b>é\n</a>'],
    ['application/vnd.x+xml', xml, '<a a="2" b="1"><b></b>é\n</a>'],
    ['image/svg+xml', xml, '<a a="2" b="1"><b></b>é\n</a>'],
    ['application/xml', iso, '<a>é</a>'],
    ['text/plain', Buffer.from('a\nb\rc\r\nd\r\re\n\n'), 'a\r\nb\r\nc\r\nd\r\n\r\ne\r\n\r\n'],
    ['application/gzip', xml, xml.toString()],
    ['application/xmlx', xml, xml.toString()],
    ['application/octet-stream', Buffer.alloc(0), ''],
  ])('%s', async (mimeType, content, canonical) => {
    const sent = await message(content, mimeType);
    expect(sent.verified.attachments.get(CID)!.digest.toString('hex')).toBe(
      createHash('sha256').update(canonical).digest('hex'),
    );
    expect((await openBoth(sent)).equals(content)).toBe(true);
  });

  test('without @MimeType the octets are hashed as they are', async () => {
    const sent = await message(xml, 'application/octet-stream', (envelope) =>
      envelope.replace(/ MimeType="[^"]*"/, ''),
    );
    expect((await openBoth(sent)).equals(xml)).toBe(true);
  });

  const asXml = (envelope: string) => envelope.replace(/MimeType="[^"]*"/, 'MimeType="application/xml"');
  test.each<[string, Buffer]>([
    ['a DOCTYPE', Buffer.from('<!DOCTYPE a><a/>')],
    ['an unknown encoding', Buffer.from('<?xml version="1.0" encoding="x-mine"?><a/>')],
    ['malformed XML', Buffer.from('<a><b></a>')],
    ['no XML at all', Buffer.from('PK')],
  ])('XML that has no canonical form is EBMS:0101: %s', async (_, content) => {
    const sent = await message(content, 'application/octet-stream', asXml);
    await expect(openBoth(sent)).rejects.toMatchObject({ code: 'EBMS:0101', reason: 'attachment-digest-mismatch' });
  });

  test('XML over the limit is EBMS:0101', async () => {
    const sent = await message(xml, 'application/xml');
    await expect(openBoth(sent, receiver, xml.length - 1)).rejects.toMatchObject({ code: 'EBMS:0101' });
    await expect(openBoth(sent, receiver, xml.length)).resolves.toBeDefined();
  });

  test('a digest that does not match is EBMS:0101', async () => {
    const { verified, cipher } = await message(Buffer.from('one'), 'application/gzip');
    const other = await message(Buffer.from('two'), 'application/gzip');
    const keys = await unwrapKeys(verified.encryption, [CID], receiver);
    await expect(openBuffer(cipher, CID, keys, other.verified.attachments.get(CID)!)).rejects.toMatchObject({
      code: 'EBMS:0101',
    });
  });
});

describe('EBMS:0102 has one text, whatever is wrong', () => {
  const content = gzipSync('0123456789');
  let sent: Case;
  beforeAll(async () => {
    sent = await message(content, 'application/gzip');
  });
  const ONE_ANSWER = {
    code: 'EBMS:0102',
    reason: 'not-decrypted',
    message: 'The payload cannot be decrypted: its wrapped key, ciphertext or tag is wrong',
  };
  const flipped = (whole: Buffer, at: number): Buffer => {
    const copy = Buffer.from(whole);
    copy[at < 0 ? copy.length + at : at]! ^= 1;
    return copy;
  };
  const withCipherValue = async (value: Buffer): Promise<Case> => {
    const changed = await message(content, 'application/gzip', (xml) =>
      xml.replace(/(?<=<xenc:CipherValue>)[^<]*/, value.toString('base64')),
    );
    return changed;
  };

  test.each<[string, (cipher: Buffer) => Buffer]>([
    ['the IV', (c) => flipped(c, 0)],
    ['the ciphertext', (c) => flipped(c, 13)],
    ['the tag', (c) => flipped(c, -1)],
    ['a cut tag', (c) => c.subarray(0, -1)],
    ['less than IV and tag', (c) => c.subarray(0, 27)],
    ['nothing', () => Buffer.alloc(0)],
  ])('wrong or missing: %s', async (_, change) => {
    await expect(openBoth({ ...sent, cipher: change(sent.cipher) })).rejects.toMatchObject(ONE_ANSWER);
  });

  test('a key that does not unwrap', async () => {
    await expect(openBoth(await withCipherValue(randomBytes(256)))).rejects.toMatchObject(ONE_ANSWER);
    await expect(openBoth(await withCipherValue(randomBytes(16)))).rejects.toMatchObject(ONE_ANSWER);
  });

  test.each([0, 15, 17, 32])('a key of %i octets', async (length) => {
    await expect(
      openBoth(await withCipherValue(wrapKey(Buffer.alloc(length), receiver.certificate))),
    ).rejects.toMatchObject(ONE_ANSWER);
  });

  test('the key is random after a failed unwrap, not known to anyone', async () => {
    const { verified } = await withCipherValue(randomBytes(256));
    const [a, b] = await Promise.all([
      unwrapKeys(verified.encryption, [CID], receiver),
      unwrapKeys(verified.encryption, [CID], receiver),
    ]);
    expect(a.get(CID)!.key).toHaveLength(16);
    expect(a.get(CID)!.key.equals(b.get(CID)!.key)).toBe(false);
  });

  test('a sink that chokes on garbage does not become another answer', async () => {
    const keys = await unwrapKeys(sent.verified.encryption, [CID], receiver);
    const choke = () => {
      throw new As4Error('EBMS:0303', 'gzip is damaged');
    };
    const reference = sent.verified.attachments.get(CID)!;
    await expect(openPart(pieces(flipped(sent.cipher, 13), 20), CID, keys, reference, choke)).rejects.toMatchObject(
      ONE_ANSWER,
    );
    await expect(openPart(pieces(sent.cipher, 20), CID, keys, reference, choke)).rejects.toMatchObject({
      code: 'EBMS:0303',
    });
  });

  test('an error of the body goes on unchanged', async () => {
    const keys = await unwrapKeys(sent.verified.encryption, [CID], receiver);
    async function* broken(): AsyncGenerator<Buffer> {
      yield sent.cipher.subarray(0, 20);
      throw new RangeError('connection lost');
    }
    await expect(openPart(broken(), CID, keys, sent.verified.attachments.get(CID)!, () => {})).rejects.toThrow(
      RangeError,
    );
  });
});

describe('our key', () => {
  const content = Buffer.from('0123456789');
  const named =
    (inner: string, o: { bare?: boolean } = {}) =>
    (xml: string) =>
      xml.replace(
        /(?<=<\/xenc:EncryptionMethod><ds:KeyInfo [^>]*>)<wsse:SecurityTokenReference>.*?<\/wsse:SecurityTokenReference>(?=<\/ds:KeyInfo><xenc:CipherData><xenc:CipherValue>)/,
        o.bare === true ? inner : `<wsse:SecurityTokenReference>${inner}</wsse:SecurityTokenReference>`,
      );
  const { certificate } = receiver;
  const decimal = BigInt(`0x${certificate.serial}`).toString();
  const issuerSerial = (issuer: string, serial = decimal) =>
    `<ds:X509Data><ds:X509IssuerSerial><ds:X509IssuerName>${issuer}</ds:X509IssuerName><ds:X509SerialNumber>${serial}</ds:X509SerialNumber></ds:X509IssuerSerial></ds:X509Data>`;
  const identifier = (type: string, value: Buffer) =>
    `<wsse:KeyIdentifier ValueType="http://docs.oasis-open.org/wss/${type}">${value.toString('base64')}</wsse:KeyIdentifier>`;
  const SKI = '2004/01/oasis-200401-wss-x509-token-profile-1.0#X509SubjectKeyIdentifier';
  const THUMBPRINT = 'oasis-wss-soap-message-security-1.1#ThumbprintSHA1';
  const sha1 = (octets: Buffer) => createHash('sha1').update(octets).digest();
  const issuerName = certificate.x509.issuer.split('\n').reverse().join(', ');

  test.each<[string, (xml: string) => string]>([
    ['issuer and serial', named(issuerSerial(issuerName))],
    [
      'issuer and serial, issuer in the other order',
      named(issuerSerial(certificate.x509.issuer.split('\n').join(','))),
    ],
    ['subject key identifier', named(identifier(SKI, certificate.subjectKeyId!))],
    ['thumbprint', named(identifier(THUMBPRINT, sha1(certificate.der)))],
    ['the thumbprint of an older certificate on the same key', named(identifier(THUMBPRINT, randomBytes(20)))],
    ['issuer and serial of an older certificate on the same key', named(issuerSerial(issuerName, '17'))],
    [
      'X509Certificate',
      named(
        `<ds:X509Data><ds:X509Certificate>${certificate.der.toString('base64')}</ds:X509Certificate></ds:X509Data>`,
        { bare: true },
      ),
    ],
    [
      'X509SKI',
      named(`<ds:X509Data><ds:X509SKI>${certificate.subjectKeyId!.toString('base64')}</ds:X509SKI></ds:X509Data>`, {
        bare: true,
      }),
    ],
    ['X509IssuerSerial without SecurityTokenReference', named(issuerSerial(issuerName), { bare: true })],
    ['no KeyInfo', (xml) => named('', { bare: true })(xml).replace(/<ds:KeyInfo [^>]*><\/ds:KeyInfo>/, '')],
  ])('is found by %s', async (_, change) => {
    const sent = await message(content, 'application/gzip', (xml) => {
      const changed = change(xml);
      expect(changed).not.toBe(xml);
      return changed;
    });
    expect((await openBoth(sent)).equals(content)).toBe(true);
  });

  const toRecipient = async (name: string): Promise<Case> => {
    const { envelope, parts } = await testMessage({
      attachments: [{ cid: CID.slice(4), mimeType: 'application/gzip', content }],
      recipient: testCertificate(name),
    });
    return { verified: verify(envelope), cipher: parts[0]!.cipher };
  };

  test('is found by the public key of a renewed certificate', async () => {
    expect((await openBoth(await toRecipient('receiver-renewed'))).equals(content)).toBe(true);
  });

  test('of before a roll-over still decrypts, by token and by the name of a certificate that we no longer hold', async () => {
    const next = await testIdentity('receiver-next');
    const [old] = receiver.decryptionKeys;
    const rolled: Identity = { ...next, decryptionKeys: [...next.decryptionKeys, { ...old!, certificate: null }] };
    expect((await openBoth(await toRecipient('receiver'), rolled)).equals(content)).toBe(true);
    const byThumbprint = await message(
      content,
      'application/gzip',
      named(identifier(THUMBPRINT, sha1(certificate.der))),
    );
    expect((await openBoth(byThumbprint, rolled)).equals(content)).toBe(true);
    const byKeyId = await message(content, 'application/gzip', named(identifier(SKI, certificate.subjectKeyId!)));
    expect((await openBoth(byKeyId, rolled)).equals(content)).toBe(true);
  });

  test.each<[string, () => Promise<Case>]>([
    ['a token with another public key', () => toRecipient('receiver-next')],
    [
      'another subject key identifier',
      () => message(content, 'application/gzip', named(identifier(SKI, randomBytes(20)))),
    ],
    [
      'a token that is no certificate',
      () =>
        message(
          content,
          'application/gzip',
          named('<ds:X509Data><ds:X509Certificate>AAAA</ds:X509Certificate></ds:X509Data>', { bare: true }),
        ),
    ],
  ])('is not meant: EBMS:0102 says that it was encrypted for another key: %s', async (_, make) => {
    await expect(openBoth(await make())).rejects.toMatchObject({
      code: 'EBMS:0102',
      reason: 'encrypted-for-another-key',
      message: expect.stringContaining(certificate.serial),
    });
  });
});

describe('several parts', () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  async function withOwnKeys(count: number): Promise<{ verified: VerifiedEnvelope; ciphers: Buffer[] }> {
    const attachments = names
      .slice(0, count)
      .map((cid) => ({ cid, mimeType: 'application/gzip', content: Buffer.from(`content of ${cid}`) }));
    const { envelope } = await testMessage({ attachments });
    const ciphers: Buffer[] = [];
    const keyText = /<xenc:EncryptedKey .*?<\/xenc:EncryptedKey>/.exec(envelope)![0];
    const datas = envelope.match(/<xenc:EncryptedData .*?<\/xenc:EncryptedData>/g)!;
    let keys = '';
    const ownDatas = datas.map((data, i) => {
      const key = newContentKey();
      ciphers.push(encryptPart(attachments[i]!.content, key));
      const id = /Id="([^"]*)"/.exec(data)![1]!;
      keys += keyText
        .replace(/ Id="[^"]*"/, ` Id="key-${i}"`)
        .replace(/(?<=<xenc:CipherValue>)[^<]*/, wrapKey(key, receiver.certificate).toString('base64'))
        .replace(
          /<xenc:ReferenceList>.*<\/xenc:ReferenceList>/,
          `<xenc:ReferenceList><xenc:DataReference URI="#${id}"/></xenc:ReferenceList>`,
        );
      // Every other one is found by KeyInfo, the rest by the ReferenceList.
      return i % 2 === 0
        ? data.replace(/(?<=<wsse:Reference URI=")[^"]*/, `#key-${i}`)
        : data.replace(/<ds:KeyInfo .*<\/ds:KeyInfo>/, '');
    });
    // Data before keys, in reverse order.
    return {
      verified: verify(envelope.replace(keyText, () => ownDatas.reverse().join('') + keys).replace(datas.join(''), '')),
      ciphers,
    };
  }

  test('each with a key of its own, EncryptedData in any order, with and without KeyInfo', async () => {
    const { verified, ciphers } = await withOwnKeys(4);
    const cids = names.slice(0, 4).map((name) => `cid:${name}`);
    const keys = await unwrapKeys(verified.encryption, cids, receiver);
    for (const [i, cid] of cids.entries()) {
      const { plain } = await openBuffer(ciphers[i]!, cid, keys, verified.attachments.get(cid)!);
      expect(plain.toString()).toBe(`content of ${names[i]}`);
    }
  });

  test('more than four keys are refused, but only those that are needed count', async () => {
    const { verified } = await withOwnKeys(5);
    await expect(
      unwrapKeys(
        verified.encryption,
        names.map((n) => `cid:${n}`),
        receiver,
      ),
    ).rejects.toMatchObject({ code: 'EBMS:0103' });
    const keys: ContentKeys = await unwrapKeys(verified.encryption, ['cid:e'], receiver);
    expect([...keys.keys()]).toEqual(['cid:e']);
  });

  test('a part that is not encrypted is EBMS:0103', async () => {
    const { verified } = await message(Buffer.from('x'), 'application/gzip');
    await expect(unwrapKeys(verified.encryption, ['cid:other'], receiver)).rejects.toMatchObject({
      code: 'EBMS:0103',
      reason: 'not-encrypted',
    });
  });

  test('a change of what is not signed does not need a new signature', async () => {
    const { envelope } = await testMessage();
    expect(resign(envelope)).toBe(envelope);
  });
});
