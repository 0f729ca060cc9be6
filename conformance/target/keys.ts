import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Signer } from '../../fixtures/sender/keys.ts';

/** A certificate and its key from two PEM files. */
export function readSigner(certificate: string, key: string): Signer {
  return { certificate: readCertificate(certificate), privateKey: createPrivateKey(readFileSync(key)) };
}

export function readCertificate(file: string): X509Certificate {
  return new X509Certificate(readFileSync(file));
}

/** Signers of a directory by name: NAME.crt and NAME.key. Null when there is none of that name. */
export function signersIn(directory: string | null): (name: string) => Signer | null {
  return (name) => {
    if (directory === null) return null;
    const [certificate, key] = ['crt', 'key'].map((end) => join(directory, `${name}.${end}`)) as [string, string];
    return existsSync(certificate) && existsSync(key) ? readSigner(certificate, key) : null;
  };
}
