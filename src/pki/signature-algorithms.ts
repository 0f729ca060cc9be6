/**
 * Algorithms that a CA may have signed a certificate or a CRL with, by OID, and the hash that node:crypto wants for each.
 * SHA-1 and MD5 are left out because collisions are practical; RSA-PSS because no CA of Peppol uses it.
 */
export const SIGNATURE_HASHES: ReadonlyMap<string, string> = new Map([
  ['1.2.840.113549.1.1.11', 'sha256'],
  ['1.2.840.113549.1.1.12', 'sha384'],
  ['1.2.840.113549.1.1.13', 'sha512'],
  ['1.2.840.10045.4.3.2', 'sha256'],
  ['1.2.840.10045.4.3.3', 'sha384'],
  ['1.2.840.10045.4.3.4', 'sha512'],
]);
