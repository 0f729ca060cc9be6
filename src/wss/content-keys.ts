import { type KeyObject, randomBytes, webcrypto } from 'node:crypto';
import type { Identity } from '../pki/identity.ts';
import { policyError, quoted } from './algorithms.ts';
import type { EncryptedKey, EncryptedPart, EncryptionHeader } from './encryption-header.ts';
import { candidateKeys } from './recipient-key.ts';

/** RSA private operations that one message may cost us. */
const MAX_KEYS = 4;

/** The unwrapped keys of the parts that were asked for, by CipherReference URI. */
export type ContentKeys = ReadonlyMap<string, ContentKey>;

export interface ContentKey {
  /** Of the length that the algorithm wants; random when the unwrap failed. */
  readonly key: Buffer;
  readonly part: EncryptedPart;
}

/**
 * Unwraps the content keys of these parts, each EncryptedKey once, off the event loop. A failed unwrap or a wrong key length is not
 * told from a wrong tag: it goes on with a random key, so that the tag check is the only exit and there is no oracle.
 * @param cids CipherReference URIs as written
 * @throws As4Error EBMS:0103 when a part is not encrypted or more than 4 keys are needed; EBMS:0102 when wrapped for another key
 */
export async function unwrapKeys(
  encryption: EncryptionHeader,
  cids: readonly string[],
  identity: Identity,
): Promise<ContentKeys> {
  const parts = cids.map((cid) => encryption.parts.get(cid) ?? notEncrypted(cid));
  const wanted = new Set(parts.map((part) => part.key));
  if (wanted.size > MAX_KEYS) throw policyError(`More than ${MAX_KEYS} EncryptedKeys are in use`, 'too-many-keys');
  const unwrapped = new Map<EncryptedKey, Buffer | null>();
  await Promise.all([...wanted].map(async (key) => unwrapped.set(key, await unwrap(key, identity))));
  return new Map(
    parts.map((part) => [part.uri, { part, key: ofLength(unwrapped.get(part.key), part.method.keyBytes) }]),
  );
}

function ofLength(key: Buffer | null | undefined, bytes: number): Buffer {
  const random = randomBytes(bytes);
  return key?.length === bytes ? key : random;
}

/** null when none of our keys fits. */
async function unwrap({ recipient, cipherValue }: EncryptedKey, identity: Identity): Promise<Buffer | null> {
  for (const { privateKey } of candidateKeys(recipient, identity)) {
    try {
      return Buffer.from(await webcrypto.subtle.decrypt({ name: 'RSA-OAEP' }, await imported(privateKey), cipherValue));
    } catch (error) {
      // OperationError says that the ciphertext is not for this key, and by design no more than that; anything else is ours.
      if (!(error instanceof Error) || error.name !== 'OperationError') throw error;
    }
  }
  return null;
}

/** WebCrypto decrypts in the thread pool, `privateDecrypt` cannot. The import costs more than the operation, so it is remembered. */
const importedKeys = new WeakMap<KeyObject, Promise<webcrypto.CryptoKey>>();

function imported(privateKey: KeyObject): Promise<webcrypto.CryptoKey> {
  let key = importedKeys.get(privateKey);
  if (key === undefined) {
    const pkcs8 = privateKey.export({ type: 'pkcs8', format: 'der' });
    key = webcrypto.subtle.importKey('pkcs8', pkcs8, { name: 'RSA-OAEP', hash: 'SHA-256' }, false, ['decrypt']);
    importedKeys.set(privateKey, key);
  }
  return key;
}

function notEncrypted(cid: string): never {
  throw policyError(`The part ${quoted(cid)} is not encrypted`, 'not-encrypted');
}
