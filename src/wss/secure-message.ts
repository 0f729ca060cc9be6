import { createHash, type KeyObject } from 'node:crypto';
import { DS, EC, S12, WSU } from '../ebms/namespaces.ts';
import type { Certificate } from '../pki/certificate.ts';
import { canonicalize } from '../xml/c14n.ts';
import { escapeAttribute } from '../xml/escape.ts';
import { parseXml } from '../xml/parse.ts';
import { splitPrefixList } from '../xml/prefix-list.ts';
import { ownAlgorithm } from './algorithms.ts';
import { attachmentDigest, digestForm } from './attachment-digest.ts';
import { encryptionHeaderText, encryptPart, newContentKey, wrapKey } from './encrypt.ts';
import { readEnvelope } from './envelope.ts';
import { WSSE } from './namespaces.ts';
import { binarySecurityToken, rsaSignature, tokenReference } from './sign.ts';
import { readSignature } from './signature.ts';

/** One payload part before it is secured: compressed already, if it is to be. */
export interface PlainPart {
  /** Content-ID without brackets and without `cid:`. */
  readonly cid: string;
  /** Media type of `content` (`application/gzip` when compressed). */
  readonly mimeType: string;
  readonly content: Buffer;
}

/** The envelope of a user message and its parts as they go over the wire. */
export interface SecuredMessage {
  readonly envelope: string;
  readonly parts: readonly { readonly cid: string; readonly cipher: Buffer }[];
}

/**
 * Signs and encrypts a user message as eDelivery AS4 has it: the signature covers Messaging, an empty Body and every part; every part
 * is encrypted for the recipient afterwards (AS4 §5.1.8). Signing goes through the parser and canonicaliser, so `messaging` may have
 * any prefixes and need not be canonical.
 * @param o.messaging text of eb:Messaging with the `wsu:Id` (or `id`) `messagingId`
 * @param o.prefixList PrefixList for Messaging and SignedInfo; without it there is no InclusiveNamespaces
 */
export async function secureMessage(o: {
  readonly messaging: string;
  readonly messagingId: string;
  readonly attachments: readonly PlainPart[];
  readonly signer: { readonly certificate: Certificate; readonly privateKey: KeyObject };
  readonly recipientCertificate: Certificate;
  readonly newId: () => string;
  readonly prefixList?: string;
}): Promise<SecuredMessage> {
  const parts = o.attachments.map((part) => ({ ...part, uri: `cid:${part.cid}` }));
  const contentKey = newContentKey();
  const encryption =
    parts.length === 0
      ? ''
      : encryptionHeaderText({
          recipient: o.recipientCertificate,
          wrappedKey: wrapKey(contentKey, o.recipientCertificate),
          parts,
          newId: o.newId,
        });
  const bodyId = `body-${o.newId()}`;
  const tokenId = escapeAttribute(`x509-${o.newId()}`);
  const assemble = (signature: string): string =>
    `<?xml version="1.0" encoding="UTF-8"?><S12:Envelope xmlns:S12="${S12}"><S12:Header>` +
    `<wsse:Security xmlns:wsse="${WSSE}" S12:mustUnderstand="true">${encryption}` +
    `${binarySecurityToken(tokenId, o.signer.certificate.der)}${signature}</wsse:Security>${o.messaging}</S12:Header>` +
    `<S12:Body xmlns:wsu="${WSU}" wsu:Id="${escapeAttribute(bodyId)}"/></S12:Envelope>`;

  const inclusive = o.prefixList;
  const plain = parseXml(Buffer.from(assemble('')));
  const { messaging, body } = readEnvelope(plain.root);
  const references = [
    elementReference(o.messagingId, sha256(canonicalize(messaging, splitPrefixList(inclusive))), inclusive),
    elementReference(bodyId, sha256(canonicalize(body)), undefined),
  ];
  for (const part of parts) references.push(partReference(part.uri, await contentDigest(part)));
  const signatureWith = (value: string): string =>
    `<ds:Signature xmlns:ds="${DS}"><ds:SignedInfo>` +
    `${withPrefixes('CanonicalizationMethod', ownAlgorithm('canonicalization'), inclusive)}` +
    `<ds:SignatureMethod Algorithm="${ownAlgorithm('signature')}"/>${references.join('')}</ds:SignedInfo>` +
    `<ds:SignatureValue>${value}</ds:SignatureValue><ds:KeyInfo>${tokenReference(tokenId)}</ds:KeyInfo></ds:Signature>`;

  // A first value stands in, because SignedInfo is canonicalised where it stands.
  const unsigned = readSignature(readEnvelope(parseXml(Buffer.from(assemble(signatureWith('AAAA')))).root).security);
  const value = await rsaSignature(canonicalize(unsigned.signedInfo, unsigned.prefixes), o.signer.privateKey);
  return {
    envelope: assemble(signatureWith(value)),
    parts: parts.map(({ cid, content }) => ({ cid, cipher: encryptPart(content, contentKey) })),
  };
}

function elementReference(id: string, digest: string, prefixList: string | undefined): string {
  return reference(`#${id}`, withPrefixes('Transform', ownAlgorithm('same-document transform'), prefixList), digest);
}

function partReference(uri: string, digest: string): string {
  return reference(uri, withPrefixes('Transform', ownAlgorithm('attachment transform'), undefined), digest);
}

function reference(uri: string, transform: string, digest: string): string {
  return (
    `<ds:Reference URI="${escapeAttribute(uri)}"><ds:Transforms>${transform}</ds:Transforms>` +
    `<ds:DigestMethod Algorithm="${ownAlgorithm('digest')}"/><ds:DigestValue>${digest}</ds:DigestValue></ds:Reference>`
  );
}

function withPrefixes(name: string, algorithm: string, prefixList: string | undefined): string {
  const inner =
    prefixList === undefined
      ? ''
      : `<ec:InclusiveNamespaces xmlns:ec="${EC}" PrefixList="${escapeAttribute(prefixList)}"/>`;
  return `<ds:${name} Algorithm="${algorithm}">${inner}</ds:${name}>`;
}

async function contentDigest({ content, mimeType, cid }: PlainPart): Promise<string> {
  const digest = attachmentDigest(digestForm(mimeType));
  await digest.push(content);
  const result = await digest.end();
  if (result.digest === null)
    throw new Error(`the part ${cid} is said to be ${mimeType}, but it is not well-formed XML`, {
      cause: result.cause,
    });
  return result.digest.toString('base64');
}

function sha256(canonical: string): string {
  return createHash('sha256').update(canonical, 'utf8').digest('base64');
}
