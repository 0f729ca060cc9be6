import { hash as hashOf, type KeyObject, sign as signCallback } from 'node:crypto';
import { promisify } from 'node:util';
import { DS, S12, WSU } from '../ebms/namespaces.ts';
import type { Identity } from '../pki/identity.ts';
import { escapeAttribute } from '../xml/escape.ts';
import { algorithm, ownAlgorithm } from './algorithms.ts';
import { BASE64_BINARY, WSSE, X509_V3 } from './namespaces.ts';

/** With a callback the thread pool does the RSA operation. */
const signOctets = promisify(signCallback);

const C14N = ownAlgorithm('canonicalization');
const RSA_SHA256 = ownAlgorithm('signature');
const SHA256 = ownAlgorithm('digest');
const { hash: SIGNATURE_HASH } = algorithm('signature', RSA_SHA256);
const { hash: DIGEST_HASH } = algorithm('digest', SHA256);

/**
 * A SOAP 1.2 envelope with this eb:Messaging and an empty Body, both signed (architecture §5): BinarySecurityToken by direct reference,
 * rsa-sha256, exclusive C14N, and no wsu:Timestamp, which would make a stored receipt expire.
 *
 * Everything is written in canonical form at once, so nothing is parsed or canonicalised.
 * @param o.messaging text that equals its own exclusive C14N, with its own namespace declarations and the `wsu:Id` `messagingId`
 * @param o.newId a fresh id; whatever it returns is made fit for an Id by a prefix
 */
export async function signSoap(o: {
  readonly messaging: string;
  readonly messagingId: string;
  readonly identity: Pick<Identity, 'certificate' | 'privateKey'>;
  readonly newId: () => string;
}): Promise<string> {
  const bodyId = escapeAttribute(`body-${o.newId()}`);
  const tokenId = escapeAttribute(`x509-${o.newId()}`);
  const body = `<S12:Body xmlns:S12="${S12}" xmlns:wsu="${WSU}" wsu:Id="${bodyId}"></S12:Body>`;
  const signedInfo =
    `<ds:SignedInfo xmlns:ds="${DS}"><ds:CanonicalizationMethod Algorithm="${C14N}"></ds:CanonicalizationMethod>` +
    `<ds:SignatureMethod Algorithm="${RSA_SHA256}"></ds:SignatureMethod>` +
    `${referenceTo(escapeAttribute(o.messagingId), o.messaging)}${referenceTo(bodyId, body)}</ds:SignedInfo>`;
  const value = await rsaSignature(signedInfo, o.identity.privateKey);
  return (
    `<S12:Envelope xmlns:S12="${S12}"><S12:Header><wsse:Security xmlns:wsse="${WSSE}" S12:mustUnderstand="true">` +
    `${binarySecurityToken(tokenId, o.identity.certificate.der)}<ds:Signature xmlns:ds="${DS}">${signedInfo}` +
    `<ds:SignatureValue>${value}</ds:SignatureValue><ds:KeyInfo>${tokenReference(tokenId)}</ds:KeyInfo></ds:Signature>` +
    `</wsse:Security>${o.messaging}</S12:Header>${body}</S12:Envelope>`
  );
}

function referenceTo(escapedId: string, canonical: string): string {
  const digest = hashOf(DIGEST_HASH, canonical, 'base64');
  return (
    `<ds:Reference URI="#${escapedId}"><ds:Transforms><ds:Transform Algorithm="${C14N}"></ds:Transform></ds:Transforms>` +
    `<ds:DigestMethod Algorithm="${SHA256}"></ds:DigestMethod><ds:DigestValue>${digest}</ds:DigestValue></ds:Reference>`
  );
}

/** Base64 of the signature over a canonical SignedInfo; the RSA operation runs off the event loop. */
export async function rsaSignature(signedInfo: string, privateKey: KeyObject): Promise<string> {
  return (await signOctets(SIGNATURE_HASH, Buffer.from(signedInfo, 'utf8'), privateKey)).toString('base64');
}

/** A wsse:BinarySecurityToken with one certificate; prefix `wsse` must be in scope. */
export function binarySecurityToken(escapedId: string, der: Buffer): string {
  return (
    `<wsse:BinarySecurityToken xmlns:wsu="${WSU}" EncodingType="${BASE64_BINARY}" ValueType="${X509_V3}" wsu:Id="${escapedId}">` +
    `${der.toString('base64')}</wsse:BinarySecurityToken>`
  );
}

/** A direct reference to such a token. */
export function tokenReference(escapedId: string): string {
  return `<wsse:SecurityTokenReference><wsse:Reference URI="#${escapedId}" ValueType="${X509_V3}"></wsse:Reference></wsse:SecurityTokenReference>`;
}
