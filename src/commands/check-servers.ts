import type { Config } from '../config/schema.ts';
import { CrlFetcher } from '../pki/crl-fetcher.ts';
import { CrlIntake } from '../pki/crl-intake.ts';
import { crlHosts, ocspHosts } from '../pki/hosts.ts';
import type { Identity } from '../pki/identity.ts';
import { issuerOf } from '../pki/issuers.ts';
import { OcspClient } from '../pki/ocsp-client.ts';
import { statusOf } from '../pki/revocation.ts';
import type { TrustStore } from '../pki/trust.ts';
import { error, type Finding, ok, warning } from './finding.ts';

const quiet = { info() {}, warn() {} };

/**
 * Fetches the revocation lists as `serve` would, into memory alone: what is judged afterwards is judged by them, nothing is kept.
 * @returns which cannot be had, and why
 */
export async function checkLists({ trust: t }: Config, trust: TrustStore, own: Identity | null, now: number) {
  if (t.revocation === 'off' || t.fetchCrls === 'off') return [];
  let fetched = 0;
  const fetcher = new CrlFetcher({
    intake: new CrlIntake(trust, { write: async (name) => name }, () => now),
    hosts: crlHosts(t),
    urls: t.crlUrls,
    maxBytes: t.crlMaxBytes,
    interval: t.fetchInterval,
    timeout: t.fetchTimeout,
    now: () => now,
    observe: (outcome) => {
      if (outcome !== 'failed') fetched++;
    },
    log: quiet,
  });
  fetcher.follow(trust.issuers);
  const issuer = own === null ? undefined : issuerOf(own.certificate, trust.issuers);
  if (own && issuer) fetcher.learn(issuer.certificate, own.certificate.crlUrls);
  await fetcher.fetchAll();
  await fetcher.stop();
  const failures = fetcher
    .failures()
    .map(({ name, reason }) => warning('revocation', `the CRL of ${name} cannot be fetched: ${reason}.`));
  const lists = fetched === 1 ? '1 list was' : `${fetched} lists were`;
  return fetched === 0 ? failures : [ok('revocation', `${lists} fetched from where serve will fetch`), ...failures];
}

/** Asks the OCSP responder about our own certificate: whether it can be reached, answers as it must, and what it says. */
export async function checkResponder(
  { trust: t }: Config,
  trust: TrustStore,
  own: Identity,
  now: number,
): Promise<Finding[]> {
  const issuer = issuerOf(own.certificate, trust.issuers)?.certificate;
  if (t.revocation === 'off' || t.ocsp === 'off' || issuer === undefined) return [];
  let asked = false;
  const client = new OcspClient({
    hosts: ocspHosts(t),
    url: t.ocspUrl,
    timeout: t.fetchTimeout,
    now: () => now,
    isRevoked: (responder) => statusOf(responder, trust.listsOf(issuer), now) === 'revoked',
    observe: () => {
      asked = true;
    },
    log: quiet,
  });
  const status = await client.status(own.certificate, issuer, now);
  client.stop();
  const [failure] = client.failures(now);
  if (failure !== undefined) {
    const { host, reason } = failure;
    return [warning('ocsp', `the responder ${host} gives no answer that holds, so lists would decide: ${reason}.`)];
  }
  if (!asked) {
    const named = own.certificate.ocspUrls.join(', ') || 'none';
    const remedy = 'Add its host to trust.ocspHosts if you know it, or set trust.ocspUrl.';
    return [warning('ocsp', `nobody is asked about certificates such as ours, which names ${named}. ${remedy}`)];
  }
  switch (status) {
    case 'good':
      return [ok('ocsp', 'the responder says that our certificate is good')];
    case 'revoked':
      return [error('ocsp', 'the responder says that our certificate has been revoked: get another one.')];
    case 'unknown':
      return [warning('ocsp', 'the responder does not know our certificate; is it the responder of our CA?')];
  }
}
