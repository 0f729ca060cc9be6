import type { Config } from '../config/schema.ts';
import { ageing } from '../pki/concerns.ts';
import type { Crl } from '../pki/crl.ts';
import { AllowedHosts } from '../pki/hosts.ts';
import { type Identity, loadIdentity } from '../pki/identity.ts';
import { refuseTestIdentity } from '../pki/issuers.ts';
import { listAges } from '../pki/list-age.ts';
import { formatDn } from '../pki/names.ts';
import { TrustStore } from '../pki/trust.ts';
import { checkLists, checkResponder } from './check-servers.ts';
import { checkTls } from './check-tls.ts';
import { error, type Finding, ok, warning } from './finding.ts';
import { validity } from './validity.ts';

/** Own key and certificate, those of HTTPS, the CAs, their revocation lists, and whether we would trust ourselves. */
export async function checkPki(config: Config, now: number): Promise<Finding[]> {
  const findings: Finding[] = [];
  const identity = await attempt(findings, 'identity', () => loadIdentity(config.identity));
  if (identity) {
    findings.push(...checkIdentity(identity, now));
    await attempt(findings, 'identity', async () => refuseTestIdentity(identity.certificate, config.environment));
  }
  findings.push(...(await checkTls(config.tls, identity?.certificate.publicKey ?? null, now)));
  const trust = await attempt(findings, 'trust', () =>
    TrustStore.load({ ...config.trust, environment: config.environment, now: () => now }),
  );
  if (!trust) return findings;
  for (const { certificate } of trust.issuers)
    findings.push(validity('trust', `CA ${formatDn(certificate.subject)}`, certificate, now));
  for (const root of new Set(trust.issuers.map((i) => i.root))) {
    findings.push(validity('trust', `root ${formatDn(root.subject)}`, root, now));
  }
  findings.push(...(await checkLists(config, trust, identity, now)));
  findings.push(...checkRevocation(config, trust, now));
  if (identity) findings.push(...checkFetching(config, trust, identity));
  if (identity) findings.push(...(await checkResponder(config, trust, identity, now)));
  if (identity) findings.push(...checkSelf(identity, trust, now));
  return findings;
}

function checkIdentity(identity: Identity, now: number): Finding[] {
  const previous = identity.decryptionKeys.length - 1;
  return [
    ok('identity', `key and certificate belong together: ${formatDn(identity.certificate.subject)}`),
    validity('identity', 'our certificate', identity.certificate, now),
    ...(previous > 0 ? [ok('identity', 'the previous key still decrypts')] : []),
  ];
}

/** Under `hard` a missing list turns messages away, so it is an error; under `soft` it only weakens. */
function checkRevocation(
  { trust: { revocation, fetchCrls, ocsp } }: Config,
  trust: TrustStore,
  now: number,
): Finding[] {
  if (revocation === 'off')
    return [warning('revocation', 'trust.revocation is "off": revoked certificates are accepted.')];
  const ages = listAges(trust, now);
  const faults = ages.flatMap(({ fault }) => fault ?? []);
  const known = ages.flatMap(({ name, list }) => (list === null ? [] : [ok('revocation', ageOf(name, list, now))]));
  const old = [...known, ...ageing(trust, null, 0, now).map(({ what }) => warning('revocation', `${what}.`))];
  if (faults.length === 0) return old;
  const level = revocation === 'hard' && ocsp === 'off' ? error : warning;
  const unchecked = revocation === 'hard' ? 'its senders get 503' : 'its senders are accepted unchecked';
  const effect = ocsp === 'off' ? unchecked : `when the OCSP responder does not answer, ${unchecked}`;
  const remedy =
    fetchCrls === 'on'
      ? 'Let the receiver fetch it (trust.crlHosts, trust.crlUrls), or name a file in trust.crls.'
      : 'Fetch it anew and name it in trust.crls, or set trust.fetchCrls = "on".';
  return [...old, ...faults.map((fault) => level('revocation', `${fault}; ${effect}. ${remedy}`))];
}

function ageOf(name: string, { thisUpdate, nextUpdate }: Crl, now: number): string {
  const hours = Math.floor((now - thisUpdate) / 3_600_000);
  const age = hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} days`;
  return `the CRL of ${name} is ${age} old and holds until ${new Date(nextUpdate).toISOString()}`;
}

/** Lists that are there today, but that nothing will renew. */
function checkFetching({ trust: t }: Config, trust: TrustStore, identity: Identity): Finding[] {
  if (t.revocation === 'off' || t.fetchCrls === 'off' || t.crlUrls.length > 0) return [];
  const named = [...identity.certificate.crlUrls, ...trust.issuers.flatMap(({ certificate }) => certificate.crlUrls)];
  const hosts = new AllowedHosts(t.crlHosts);
  const barred = [...new Set(named)].filter((url) => !hosts.allows(url));
  return barred.map((url) =>
    warning(
      'revocation',
      `the CRL at ${url} is not fetched: its host is not in trust.crlHosts. Add it if you know it.`,
    ),
  );
}

/** Peers apply the rules that we do. */
function checkSelf(identity: Identity, trust: TrustStore, now: number): Finding[] {
  const verdict = trust.judge(identity.certificate.der, now);
  if (verdict.status === 'trusted') return [ok('identity', 'our own certificate would be trusted')];
  // Said already, with its date.
  if (verdict.reason === 'expired' || verdict.reason === 'not-yet-valid') return [];
  const text = `our own certificate would not be trusted by a receiver with these CAs: ${verdict.text}.`;
  return [verdict.status === 'unknown' ? warning('identity', text) : error('identity', text)];
}

/** What cannot be loaded is a finding, so that the rest is looked at too. */
async function attempt<T>(findings: Finding[], what: string, load: () => Promise<T>): Promise<T | null> {
  try {
    return await load();
  } catch (cause) {
    findings.push(error(what, cause instanceof Error ? cause.message : String(cause)));
    return null;
  }
}
