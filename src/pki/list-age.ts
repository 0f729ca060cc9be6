import type { Certificate } from './certificate.ts';
import type { Crl } from './crl.ts';
import { formatDn } from './names.ts';
import { certificatesOf, isUsable } from './revocation.ts';
import type { TrustStore } from './trust.ts';

/** How old the revocation list of one CA or root is. */
export interface ListAge {
  readonly ca: Certificate;
  readonly name: string;
  /** The list that decides, or the newest one when none is current; null when there is none. */
  readonly list: Crl | null;
  /** Share of its life that has passed: 0 at thisUpdate, 1 at nextUpdate; null without a list. */
  readonly spent: number | null;
  /** Sentence about a list that is missing or not current; null when the CA's certificates can be decided. */
  readonly fault: string | null;
}

/** The lists of all CAs and roots at the time `at`, epoch milliseconds. A root may do without one (the list of CAs is closed). */
export function listAges(trust: Pick<TrustStore, 'issuers' | 'listsOf'>, at: number): ListAge[] {
  const required = new Set(trust.issuers.map(({ certificate }) => certificate.fingerprint));
  return certificatesOf(trust.issuers).map((ca) => {
    const name = formatDn(ca.subject);
    const lists = trust.listsOf(ca);
    const list = lists.find((crl) => isUsable(crl, at)) ?? lists[0];
    if (list === undefined) {
      return { ca, name, list: null, spent: null, fault: required.has(ca.fingerprint) ? `no CRL of ${name}` : null };
    }
    const spent = (at - list.thisUpdate) / (list.nextUpdate - list.thisUpdate);
    const period = `${new Date(list.thisUpdate).toISOString()} to ${new Date(list.nextUpdate).toISOString()}`;
    const fault = isUsable(list, at) ? null : `no current CRL of ${name}: ${list.file} is for ${period}`;
    return { ca, name, list, spent, fault };
  });
}
