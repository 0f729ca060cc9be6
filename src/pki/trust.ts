import { hash } from 'node:crypto';
import { type Anchors, anchorsOf, readAnchors, type TrustOptions } from './anchors.ts';
import { type Certificate, describeCertificate, parseX509 } from './certificate.ts';
import type { Crl } from './crl.ts';
import { type CrlReader, rememberingReader } from './crl-memory.ts';
import { PkiError } from './errors.ts';
import { type Issuer, isIssuedBy, isSignedBy } from './issuers.ts';
import { LEAF_RULES, type RefusalReason } from './leaf-rules.ts';
import { listAges } from './list-age.ts';
import { formatDn } from './names.ts';
import { isUsable, statusOf } from './revocation.ts';
import { VerdictCache } from './verdict-cache.ts';

/** What the trust store says of a certificate. `text` is for the sender's operator; nothing internal is in it. */
export type TrustVerdict =
  | {
      readonly status: 'trusted';
      readonly certificate: Certificate;
      /** The leaf, its issuing CA, the root. */
      readonly chain: readonly Certificate[];
      readonly warnings: readonly string[];
    }
  | { readonly status: 'refused'; readonly reason: RefusalReason; readonly text: string }
  /** Revocation cannot be decided under `hard`: 503 without a signal, so that the sender tries again. */
  | { readonly status: 'unknown'; readonly reason: 'revocation-unknown'; readonly text: string };

/** Told of each leaf that one of our CAs has issued and no rule forbids, whenever it is judged anew. */
export type ChainListener = (leaf: Certificate, issuer: Issuer) => void;

export const REVOCATION_UNKNOWN: TrustVerdict & { status: 'unknown' } = {
  status: 'unknown',
  reason: 'revocation-unknown',
  text: 'It cannot be decided now whether the certificate has been revoked; try again later',
};

const REMEMBER_MS = 3_600_000;
const REMEMBER_COUNT = 10_000;

/** The closed list of CAs whose access points may send to us, their CRLs, and the verdicts of the last hour. */
export class TrustStore {
  readonly #options: TrustOptions;
  readonly #readCrl: CrlReader;
  #anchors: Anchors;
  #verdicts = new VerdictCache<TrustVerdict>(REMEMBER_COUNT);
  #reloadFault: string | null = null;
  #chained: ChainListener | null = null;

  private constructor(options: TrustOptions, anchors: Anchors, readCrl: CrlReader) {
    this.#options = options;
    this.#readCrl = readCrl;
    this.#anchors = anchors;
  }

  /** Reads the files. Throws PkiError that names the file and says what to do. */
  static async load(options: TrustOptions): Promise<TrustStore> {
    const readCrl = rememberingReader();
    return new TrustStore(options, await readAnchors(options, readCrl), readCrl);
  }

  onChained(listener: ChainListener): void {
    this.#chained = listener;
  }

  /**
   * Uses a fetched list from now on, and forgets all verdicts. A list of no trusted CA, or one older than the fetched one
   * that is in force, changes nothing.
   */
  take(crl: Crl): void {
    const { issuers, configured, fetched, faults } = this.#anchors;
    this.#anchors = anchorsOf(issuers, configured, [...fetched, crl], faults);
    this.#verdicts = new VerdictCache(REMEMBER_COUNT);
  }

