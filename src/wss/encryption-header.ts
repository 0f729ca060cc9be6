import { DS } from '../ebms/namespaces.ts';
import type { XmlDocument } from '../xml/parse.ts';
import { attribute, child, childrenNamed, elements, is, text, type XmlElement } from '../xml/tree.ts';
import { type Algorithm, algorithm, policyError, quoted } from './algorithms.ts';
import { decodeBase64 } from './base64.ts';
import { ATTACHMENT_CONTENT_ONLY, WSSE, XENC, XENC11 } from './namespaces.ts';
import { type RecipientName, readRecipient } from './recipient.ts';

const MAX_ENCRYPTED_DATA = 64;
const MAX_ENCRYPTED_KEYS = 64;
/** An RSA-8192 ciphertext has 1024 octets. */
const MAX_CIPHER_VALUE = 1024;

/** A content key, wrapped for the recipient that it names. */
export interface EncryptedKey {
  readonly id: string | null;
  readonly recipient: RecipientName;
  readonly cipherValue: Buffer;
}

/** One encrypted MIME part. */
export interface EncryptedPart {
  /** `cid:` URI of the CipherReference as written. */
  readonly uri: string;
  /** Media type of the plaintext (SwA §5.5): decides how its digest is computed. null: not said. */
  readonly mimeType: string | null;
  readonly method: Algorithm<'data encryption'>;
  readonly key: EncryptedKey;
}

/** What the one wsse:Security says about encryption. It is not signed (sign first, then encrypt). */
export interface EncryptionHeader {
  /** By CipherReference URI as written. */
  readonly parts: ReadonlyMap<string, EncryptedPart>;
  readonly cids: ReadonlySet<string>;
}

/**
 * Reads the xenc:EncryptedKey and xenc:EncryptedData that are children of wsse:Security, in any order; nothing is decrypted.
 * An EncryptedKey that no EncryptedData uses is not looked at.
 * @throws As4Error EBMS:0103 when form or algorithms are not allowed, or there are more than 64 of either
 */
export function readEncryption(security: XmlElement, byId: XmlDocument['byId']): EncryptionHeader {
  const keys = childrenNamed(security, XENC, 'EncryptedKey');
  const datas = childrenNamed(security, XENC, 'EncryptedData');
  if (datas.length > MAX_ENCRYPTED_DATA || keys.length > MAX_ENCRYPTED_KEYS)
    throw policyError('Too many EncryptedData or EncryptedKey in wsse:Security', 'too-many-encrypted');
  const read = new Map<XmlElement, EncryptedKey>();
  const parts = new Map<string, EncryptedPart>();
  for (const data of datas) {
    const element = keyElement(data, keys, byId);
    let key = read.get(element);
    if (key === undefined) {
      key = readEncryptedKey(element, security, byId);
      read.set(element, key);
    }
    const part = readEncryptedData(data, key);
    if (parts.has(part.uri)) throw policyError(`Two EncryptedData for ${quoted(part.uri)}`, 'doubled-encrypted-data');
    parts.set(part.uri, part);
  }
  return { parts, cids: new Set(parts.keys()) };
}

function readEncryptedData(data: XmlElement, key: EncryptedKey): EncryptedPart {
  if (attribute(data, 'Type') !== ATTACHMENT_CONTENT_ONLY)
    throw policyError('EncryptedData/@Type must be Attachment-Content-Only', 'encrypted-data-type');
  const method = algorithm('data encryption', methodOf(data));
  const cipherData = child(data, XENC, 'CipherData');
  const [reference, ...rest] = cipherData === null ? [] : elements(cipherData);
  if (reference === undefined || rest.length > 0 || !is(reference, XENC, 'CipherReference'))
    throw policyError(
      'CipherData of EncryptedData must hold one CipherReference; only MIME parts may be encrypted',
      'not-an-attachment',
    );
  const uri = attribute(reference, 'URI') ?? '';
  if (!/^cid:./i.test(uri))
    throw policyError(`The CipherReference URI ${quoted(uri)} is not "cid:"`, 'cipher-reference-uri');
  const [transforms, ...others] = elements(reference);
  const list = transforms === undefined || !is(transforms, XENC, 'Transforms') ? [] : elements(transforms);
  if (others.length > 0 || list.length !== 1 || !is(list[0]!, DS, 'Transform'))
    throw policyError(`The CipherReference ${quoted(uri)} must have exactly one transform`, 'transform-count');
  algorithm('ciphertext transform', attribute(list[0]!, 'Algorithm'));
  return { uri, mimeType: attribute(data, 'MimeType') ?? null, method, key };
}

