import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { type Certificate, readCertificate } from './certificate.ts';
import { PkiError } from './errors.ts';
import { inFile, pemBlocks, readPkiFile } from './files.ts';
import { formatDn } from './names.ts';
import { readPkcs12 } from './pkcs12.ts';

/** A private key that opens messages; `certificate` is null when only the key is known. */
export interface DecryptionKey {
  readonly certificate: Certificate | null;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** Who we are: the key that signs, its certificate, and every key that still opens messages. */
export interface Identity {
  readonly certificate: Certificate;
  readonly privateKey: KeyObject;
  /** Certificates that came with ours, in the order of the file; ours is not among them. */
  readonly chain: readonly Certificate[];
  /** The current key first, then the previous one of a roll-over. */
  readonly decryptionKeys: readonly DecryptionKey[];
}

/** Paths of files. An empty string counts as absent, as in the configuration. */
export interface IdentityOptions {
  /** PEM: our certificate first, then the chain. Goes with `key`. */
  readonly certificate?: string;
  readonly key?: string;
  /** Instead of `certificate` and `key`. */
  readonly pkcs12?: string;
  /** Of the PKCS#12 file, or of encrypted PEM keys. */
  readonly password?: string;
  /** PEM key that still decrypts; a certificate in the same file is kept with it. */
  readonly previousKey?: string;
}

/** Reads our keys and certificates. Throws PkiError with a sentence that says what to do. */
export async function loadIdentity(options: IdentityOptions): Promise<Identity> {
  const { privateKey, certificate, chain } = await (options.pkcs12 ? fromPkcs12(options) : fromPem(options));
  const file = options.pkcs12 || options.certificate;
  if (certificate.rsaBits === null || certificate.rsaBits < 2048) {
    throw new PkiError('bad-identity', `The key of ${file} is not RSA of at least 2048 bits, as Peppol wants it`);
  }
  if (certificate.commonName === null) {
    throw new PkiError(
      'bad-identity',
      `The subject ${formatDn(certificate.subject)} of ${file} needs exactly one CN, the seat id`,
    );
  }
  const current: DecryptionKey = { certificate, privateKey, publicKey: certificate.publicKey };
  const previous = options.previousKey ? [await previousKey(options.previousKey, options.password)] : [];
  const decryptionKeys = [current, ...previous.filter((key) => !key.publicKey.equals(current.publicKey))];
  return { certificate, privateKey, chain, decryptionKeys };
}

/** Whole days from `at` (epoch milliseconds) until the certificate ends; negative when it has ended. */
export function daysToExpiry(certificate: Pick<Certificate, 'notAfter'>, at: number): number {
  return Math.floor((certificate.notAfter - at) / 86_400_000);
}

type Own = Pick<Identity, 'certificate' | 'privateKey' | 'chain'>;

async function fromPem(options: IdentityOptions): Promise<Own> {
  if (!options.certificate || !options.key) {
    throw new PkiError('bad-identity', 'No identity: set identity.certificate and identity.key, or identity.pkcs12');
  }
  const privateKey = await readKey(options.key, options.password);
  const [own, ...chain] = certificatesOf(await readPkiFile(options.certificate), options.certificate);
  if (own === undefined) throw new PkiError('bad-identity', `${options.certificate} holds no PEM certificate`);
  if (!own.x509.checkPrivateKey(privateKey)) {
    const other = chain.find((certificate) => certificate.x509.checkPrivateKey(privateKey));
    const hint = other
      ? 'put the certificate of the key first in that file'
      : 'give the key that the certificate was requested with';
    throw new PkiError(
      'key-mismatch',
      `The key ${options.key} does not belong to the certificate ${formatDn(own.subject)} in ${options.certificate}: ${hint}`,
    );
  }
  return { certificate: own, privateKey, chain };
}

async function fromPkcs12(options: IdentityOptions): Promise<Own> {
  const file = options.pkcs12 as string;
  if (options.certificate || options.key) {
    throw new PkiError(
      'bad-identity',
      'Two identities: set identity.pkcs12, or identity.certificate and identity.key, not both',
    );
  }
  const content = await readPkcs12(await readPkiFile(file), options.password ?? '', file);
  const certificates = content.certificates.map((der) => inFile(file, () => readCertificate(der)));
  const pairs = content.keys.flatMap((privateKey) =>
    certificates.filter((c) => c.x509.checkPrivateKey(privateKey)).map((certificate) => ({ certificate, privateKey })),
  );
  const [pair, another] = pairs;
  if (pair === undefined) {
    const found = `${content.keys.length} private keys and ${certificates.length} certificates`;
    throw new PkiError('key-mismatch', `${file} has no key with its certificate (${found}): export it with both`);
  }
  if (another !== undefined) {
    throw new PkiError('bad-identity', `${file} has several keys with certificates: export only the one to use`);
  }
  return { ...pair, chain: certificates.filter((certificate) => certificate !== pair.certificate) };
}

async function previousKey(file: string, password: string | undefined): Promise<DecryptionKey> {
  const privateKey = await readKey(file, password);
  const certificates = certificatesOf(await readPkiFile(file), file);
  const certificate = certificates.find((candidate) => candidate.x509.checkPrivateKey(privateKey)) ?? null;
  return { certificate, privateKey, publicKey: createPublicKey(privateKey) };
}

async function readKey(file: string, password: string | undefined): Promise<KeyObject> {
  const pem = await readPkiFile(file);
  try {
    return createPrivateKey({ key: pem, ...(password ? { passphrase: password } : {}) });
  } catch (cause) {
    if (pem.includes('ENCRYPTED')) {
      const what = password ? 'identity.password does not open it' : 'it is encrypted, and identity.password is empty';
      throw new PkiError('bad-password', `The key ${file} cannot be read: ${what}`, cause);
    }
    throw new PkiError('bad-key', `${file} holds no PEM private key that can be read`, cause);
  }
}

function certificatesOf(pem: Buffer, file: string): Certificate[] {
  return pemBlocks(pem.toString('latin1'), 'CERTIFICATE').map((der) => inFile(file, () => readCertificate(der)));
}