  /** Reads the files again and forgets all verdicts. When it throws (PkiError), what was loaded before stays in force. */
  async reload(): Promise<void> {
    try {
      const { issuers, configured, fetched, faults } = await readAnchors(this.#options, this.#readCrl);
      // A list that could not be written stays in force, and so does one that came while the files were read.
      this.#anchors = anchorsOf(issuers, configured, [...this.#anchors.fetched, ...fetched], faults);
    } catch (fault) {
      this.#reloadFault = fault instanceof PkiError ? fault.message : 'unexpected fault';
      throw fault;
    }
    this.#reloadFault = null;
    this.#verdicts = new VerdictCache(REMEMBER_COUNT);
  }

  /** The issuing CAs with their roots, in the order of the file. */
  get issuers(): readonly Issuer[] {
    return this.#anchors.issuers;
  }

  /**
   * May this certificate, DER, sign messages at the time `at` (epoch milliseconds)? Never throws. A verdict is remembered by
   * fingerprint for an hour, or until a date of the certificate, its CAs or CRLs passes; strangers' certificates never are,
   * or a flood of them would push out those of our senders.
   */
  judge(der: Uint8Array, at: number): TrustVerdict {
    const fingerprint = hash('sha256', der, 'hex');
    const known = this.#verdicts.get(fingerprint, at);
    if (known !== undefined) return known;
    const found = findIssuer(der, this.#anchors.issuers);
    if (!('issuer' in found)) return found;
    const { leaf, issuer } = found;
    const lists = { ca: this.listsOf(issuer.certificate), root: this.listsOf(issuer.root) };
    const verdict = this.#judgeChained(leaf, issuer, lists, at);
    this.#verdicts.set(fingerprint, verdict, at, nextChange(leaf, issuer, [...lists.ca, ...lists.root], at));
    return verdict;
  }

  /** The lists of a CA or root, newest first. */
  listsOf(ca: Certificate): readonly Crl[] {
    return this.#anchors.crls.get(ca.fingerprint) ?? [];
  }

  #judgeChained(
    leaf: Certificate,
    issuer: Issuer,
    lists: { readonly ca: readonly Crl[]; readonly root: readonly Crl[] },
    at: number,
  ): TrustVerdict {
    const broken = LEAF_RULES.find((rule) => rule.broken(leaf, issuer, at));
    if (broken !== undefined) return refused(broken.reason, broken.text);
    this.#chained?.(leaf, issuer);
    const chain = [leaf, issuer.certificate, issuer.root];
    if (this.#options.revocation === 'off') return { status: 'trusted', certificate: leaf, chain, warnings: [] };
    // A root's list is optional: who gives none relies on the closed list of CAs. Who gives one wants it asked.
    const ofCa = lists.root.length === 0 ? 'good' : statusOf(issuer.certificate, lists.root, at);
    const ofLeaf = statusOf(leaf, lists.ca, at);
    if (ofCa === 'revoked') return refused('issuer-revoked', 'The CA that issued the certificate has been revoked');
    if (ofLeaf === 'revoked') return refused('revoked', 'The certificate has been revoked');
    const open = ofCa === 'unknown' || (ofLeaf === 'unknown' && this.#options.ocsp !== 'on');
    if (open && this.#options.revocation === 'hard') return REVOCATION_UNKNOWN;
    const warnings = [
      ...(ofLeaf === 'unknown' ? ['revocation-unknown'] : []),
      ...(ofCa === 'unknown' ? ['issuer-revocation-unknown'] : []),
    ];
    return { status: 'trusted', certificate: leaf, chain, warnings };
  }

  /** False when under `hard` the CRL of every CA is missing or stale: then every new message gets 503. */
  decides(at: number): boolean {
    if (this.#options.revocation !== 'hard') return true;
    return this.issuers.some(({ certificate }) => this.listsOf(certificate).some((crl) => isUsable(crl, at)));
  }

  /** What an operator must see to: sentences, none when all is well. */
  degraded(): string[] {
    const at = this.#options.now();
    const { faults } = this.#anchors;
    const reload =
      this.#reloadFault === null ? [] : [`trust files not reloaded, the last good ones hold: ${this.#reloadFault}`];
    const cas = this.issuers.map(({ certificate }) => certificate);
    const all = [...new Set([...cas, ...this.issuers.map(({ root }) => root)])];
    const invalid = all.filter((ca) => at < ca.notBefore || at > ca.notAfter);
    return [
      ...reload,
      ...invalid.map((ca) => `CA not valid now: ${formatDn(ca.subject)}`),
      ...(this.#options.revocation === 'off' ? [] : listAges(this, at).flatMap(({ fault }) => fault ?? [])),
      ...faults,
    ];
  }
}

function refused(reason: RefusalReason, text: string): TrustVerdict & { status: 'refused' } {
  return { status: 'refused', reason, text };
}

/** Cheapest checks first: a stranger's certificate costs one parse, and a signature only when it names one of our CAs. */
function findIssuer(
  der: Uint8Array,
  issuers: readonly Issuer[],
): { readonly leaf: Certificate; readonly issuer: Issuer } | (TrustVerdict & { status: 'refused' }) {
  try {
    const x509 = parseX509(der);
    const named = issuers.filter(({ certificate }) => x509.checkIssued(certificate.x509));
    const issuer = named.find(({ certificate }) => isSignedBy(x509, certificate));
    if (issuer !== undefined) return { leaf: describeCertificate(x509), issuer };
    if (named.length > 0)
      return refused('bad-issuer-signature', 'The certificate is not signed by the CA that it names');
    if (x509.issuer === x509.subject) return refused('self-signed', 'The certificate is self-signed');
    return issuers.some(({ root }) => isIssuedBy(x509, root))
      ? refused('issued-by-root', 'The certificate is issued by a root, not by an access-point CA')
      : refused('unknown-issuer', 'The certificate is not issued by a trusted access-point CA');
  } catch (fault) {
    if (fault instanceof PkiError) return refused('malformed', 'The certificate cannot be read');
    throw fault;
  }
}

/** The first moment after `at` at which the verdict may become another one. */
function nextChange(leaf: Certificate, issuer: Issuer, crls: readonly Crl[], at: number): number {
  const validities = [leaf, issuer.certificate, issuer.root].flatMap((c) => [c.notBefore, c.notAfter + 1]);
  const updates = crls.flatMap((crl) => [crl.thisUpdate, crl.nextUpdate]);
  return [...validities, ...updates].reduce(
    (first, moment) => (moment > at && moment < first ? moment : first),
    at + REMEMBER_MS,
  );
}
