import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Absolute path of a file of the test PKI, such as `receiver.key`. */
export function certFile(file: string): string {
  return join(import.meta.dirname, file);
}

/** DER of a certificate of the test PKI, by its name without `.crt`. */
export function certDer(name: string): Buffer {
  return new X509Certificate(readFileSync(certFile(`${name}.crt`))).raw;
}
