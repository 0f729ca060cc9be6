import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Signer } from '../../fixtures/sender/keys.ts';

/**
 * A certificate and its key from two PEM files.
 * @throws Error with a sentence for the user
 */
export function readSigner(certificate: string, key: string): Signer {
  const signer = { certificate: readCertificate(certificate), privateKey: usable(key, createPrivateKey) };
  if (!signer.certificate.checkPrivateKey(signer.privateKey)) {
    throw new Error(`${key} is not the key of the certificate ${certificate}.`);
  }
  return signer;
}

/** @throws Error with a sentence for the user */
export function readCertificate(file: string): X509Certificate {
  return usable(file, (octets) => new X509Certificate(octets));
}

/** One certificate or more, as they stand in a PEM file. @throws Error with a sentence for the user */
export function readPem(file: string): string {
  readCertificate(file);
  return readFileSync(file, 'utf8');
}

function usable<T>(file: string, read: (octets: Buffer) => T): T {
  try {
    return read(readFileSync(file));
  } catch (error) {
    throw new Error(`${file} cannot be used: ${(error as Error).message}`);
  }
}

/** Signers of a directory by name: NAME.crt and NAME.key. Null when there is none of that name. */
export function signersIn(directory: string | null): (name: string) => Signer | null {
  return (name) => {
    if (directory === null) return null;
    const [certificate, key] = ['crt', 'key'].map((end) => join(directory, `${name}.${end}`)) as [string, string];
    return existsSync(certificate) && existsSync(key) ? readSigner(certificate, key) : null;
  };
}