/** The EncryptedKey that KeyInfo names; without KeyInfo the only one, or the one whose ReferenceList names this EncryptedData. */
function keyElement(data: XmlElement, keys: readonly XmlElement[], byId: XmlDocument['byId']): XmlElement {
  const keyInfo = child(data, DS, 'KeyInfo');
  const candidates =
    keyInfo !== null ? keysByReference(keyInfo, keys, byId) : keys.length === 1 ? keys : keysByList(data, keys);
  if (candidates.length !== 1)
    throw policyError(
      'It is not clear which EncryptedKey an EncryptedData belongs to: its KeyInfo must refer to one, or one ReferenceList to it',
      'content-key-unresolved',
    );
  return candidates[0]!;
}

function keysByReference(
  keyInfo: XmlElement,
  keys: readonly XmlElement[],
  byId: XmlDocument['byId'],
): readonly XmlElement[] {
  const [str, ...rest] = elements(keyInfo);
  if (str === undefined || rest.length > 0 || !is(str, WSSE, 'SecurityTokenReference')) return [];
  const [reference, ...others] = elements(str);
  if (reference === undefined || others.length > 0 || !is(reference, WSSE, 'Reference')) return [];
  const uri = attribute(reference, 'URI');
  const key = uri?.startsWith('#') === true ? byId.get(uri.slice(1)) : undefined;
  return key !== undefined && keys.includes(key) ? [key] : [];
}

function keysByList(data: XmlElement, keys: readonly XmlElement[]): readonly XmlElement[] {
  const id = attribute(data, 'Id');
  if (id === undefined) return [];
  return keys.filter((key) =>
    childrenNamed(key, XENC, 'ReferenceList').some((list) =>
      childrenNamed(list, XENC, 'DataReference').some((reference) => attribute(reference, 'URI') === `#${id}`),
    ),
  );
}

function readEncryptedKey(key: XmlElement, security: XmlElement, byId: XmlDocument['byId']): EncryptedKey {
  checkKeyTransport(key);
  const cipherData = child(key, XENC, 'CipherData');
  const [value, ...rest] = cipherData === null ? [] : elements(cipherData);
  const cipherValue =
    value !== undefined && rest.length === 0 && is(value, XENC, 'CipherValue') ? decodeBase64(text(value)) : null;
  if (cipherValue === null || cipherValue.length > MAX_CIPHER_VALUE)
    throw policyError('EncryptedKey must hold one CipherValue, base64', 'bad-cipher-value');
  const keyInfo = child(key, DS, 'KeyInfo');
  return { id: attribute(key, 'Id') ?? null, recipient: readRecipient(keyInfo, security, byId), cipherValue };
}

/** RSA-OAEP with SHA-256 for both digest and MGF1, both written out: the default of an absent one is SHA-1 (XMLENC 1.1 §5.5.2). */
function checkKeyTransport(key: XmlElement): void {
  algorithm('key transport', methodOf(key));
  const method = child(key, XENC, 'EncryptionMethod')!;
  let digest: string | undefined;
  let mask: string | undefined;
  for (const el of elements(method)) {
    if (is(el, DS, 'DigestMethod')) digest = attribute(el, 'Algorithm');
    else if (is(el, XENC11, 'MGF')) mask = attribute(el, 'Algorithm');
    else if (is(el, XENC, 'OAEPparams')) {
      if (text(el)?.trim() !== '') throw policyError('OAEPparams must be empty', 'oaep-params');
    } else if (!is(el, XENC, 'KeySize'))
      throw policyError(`EncryptionMethod holds an unknown ${quoted(el.local)}`, 'bad-encryption-method');
  }
  algorithm('key transport digest', digest);
  algorithm('mask generation', mask);
}

function methodOf(el: XmlElement): string | undefined {
  const [method, ...rest] = childrenNamed(el, XENC, 'EncryptionMethod');
  return method === undefined || rest.length > 0 ? undefined : attribute(method, 'Algorithm');
}
