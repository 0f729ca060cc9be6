import { type KeyObject, X509Certificate } from 'node:crypto';
import { loadTls, type TlsOptions } from '../http/tls.ts';
import { TLS_WARNING_DAYS } from '../tls-watch.ts';
import { error, type Finding, ok } from './finding.ts';
import { validity } from './validity.ts';

/**
 * Loads the files of HTTPS as `serve` would.
 * @param identity public key of our access point certificate, null when that cannot be loaded
 * @returns nothing without [tls]
 */
export async function checkTls(options: TlsOptions, identity: KeyObject | null, now: number): Promise<Finding[]> {
  try {
    const tls = await loadTls(options, identity);
    if (tls === null) return [];
    const certificate = new X509Certificate(tls.cert as string);
    const [notBefore, notAfter] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
    const names = certificate.subjectAltName ?? certificate.subject.replaceAll('\n', ', ');
    return [
      ok('tls', `key and certificate belong together: ${names}`),
      validity('tls', 'the certificate of HTTPS', { notBefore, notAfter }, now, TLS_WARNING_DAYS),
    ];
  } catch (cause) {
    return [error('tls', cause instanceof Error ? cause.message : String(cause))];
  }
}
