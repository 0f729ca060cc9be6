import type { Certificate } from './certificate.ts';
import { type Crl, isCrlOf } from './crl.ts';
import { PkiError } from './errors.ts';
import type { Issuer } from './issuers.ts';

/** What the lists of one CA say of one of its certificates. */
export type RevocationStatus = 'good' | 'revoked' | 'unknown';

/** CRLs by the fingerprint of the CA that signed them, newest first. */
export type CrlIndex = ReadonlyMap<string, readonly Crl[]>;

/** Finds the signer of each CRL among the CAs and roots. Throws PkiError `bad-crl` for one that none of them signed. */
export function indexCrls(crls: readonly Crl[], issuers: readonly Issuer[]): CrlIndex {
  const cas = certificatesOf(issuers);
  const index = new Map<string, Crl[]>();
  for (const crl of crls) {
    const signer = cas.find((ca) => isCrlOf(crl, ca));
    if (signer === undefined) {
      throw new PkiError(
        'bad-crl',
        `The CRL in ${crl.file} is signed by none of the trusted CAs and roots: remove or replace it`,
      );
    }
    index.set(signer.fingerprint, [...(index.get(signer.fingerprint) ?? []), crl]);
  }
  for (const list of index.values()) list.sort((a, b) => b.thisUpdate - a.thisUpdate);
  return index;
}

/** The newest list of each CA and root; lists of others (a CA that is trusted no more) are left out. */
export function newestOfEach(crls: readonly Crl[], issuers: readonly Issuer[]): Crl[] {
  return certificatesOf(issuers).flatMap((ca) => {
    const own = crls.filter((crl) => isCrlOf(crl, ca));
    return own.length === 0 ? [] : [own.reduce((newest, crl) => (crl.thisUpdate >= newest.thisUpdate ? crl : newest))];
  });
}

/** The issuing CAs, then their roots, each once. */
export function certificatesOf(issuers: readonly Issuer[]): Certificate[] {
  const all = [...issuers.map(({ certificate }) => certificate), ...issuers.map(({ root }) => root)];
  return [...new Map(all.map((ca) => [ca.fingerprint, ca])).values()];
}

/** True from thisUpdate until before nextUpdate. */
export function isUsable(crl: Crl, at: number): boolean {
  return crl.thisUpdate <= at && at < crl.nextUpdate;
}

/**
 * The newest usable list decides. Without one, a stale list can still prove a revocation (it is final), but never the opposite.
 */
export function statusOf(certificate: Certificate, lists: readonly Crl[], at: number): RevocationStatus {
  const usable = lists.find((crl) => isUsable(crl, at));
  if (usable !== undefined) return usable.revoked.has(certificate.serial) ? 'revoked' : 'good';
  return lists.some((crl) => crl.revoked.has(certificate.serial)) ? 'revoked' : 'unknown';
}
