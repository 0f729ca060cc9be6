import { createPublicKey } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { ExclusiveCanonicalization, SignedXml } from 'xml-crypto';
import { errorMessaging, receiptMessaging } from '../ebms/signal.ts';
import { canonicalize } from '../xml/c14n.ts';
import { parseXml } from '../xml/parse.ts';
import { attribute } from '../xml/tree.ts';
import { signSoap } from './sign.ts';
import { MESSAGING, receiver, sender, testMessage } from './testing/message.ts';
import { trustEverything } from './testing/trust.ts';
import { verifyEnvelope } from './verify.ts';

const AT = Date.UTC(2026, 10, 30);
let count = 0;
const newId = () => `id${++count}`;

/** Another implementation's canonicaliser and verifier; only its order of prefixes (by locale) is put right. */
class CodePointOrder extends ExclusiveCanonicalization {
  override nsCompare(a: { prefix: string }, b: { prefix: string }): number {
    return a.prefix < b.prefix ? -1 : a.prefix > b.prefix ? 1 : 0;
  }
}

function xmlCryptoAccepts(xml: string, publicKey: string): boolean {
  const verifier = new SignedXml({ publicCert: publicKey, idMode: 'wssecurity' });
  verifier.CanonicalizationAlgorithms['http://www.w3.org/2001/10/xml-exc-c14n#'] = CodePointOrder;
  verifier.loadSignature(/<ds:Signature .*<\/ds:Signature>/s.exec(xml)![0]);
  return verifier.checkSignature(xml);
}

const pem = (identity: typeof receiver) =>
  createPublicKey(identity.privateKey).export({ type: 'spki', format: 'pem' }) as string;

async function receipt(): Promise<string> {
  const message = parseXml(Buffer.from((await testMessage({ prefixList: 'S12' })).envelope));
  const { references } = verifyEnvelope(message, trustEverything, AT);
  const messaging = receiptMessaging({
    id: 'msg-1',
    messageId: 'r-1@us',
    timestamp: new Date(AT),
    refToMessageId: 'm-1@sender.test',
    references,
  });
  return signSoap({ messaging, messagingId: 'msg-1', identity: receiver, newId });
}

describe('a signed signal', () => {
  test('is accepted by xml-crypto with corrected sorting, and refused by it when a byte changes', async () => {
    const xml = await receipt();
    expect(xmlCryptoAccepts(xml, pem(receiver))).toBe(true);
    expect(xmlCryptoAccepts(xml.replace('r-1@us', 'r-2@us'), pem(receiver))).toBe(false);
  });

  test('is accepted by our own verifier and carries no encryption', async () => {
    const result = verifyEnvelope(parseXml(Buffer.from(await receipt())), trustEverything, AT);
    expect(result.signer.certificate.fingerprint).toBe(receiver.certificate.fingerprint);
    expect(result.references).toHaveLength(2);
    expect(result.encryption.cids.size).toBe(0);
  });

  test('of any description is still canonical', async () => {
    const messaging = errorMessaging({
      id: 'e',
      messageId: 'e-1@us',
      timestamp: new Date(AT),
      refToMessageId: 'a&<>"\'\t',
      code: 'EBMS:0103',
      description: 'The URI "é\r\n<&>" is not allowed',
    });
    const xml = await signSoap({ messaging, messagingId: 'e', identity: receiver, newId });
    expect(xmlCryptoAccepts(xml, pem(receiver))).toBe(true);
    expect(() => verifyEnvelope(parseXml(Buffer.from(xml)), trustEverything, AT)).not.toThrow();
  });

  test('is written in the canonical form that is signed', async () => {
    const xml = await receipt();
    const { messaging, body } = verifyEnvelope(parseXml(Buffer.from(xml)), trustEverything, AT);
    expect(xml).toContain(canonicalize(messaging));
    expect(xml).toContain(canonicalize(body));
  });

  test('has no wsu:Timestamp, a Security that must be understood, and an empty Body', async () => {
    const xml = await receipt();
    expect(xml).not.toContain('wsu:Timestamp');
    expect(xml).toContain('S12:mustUnderstand="true"><wsse:BinarySecurityToken');
    expect(xml).toMatch(/<S12:Body [^>]*><\/S12:Body><\/S12:Envelope>$/);
  });
});

describe('a user message that we send', () => {
  test.each([undefined, 'S12', ' S12  eb '])('verifies with the PrefixList %j', async (prefixList) => {
    const { envelope } = await testMessage(prefixList === undefined ? {} : { prefixList });
    expect(() => verifyEnvelope(parseXml(Buffer.from(envelope)), trustEverything, AT)).not.toThrow();
  });

  test('verifies when Messaging is not canonical and has other prefixes', async () => {
    const messaging = MESSAGING.replaceAll('eb:', 'q:')
      .replace('xmlns:eb', 'xmlns:q')
      .replace('<q:MessageInfo>', '<!-- c --><q:MessageInfo  >')
      .replace(/"msg"/, "'msg'");
    const { envelope } = await testMessage({ messaging });
    expect(
      attribute(
        verifyEnvelope(parseXml(Buffer.from(envelope)), trustEverything, AT).messaging,
        'mustUnderstand',
        'http://www.w3.org/2003/05/soap-envelope',
      ),
    ).toBe('true');
  });

  test('without parts has no encryption at all', async () => {
    const { envelope, parts } = await testMessage({ attachments: [] });
    expect(parts).toEqual([]);
    const result = verifyEnvelope(parseXml(Buffer.from(envelope)), trustEverything, AT);
    expect(result.attachments.size).toBe(0);
    expect(xmlCryptoAccepts(envelope, pem(sender))).toBe(true);
  });
});
