import { constants, createCipheriv, publicEncrypt, randomBytes } from 'node:crypto';
import { DS } from '../ebms/namespaces.ts';
import type { Certificate } from '../pki/certificate.ts';
import { escapeAttribute } from '../xml/escape.ts';
import { algorithm, ownAlgorithm } from './algorithms.ts';
import { ATTACHMENT_CONTENT_ONLY, ENCRYPTED_KEY_TOKEN, WSSE, WSSE11, XENC, XENC11 } from './namespaces.ts';
import { binarySecurityToken, tokenReference } from './sign.ts';

const AES_GCM = ownAlgorithm('data encryption');
const METHOD = algorithm('data encryption', AES_GCM);

/** Encrypts the content of one part: IV ‖ ciphertext ‖ tag (XMLENC 1.1 §5.2.4), with a fresh IV. */
export function encryptPart(content: Buffer, key: Buffer): Buffer {
  const iv = randomBytes(METHOD.ivBytes);
  const cipher = createCipheriv(METHOD.cipher, key, iv, { authTagLength: METHOD.tagBytes });
  return Buffer.concat([iv, cipher.update(content), cipher.final(), cipher.getAuthTag()]);
}

/** A fresh content key. */
export function newContentKey(): Buffer {
  return randomBytes(METHOD.keyBytes);
}

/** Wraps a content key with RSA-OAEP, SHA-256 for digest and MGF1. */
export function wrapKey(key: Buffer, { publicKey }: Certificate): Buffer {
  return publicEncrypt({ key: publicKey, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' }, key);
}

/**
 * The children of wsse:Security that say how the parts are encrypted: the recipient's token, one EncryptedKey, and an EncryptedData a
 * part. Prefix `wsse` must be in scope.
 */
export function encryptionHeaderText(o: {
  readonly recipient: Certificate;
  readonly wrappedKey: Buffer;
  readonly parts: readonly { readonly uri: string; readonly mimeType: string }[];
  readonly newId: () => string;
}): string {
  const tokenId = escapeAttribute(`x509-${o.newId()}`);
  const keyId = escapeAttribute(`EK-${o.newId()}`);
  const parts = o.parts.map((part) => ({ ...part, id: escapeAttribute(`ED-${o.newId()}`) }));
  const list = parts.map(({ id }) => `<xenc:DataReference URI="#${id}"/>`).join('');
  return (
    `${binarySecurityToken(tokenId, o.recipient.der)}<xenc:EncryptedKey xmlns:xenc="${XENC}" Id="${keyId}">` +
    `<xenc:EncryptionMethod Algorithm="${ownAlgorithm('key transport')}">` +
    `<ds:DigestMethod xmlns:ds="${DS}" Algorithm="${ownAlgorithm('key transport digest')}"/>` +
    `<xenc11:MGF xmlns:xenc11="${XENC11}" Algorithm="${ownAlgorithm('mask generation')}"/></xenc:EncryptionMethod>` +
    `<ds:KeyInfo xmlns:ds="${DS}">${tokenReference(tokenId)}</ds:KeyInfo>` +
    `<xenc:CipherData><xenc:CipherValue>${o.wrappedKey.toString('base64')}</xenc:CipherValue></xenc:CipherData>` +
    `<xenc:ReferenceList>${list}</xenc:ReferenceList></xenc:EncryptedKey>` +
    parts.map((part) => encryptedData(part, keyId)).join('')
  );
}

function encryptedData(
  part: { readonly id: string; readonly uri: string; readonly mimeType: string },
  keyId: string,
): string {
  return (
    `<xenc:EncryptedData xmlns:xenc="${XENC}" Id="${part.id}" MimeType="${escapeAttribute(part.mimeType)}" Type="${ATTACHMENT_CONTENT_ONLY}">` +
    `<xenc:EncryptionMethod Algorithm="${AES_GCM}"/><ds:KeyInfo xmlns:ds="${DS}">` +
    `<wsse:SecurityTokenReference xmlns:wsse="${WSSE}" xmlns:wsse11="${WSSE11}" wsse11:TokenType="${ENCRYPTED_KEY_TOKEN}">` +
    `<wsse:Reference URI="#${keyId}"/></wsse:SecurityTokenReference></ds:KeyInfo><xenc:CipherData>` +
    `<xenc:CipherReference URI="${escapeAttribute(part.uri)}"><xenc:Transforms>` +
    `<ds:Transform xmlns:ds="${DS}" Algorithm="${ownAlgorithm('ciphertext transform')}"/></xenc:Transforms>` +
    '</xenc:CipherReference></xenc:CipherData></xenc:EncryptedData>'
  );
}
