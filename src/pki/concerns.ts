import type { Certificate } from './certificate.ts';
import type { CrlFetcher, FetchFailure } from './crl-fetcher.ts';
import { expiryOf } from './expiry.ts';
import { listAges } from './list-age.ts';
import { formatDn } from './names.ts';
import type { OcspClient } from './ocsp-client.ts';
import { certificatesOf } from './revocation.ts';
import type { TrustStore } from './trust.ts';

/** Something that an operator must see to: a sentence, and since when it is so (epoch milliseconds). */
export interface Concern {
  readonly what: string;
  readonly since: number;
}

/** What share of a list's life may pass: without a server's word that there is no newer one, and with it. */
const UNCONFIRMED = 0.5;
const CONFIRMED = 0.9;

/**
 * Lists that still hold, but should have been replaced by now. Roots issue theirs seldom, so a list that its server has
 * confirmed lately may be older.
 * @param interval milliseconds between two fetches
 */
export function ageing(
  trust: Pick<TrustStore, 'issuers' | 'listsOf'>,
  fetcher: Pick<CrlFetcher, 'confirmedAt'> | null,
  interval: number,
  at: number,
): Concern[] {
  return listAges(trust, at).flatMap(({ ca, name, list, spent, fault }) => {
    if (list === null || spent === null || fault !== null) return [];
    const confirmed = at - (fetcher?.confirmedAt(ca) ?? Number.NEGATIVE_INFINITY) <= 2 * interval;
    const limit = confirmed ? CONFIRMED : UNCONFIRMED;
    if (spent < limit) return [];
    const what = `the CRL of ${name} is getting old: it holds until ${new Date(list.nextUpdate).toISOString()}`;
    return [{ what, since: Math.floor(list.thisUpdate + limit * (list.nextUpdate - list.thisUpdate)) }];
  });
}

/** Servers that do not give what they should. @param patience milliseconds that a CRL may be out of reach */
export function failing(
  crls: readonly FetchFailure[],
  responders: ReturnType<OcspClient['failures']>,
  patience: number,
  at: number,
): Concern[] {
  return [
    ...crls
      .filter(({ since }) => at - since >= patience)
      .map(({ name, since, reason }) => ({ what: `the CRL of ${name} cannot be fetched: ${reason}`, since })),
    ...responders.map(({ host, since, reason }) => ({
      what: `the OCSP responder ${host} gives no answer that holds, so CRLs decide: ${reason}`,
      since,
    })),
  ];
}

/** Our certificate, CAs and roots that end within 30 days, or have ended. */
export function expiring(own: Certificate, trust: Pick<TrustStore, 'issuers'>, at: number): Concern[] {
  return [
    expiryOf('our certificate', own, at),
    ...certificatesOf(trust.issuers).map((ca) => expiryOf(`CA ${formatDn(ca.subject)}`, ca, at)),
  ].flatMap((expiry) => (expiry === null ? [] : [{ what: expiry.text, since: expiry.since }]));
}
