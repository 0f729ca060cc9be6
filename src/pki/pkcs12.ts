import { createPrivateKey, type KeyObject } from 'node:crypto';
import { PkiError } from './errors.ts';

/** What a PKCS#12 file holds: private keys, and certificates as DER. */
export interface Pkcs12Content {
  readonly keys: readonly KeyObject[];
  readonly certificates: readonly Buffer[];
}

/**
 * Opens a PKCS#12 file of today's form or of the old ones (3DES, RC2), which OpenSSL 3 refuses; therefore node-forge.
 * Only for our own files: its parser is not for what strangers send. Throws PkiError `bad-password` or `bad-identity`.
 */
export async function readPkcs12(bytes: Buffer, password: string, file: string): Promise<Pkcs12Content> {
  const { default: forge } = await import('node-forge');
  let container: import('node-forge').pkcs12.Pkcs12Pfx;
  try {
    container = forge.pkcs12.pkcs12FromAsn1(forge.asn1.fromDer(bytes.toString('latin1')), password);
  } catch (cause) {
    if (cause instanceof Error && /password|MAC/i.test(cause.message)) {
      throw new PkiError('bad-password', `The password does not open ${file}: correct identity.password`, cause);
    }
    throw new PkiError('bad-identity', `${file} is not a PKCS#12 file that can be read`, cause);
  }
  const { keyBag, pkcs8ShroudedKeyBag, certBag } = forge.pki.oids;
  const bags = container.safeContents.flatMap((content) => content.safeBags);
  const der = (bag: (typeof bags)[number]) => {
    if (bag.asn1 !== undefined) return Buffer.from(forge.asn1.toDer(bag.asn1).getBytes(), 'latin1');
    if (bag.cert) return Buffer.from(forge.asn1.toDer(forge.pki.certificateToAsn1(bag.cert)).getBytes(), 'latin1');
    const key = bag.key as import('node-forge').pki.PrivateKey;
    const info = forge.pki.wrapRsaPrivateKey(forge.pki.privateKeyToAsn1(key));
    return Buffer.from(forge.asn1.toDer(info).getBytes(), 'latin1');
  };
  return {
    keys: bags
      .filter((bag) => bag.type === keyBag || bag.type === pkcs8ShroudedKeyBag)
      .map((bag) => privateKeyOf(der(bag), file)),
    certificates: bags.filter((bag) => bag.type === certBag).map(der),
  };
}

function privateKeyOf(der: Buffer, file: string): KeyObject {
  try {
    return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  } catch (cause) {
    throw new PkiError('bad-key', `${file} holds a private key of an unknown kind`, cause);
  }
}
