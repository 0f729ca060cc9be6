import { createHash, randomUUID, sign, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DS, EB, S12, WSU } from '../../ebms/namespaces.ts';
import { type Certificate, readCertificate } from '../../pki/certificate.ts';
import { type Identity, loadIdentity } from '../../pki/identity.ts';
import { TrustStore } from '../../pki/trust.ts';
import { canonicalize } from '../../xml/c14n.ts';
import { parseXml } from '../../xml/parse.ts';
import { splitPrefixList } from '../../xml/prefix-list.ts';
import { attribute, child, childrenNamed, elements, text, type XmlElement } from '../../xml/tree.ts';
import { WSSE } from '../namespaces.ts';
import { type PlainPart, type SecuredMessage, secureMessage } from '../secure-message.ts';

const CERTS = join(import.meta.dirname, '../../../certs');

export function testCertificate(name: string): Certificate {
  return readCertificate(new X509Certificate(readFileSync(join(CERTS, `${name}.crt`))).raw);
}

export function testIdentity(name: string): Promise<Identity> {
  return loadIdentity({ certificate: join(CERTS, `${name}.crt`), key: join(CERTS, `${name}.key`) });
}

/** The test CAs, with their CRLs. */
export function testTrust(): Promise<TrustStore> {
  return TrustStore.load({
    issuers: join(CERTS, 'trust.pem'),
    crls: [join(CERTS, 'ap-ca.crl'), join(CERTS, 'root.crl')],
    revocation: 'hard',
    environment: 'test',
    now: Date.now,
  });
}

export const sender = await testIdentity('sender');
export const receiver = await testIdentity('receiver');
export const CID = 'cid:part-1@sender.test';
export const XML_PART: PlainPart = {
  cid: 'part-1@sender.test',
  mimeType: 'application/gzip',
  content: Buffer.from('0123456789'),
};
export const MESSAGING =
  `<eb:Messaging xmlns:eb="${EB}" xmlns:wsu="${WSU}" xmlns:S12="${S12}" wsu:Id="msg" S12:mustUnderstand="true">` +
  '<eb:UserMessage><eb:MessageInfo><eb:MessageId>m-1@sender.test</eb:MessageId></eb:MessageInfo></eb:UserMessage></eb:Messaging>';

/** A message that verifies and opens, for a test to break. */
export function testMessage(
  o: { attachments?: readonly PlainPart[]; prefixList?: string; recipient?: Certificate; messaging?: string } = {},
): Promise<SecuredMessage> {
  return secureMessage({
    messaging: o.messaging ?? MESSAGING,
    messagingId: 'msg',
    attachments: o.attachments ?? [XML_PART],
    signer: sender,
    recipientCertificate: o.recipient ?? receiver.certificate,
    newId: randomUUID,
    ...(o.prefixList === undefined ? {} : { prefixList: o.prefixList }),
  });
}

/**
 * Makes digests of same-document references and SignatureValue right again after a change, so that a refusal is about the change and
 * not about its being unsigned. References that lead nowhere are left alone.
 */
export function resign(envelope: string): string {
  let xml = envelope;
  const { root, byId } = parseXml(Buffer.from(xml));
  for (const reference of elements(signatureOf(root).signedInfo)) {
    const target = byId.get(attribute(reference, 'URI')?.slice(1) ?? '');
    const value = elements(reference).find((el) => el.local === 'DigestValue');
    if (target === undefined || value === undefined || !attribute(reference, 'URI')?.startsWith('#')) continue;
    const transform = elements(reference).find((el) => el.local === 'Transforms');
    const prefixes = transform === undefined ? [] : prefixesIn(elements(transform)[0]);
    const digest = createHash('sha256').update(canonicalize(target, prefixes)).digest('base64');
    xml = xml.replace(text(value)!, digest);
  }
  const { signedInfo, value } = signatureOf(parseXml(Buffer.from(xml)).root);
  const octets = Buffer.from(canonicalize(signedInfo, prefixesIn(elements(signedInfo)[0])));
  return xml.replace(value, sign('sha256', octets, sender.privateKey).toString('base64'));
}

function prefixesIn(el: XmlElement | undefined): readonly string[] {
  const inclusive = el === undefined ? undefined : elements(el)[0];
  return inclusive === undefined ? [] : splitPrefixList(attribute(inclusive, 'PrefixList'));
}

function signatureOf(root: XmlElement): { signedInfo: XmlElement; value: string } {
  const security = childrenNamed(child(root, S12, 'Header')!, WSSE, 'Security')[0]!;
  const signature = child(security, DS, 'Signature')!;
  return { signedInfo: child(signature, DS, 'SignedInfo')!, value: text(child(signature, DS, 'SignatureValue')!)! };
}
