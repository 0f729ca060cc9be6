import type { Certificate } from './certificate.ts';
import { ageing, type Concern, expiring, failing } from './concerns.ts';
import { CrlDirectory } from './crl-directory.ts';
import { CrlFetcher, type FetchOutcome } from './crl-fetcher.ts';
import { CrlIntake } from './crl-intake.ts';
import { crlHosts, ocspHosts } from './hosts.ts';
import { daysToExpiry, type Identity } from './identity.ts';
import { issuerOf } from './issuers.ts';
import { listAges } from './list-age.ts';
import { formatDn } from './names.ts';
import { OcspClient, type OcspOutcome } from './ocsp-client.ts';
import { certificatesOf, statusOf } from './revocation.ts';
import { REVOCATION_UNKNOWN, type TrustStore } from './trust.ts';

/** The keys of `[trust]` that are about fetching and asking; durations in milliseconds. */
export interface RevocationSettings {
  readonly revocation: 'hard' | 'soft' | 'off';
  readonly fetchCrls: 'on' | 'off';
  readonly crlHosts: readonly string[];
  readonly crlUrls: readonly string[];
  readonly crlDirectory: string;
  readonly crlMaxBytes: number;
  readonly fetchInterval: number;
  readonly fetchTimeout: number;
  readonly ocsp: 'off' | 'on';
  readonly ocspHosts: readonly string[];
  readonly ocspUrl: string;
}

export interface RevocationWatchOptions {
  readonly trust: TrustStore;
  readonly identity: Pick<Identity, 'certificate'>;
  readonly settings: RevocationSettings;
  readonly now: () => number;
  readonly log: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
  };
}

/** A signer as `TrustStore.judge` has trusted it, whose SignatureValue has been verified since. */
export interface JudgedSigner {
  readonly certificate: Certificate;
  /** The leaf, its issuing CA, the root. */
  readonly chain: readonly Certificate[];
  readonly warnings: readonly string[];
}

export type Confirmation =
  | { readonly status: 'trusted'; readonly warnings: readonly string[] }
  | { readonly status: 'refused'; readonly reason: 'revoked'; readonly text: string }
  | typeof REVOCATION_UNKNOWN;

/** Numbers for the metrics, by the names of CAs and by outcome. */
export interface PkiFigures {
  /** Of each CA and root that has a list. */
  readonly listAgeSeconds: Readonly<Record<string, number>>;
  /** Until nextUpdate; negative when that has passed. */
  readonly listLeftSeconds: Readonly<Record<string, number>>;
  /** `own`, and each CA and root. */
  readonly daysToExpiry: Readonly<Record<string, number>>;
  readonly crlFetches: Readonly<Record<FetchOutcome, number>>;
  readonly ocspAnswers: Readonly<Record<OcspOutcome, number>>;
  /** Signers accepted under `soft` although nothing says whether their certificate has been revoked. */
  readonly acceptedUnknown: number;
}

/** Keeps the lists of the trust store fresh, asks OCSP, and tells what will go wrong before it does. */
export class RevocationWatch {
  readonly #o: RevocationWatchOptions;
  readonly #fetcher: CrlFetcher | null;
  readonly #ocsp: OcspClient | null;
  readonly #firstSeen = new Map<string, number>();
  readonly #crlFetches: Record<FetchOutcome, number> = { new: 0, kept: 0, failed: 0 };
  readonly #ocspAnswers: Record<OcspOutcome, number> = { good: 0, revoked: 0, unknown: 0, failed: 0, skipped: 0 };
  #acceptedUnknown = 0;

