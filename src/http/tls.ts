import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { PkiError } from '../pki/errors.ts';
import { pemBlocks, readPkiFile } from '../pki/files.ts';
import { readPkcs12 } from '../pki/pkcs12.ts';

export interface TlsOptions {
  /** PEM files; '' for none. */
  readonly certificate: string;
  readonly key: string;
  readonly pkcs12: string;
  readonly password: string;
}

/** Only forward secrecy, only authenticated encryption; the order is ours (Peppol's transport policy asks for TLS 1.2 or later). */
const CIPHERS = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
].join(':');

/**
 * What an HTTPS server needs, or null when TLS is not configured.
 * @param identity public key of our access point certificate, which must not be used for TLS too; null when it is not known
 * @throws {PkiError} with a sentence that says what to do
 */
export async function loadTls(options: TlsOptions, identity: KeyObject | null): Promise<SecureContextOptions | null> {
  if (options.certificate === '' && options.pkcs12 === '') return null;
  const { key, chain } = options.pkcs12 === '' ? await fromPem(options) : await fromPkcs12(options);
  const certificate = new X509Certificate(chain[0] as string);
  const file = options.pkcs12 || options.certificate;
  if (!certificate.checkPrivateKey(key)) {
    throw new PkiError('key-mismatch', `The first certificate in ${file} does not belong to tls.key: name its own key`);
  }
  if (identity !== null && certificate.publicKey.equals(identity)) {
    throw new PkiError(
      'bad-identity',
      `${file} has the key of our access point certificate: TLS needs a certificate and a key of its own`,
    );
  }
  const context: SecureContextOptions = {
    cert: chain.join('\n'),
    key: key.export({ type: 'pkcs8', format: 'pem' }),
    minVersion: 'TLSv1.2',
    ciphers: CIPHERS,
    honorCipherOrder: true,
  };
  try {
    createSecureContext(context);
  } catch (cause) {
    throw new PkiError('bad-certificate', `${file} cannot be used for TLS: ${(cause as Error).message}`, cause);
  }
  return context;
}

async function fromPem(options: TlsOptions): Promise<{ key: KeyObject; chain: string[] }> {
  const certificates = pemBlocks((await readPkiFile(options.certificate)).toString('latin1'), 'CERTIFICATE');
  if (certificates.length === 0) {
    throw new PkiError('bad-certificate', `${options.certificate} holds no PEM certificate: correct tls.certificate`);
  }
  const pem = await readPkiFile(options.key);
  try {
    const key = createPrivateKey({ key: pem, ...(options.password === '' ? {} : { passphrase: options.password }) });
    return { key, chain: certificates.map((der) => toPem(der, options.certificate)) };
  } catch (cause) {
    if (cause instanceof PkiError) throw cause;
    const text = `${options.key} holds no private key that tls.password opens: correct tls.key or tls.password`;
    throw new PkiError('bad-key', text, cause);
  }
}

async function fromPkcs12(options: TlsOptions): Promise<{ key: KeyObject; chain: string[] }> {
  const file = options.pkcs12;
  const bytes = await readPkiFile(file);
  const { keys, certificates } = await readPkcs12(bytes, options.password, file).catch((cause: unknown) => {
    if (cause instanceof PkiError && cause.code === 'bad-password') {
      throw new PkiError('bad-password', `The password does not open ${file}: correct tls.password`, cause);
    }
    throw cause;
  });
  const [key] = keys;
  const all = certificates.map((der) => new X509Certificate(der));
  const own = key === undefined ? undefined : all.find((certificate) => certificate.checkPrivateKey(key));
  if (key === undefined || own === undefined) {
    throw new PkiError('bad-identity', `${file} holds no private key with its certificate: correct tls.pkcs12`);
  }
  return {
    key,
    chain: [own, ...all.filter((certificate) => certificate !== own)].map((certificate) => `${certificate}`),
  };
}

function toPem(der: Buffer, file: string): string {
  try {
    return new X509Certificate(der).toString();
  } catch (cause) {
    throw new PkiError(
      'bad-certificate',
      `${file} holds a certificate that cannot be read: correct tls.certificate`,
      cause,
    );
  }
}
