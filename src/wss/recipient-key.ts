import { createHash, type KeyObject } from 'node:crypto';
import { As4Error } from '../as4-error.ts';
import { readCertificate } from '../pki/certificate.ts';
import { PkiError } from '../pki/errors.ts';
import type { Identity } from '../pki/identity.ts';
import { parseDn, sameDn } from '../pki/names.ts';
import type { RecipientName } from './recipient.ts';

type DecryptionKey = Identity['decryptionKeys'][number];

/**
 * Our keys that an EncryptedKey may have been wrapped for, the likely one first. A name that carries a public key decides; a name of
 * a certificate that we do not hold may be an older or newer certificate on one of our keys, so then all are worth trying.
 * @throws As4Error EBMS:0102 when it was wrapped for a public key that is none of ours
 */
export function candidateKeys(name: RecipientName, identity: Identity): readonly DecryptionKey[] {
  const keys = identity.decryptionKeys;
  switch (name.kind) {
    case 'certificate': {
      const found = keys.filter((key) => samePublicKey(key, name.der));
      return found.length > 0 ? found : otherKey(identity);
    }
    case 'subject-key-id': {
      const found = keys.filter((key) => keyIds(key).some((id) => id.equals(name.value)));
      return found.length > 0 ? found : otherKey(identity);
    }
    case 'issuer-serial': {
      const issuer = quietly(() => parseDn(name.issuer));
      return named(
        keys,
        ({ certificate }) =>
          certificate?.serial === name.serial && issuer !== null && sameDn(certificate.issuer, issuer),
      );
    }
    case 'thumbprint':
      return named(keys, ({ certificate }) => certificate !== null && sha1(certificate.der).equals(name.value));
    case 'none':
      return keys;
  }
}

function named(keys: readonly DecryptionKey[], matches: (key: DecryptionKey) => boolean): readonly DecryptionKey[] {
  const found = keys.filter(matches);
  return found.length > 0 ? found : keys;
}

function otherKey(identity: Identity): never {
  throw new As4Error(
    'EBMS:0102',
    `The payload is encrypted for another key; the certificate to encrypt for has the serial number ${identity.certificate.serial} (hex)`,
    { reason: 'encrypted-for-another-key' },
  );
}

function samePublicKey(key: DecryptionKey, der: Buffer): boolean {
  if (key.certificate?.der.equals(der) === true) return true;
  const certificate = quietly(() => readCertificate(der));
  return certificate?.publicKey.equals(key.publicKey) === true;
}

/** Subject key identifiers: the certificate's own, and the common way to derive one (RFC 5280 §4.2.1.2, method 1). */
function keyIds({ certificate, publicKey }: DecryptionKey): Buffer[] {
  const ids = [sha1(rsaPublicKey(publicKey))];
  if (certificate?.subjectKeyId) ids.push(certificate.subjectKeyId);
  return ids;
}

/** The contents of subjectPublicKey, which for RSA are the PKCS#1 form. */
function rsaPublicKey(key: KeyObject): Buffer {
  return key.export({ type: 'pkcs1', format: 'der' });
}

function sha1(octets: Buffer): Buffer {
  return createHash('sha1').update(octets).digest();
}

/** A sender's certificate or name that cannot be read is just none of ours. */
function quietly<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof PkiError) return null;
    throw error;
  }
}