  constructor(o: RevocationWatchOptions) {
    this.#o = o;
    const { trust, settings, now, log } = o;
    const common = { now, log, timeout: settings.fetchTimeout };
    const looks = settings.revocation !== 'off';
    this.#fetcher =
      looks && settings.fetchCrls === 'on'
        ? new CrlFetcher({
            ...common,
            intake: new CrlIntake(trust, new CrlDirectory(settings.crlDirectory), now),
            hosts: crlHosts(settings),
            urls: settings.crlUrls,
            maxBytes: settings.crlMaxBytes,
            interval: settings.fetchInterval,
            observe: (outcome) => void this.#crlFetches[outcome]++,
          })
        : null;
    this.#ocsp =
      looks && settings.ocsp === 'on'
        ? new OcspClient({
            ...common,
            hosts: ocspHosts(settings),
            url: settings.ocspUrl,
            isRevoked: (responder) => this.#isRevoked(responder),
            observe: (outcome) => void this.#ocspAnswers[outcome]++,
          })
        : null;
    this.trustReloaded();
    trust.onChained((leaf, { certificate }) => this.#fetcher?.learn(certificate, leaf.crlUrls));
  }

  /** Starts to fetch, in the background, and warns of what ends soon. */
  start(): void {
    const { identity, trust, now, log } = this.#o;
    for (const { what } of expiring(identity.certificate, trust, now())) log.warn({}, what);
    this.#fetcher?.start();
  }

  async stop(): Promise<void> {
    this.#ocsp?.stop();
    await this.#fetcher?.stop();
  }

  /** Fetches every list now; resolves when that is done, however it went. */
  async fetchAll(): Promise<void> {
    await this.#fetcher?.fetchAll();
  }

  /** To be called when the trust files were read again. */
  trustReloaded(): void {
    const { trust, identity } = this.#o;
    this.#fetcher?.follow(trust.issuers);
    // Our own certificate is the first that says where the list of its CA is, before any sender's does.
    const issuer = issuerOf(identity.certificate, trust.issuers);
    if (issuer !== undefined) this.#fetcher?.learn(issuer.certificate, identity.certificate.crlUrls);
  }

  /**
   * The last word about a signer, to be asked once its SignatureValue is verified, so that only who has the key of a trusted
   * certificate can make us ask a responder. OCSP decides when it is on and answers; otherwise what the lists said holds.
   */
  async confirm({ certificate, chain: [, issuer], warnings }: JudgedSigner, at: number): Promise<Confirmation> {
    const answer =
      this.#ocsp === null || issuer === undefined ? 'unknown' : await this.#ocsp.status(certificate, issuer, at);
    if (answer === 'revoked') {
      return { status: 'refused', reason: 'revoked', text: 'The certificate has been revoked' };
    }
    const left = answer === 'good' ? warnings.filter((warning) => warning !== 'revocation-unknown') : warnings;
    if (left.length === 0) return { status: 'trusted', warnings: left };
    if (this.#o.settings.revocation === 'hard') return REVOCATION_UNKNOWN;
    this.#acceptedUnknown++;
    return { status: 'trusted', warnings: left };
  }

  /** False when every new message would get 503: no list of any CA holds, and no responder answers. */
  decides(at: number): boolean {
    return this.#o.trust.decides(at) || (this.#ocsp !== null && this.#ocsp.failures(at).length === 0);
  }

  /** What an operator must see to, long before it bites; empty when all is well. */
  degraded(): Concern[] {
    const at = this.#o.now();
    const { trust, identity, settings } = this.#o;
    const found = trust.degraded().map((what) => ({ what, since: this.#firstSeen.get(what) ?? at }));
    this.#firstSeen.clear();
    for (const { what, since } of found) this.#firstSeen.set(what, since);
    // A server may be away for a moment; that is worth a word at once only when something is wrong already.
    const patience = found.length > 0 ? 0 : settings.fetchInterval;
    return [
      ...found,
      ...(settings.revocation === 'off' ? [] : ageing(trust, this.#fetcher, settings.fetchInterval, at)),
      ...failing(this.#fetcher?.failures() ?? [], this.#ocsp?.failures(at) ?? [], patience, at),
      ...expiring(identity.certificate, trust, at),
    ];
  }

  figures(): PkiFigures {
    const at = this.#o.now();
    const { trust, identity, settings } = this.#o;
    const ages = settings.revocation === 'off' ? [] : listAges(trust, at);
    const lists = ages.flatMap(({ name, list }) => (list === null ? [] : [{ name, list }]));
    const seconds = (milliseconds: number) => Math.floor(milliseconds / 1000);
    const certificates = certificatesOf(trust.issuers).map((ca) => [formatDn(ca.subject), ca] as const);
    return {
      listAgeSeconds: Object.fromEntries(lists.map(({ name, list }) => [name, seconds(at - list.thisUpdate)])),
      listLeftSeconds: Object.fromEntries(lists.map(({ name, list }) => [name, seconds(list.nextUpdate - at)])),
      daysToExpiry: Object.fromEntries(
        [['own', identity.certificate] as const, ...certificates].map(([name, one]) => [name, daysToExpiry(one, at)]),
      ),
      crlFetches: { ...this.#crlFetches },
      ocspAnswers: { ...this.#ocspAnswers },
      acceptedUnknown: this.#acceptedUnknown,
    };
  }

  #isRevoked(certificate: Certificate): boolean {
    const { trust, now } = this.#o;
    const issuer = issuerOf(certificate, trust.issuers);
    return issuer !== undefined && statusOf(certificate, trust.listsOf(issuer.certificate), now()) === 'revoked';
  }
}
