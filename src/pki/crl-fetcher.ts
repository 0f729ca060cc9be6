import { setMaxListeners } from 'node:events';
import type { Certificate } from './certificate.ts';
import type { CrlIntake } from './crl-intake.ts';
import { PkiError } from './errors.ts';
import { fetchBounded } from './fetch.ts';
import { untilNextFetch, untilRetry } from './fetch-schedule.ts';
import type { AllowedHosts } from './hosts.ts';
import type { Issuer } from './issuers.ts';
import { formatDn } from './names.ts';
import { certificatesOf } from './revocation.ts';

export interface CrlFetcherOptions {
  readonly intake: Pick<CrlIntake, 'take'>;
  readonly hosts: AllowedHosts;
  /** Instead of what certificates say; each may hold the list of any trusted CA or root. */
  readonly urls: readonly string[];
  readonly maxBytes: number;
  /** Milliseconds between two fetches. */
  readonly interval: number;
  /** Milliseconds for one fetch. */
  readonly timeout: number;
  readonly now: () => number;
  readonly observe: (outcome: FetchOutcome) => void;
  readonly log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
}

/** `kept`: the server has no other list than the one that is known. */
export type FetchOutcome = 'new' | 'kept' | 'failed';

/** A source that gives no list at the moment. */
export interface FetchFailure {
  /** Whose list it is, or where it should come from. */
  readonly name: string;
  /** Epoch milliseconds of the first failure since the last success. */
  readonly since: number;
  readonly reason: string;
}

interface Source {
  /** null: a configured URL, whose list may be of any trusted CA. */
  readonly ca: Certificate | null;
  /** Tried in this order until one gives a list. */
  urls: readonly string[];
  failures: number;
  failure: FetchFailure | null;
  timer: NodeJS.Timeout | null;
  running: Promise<void> | null;
}

const MAX_URLS = 4;

/** Fetches the CRL of each CA and root again and again. Whatever goes wrong leaves the list that is known in force. */
export class CrlFetcher {
  readonly #o: CrlFetcherOptions;
  readonly #sources = new Map<string, Source>();
  readonly #confirmed = new Map<string, number>();
  readonly #stopping = new AbortController();
  #started = false;

  constructor(options: CrlFetcherOptions) {
    this.#o = options;
    setMaxListeners(0, this.#stopping.signal);
    for (const url of options.urls) this.#add(url, null, [url]);
  }

  /** Starts to fetch, in the background. */
  start(): void {
    this.#started = true;
    for (const source of this.#sources.values()) this.#schedule(source, 0);
  }

  /** Ends what is in flight. */
  async stop(): Promise<void> {
    this.#started = false;
    this.#stopping.abort();
    for (const { timer } of this.#sources.values()) clearTimeout(timer ?? undefined);
    await Promise.all([...this.#sources.values()].map(({ running }) => running));
  }

  /** Fetches everything now. Never rejects: see `failures`. */
  async fetchAll(): Promise<void> {
    await Promise.all([...this.#sources.values()].map((source) => this.#fetch(source)));
  }

  /** Follows the trust file: a CA certificate says where the list of its root is, and a CA that is trusted no more is forgotten. */
  follow(issuers: readonly Issuer[]): void {
    const trusted = new Set(certificatesOf(issuers).map(({ fingerprint }) => fingerprint));
    for (const [key, source] of this.#sources) {
      if (source.ca === null || trusted.has(source.ca.fingerprint)) continue;
      clearTimeout(source.timer ?? undefined);
      this.#sources.delete(key);
    }
    for (const { certificate, root } of issuers) this.learn(root, certificate.crlUrls);
  }

  /** Takes the address of the CA's list out of a certificate that it has issued; its own does not say. */
  learn(ca: Certificate, urls: readonly string[]): void {
    if (this.#o.urls.length > 0) return;
    const allowed = urls.filter((url) => this.#o.hosts.allows(url));
    if (allowed.length > 0) this.#add(ca.fingerprint, ca, allowed);
  }

  /** Sources that fail now, the longest first. */
  failures(): FetchFailure[] {
    const failing = [...this.#sources.values()].flatMap(({ failure }) => failure ?? []);
    return failing.sort((a, b) => a.since - b.since);
  }

  /** When a server last gave the list of this CA that is in force, epoch milliseconds; null: not since the start. */
  confirmedAt(ca: Certificate): number | null {
    return this.#confirmed.get(ca.fingerprint) ?? null;
  }

  #add(key: string, ca: Certificate | null, urls: readonly string[]): void {
    const known = this.#sources.get(key);
    if (known === undefined) {
      const source = { ca, urls: urls.slice(0, MAX_URLS), failures: 0, failure: null, timer: null, running: null };
      this.#sources.set(key, source);
      this.#schedule(source, 0);
      return;
    }
    const added = urls.filter((url) => !known.urls.includes(url));
    if (added.length === 0) return;
    // The newest address first: a CA that moves its list names the new place in new certificates.
    known.urls = [...added, ...known.urls].slice(0, MAX_URLS);
    if (known.failure !== null) this.#schedule(known, 0);
  }

  #schedule(source: Source, delay: number): void {
    if (!this.#started) return;
    clearTimeout(source.timer ?? undefined);
    source.timer = setTimeout(() => void this.#fetch(source), delay);
    source.timer.unref();
  }

  #fetch(source: Source): Promise<void> {
    source.running ??= this.#tryAll(source).then((delay) => {
      source.running = null;
      this.#schedule(source, delay);
    });
    return source.running;
  }

  /** @returns milliseconds until the next try */
  async #tryAll(source: Source): Promise<number> {
    const { intake, interval, now, observe, log } = this.#o;
    const reasons: string[] = [];
    for (const url of source.urls) {
      try {
        const { bytes, maxAge } = await fetchBounded(url, { ...this.#o, signal: this.#stopping.signal });
        const { crl, signer, isNew } = await intake.take(bytes, url, source.ca);
        this.#confirmed.set(signer.fingerprint, now());
        source.failures = 0;
        source.failure = null;
        observe(isNew ? 'new' : 'kept');
        if (isNew) log.info({ ca: formatDn(signer.subject), url, nextUpdate: new Date(crl.nextUpdate) }, 'new CRL');
        return untilNextFetch(interval, maxAge, crl.nextUpdate - now());
      } catch (fault) {
        if (this.#stopping.signal.aborted) return interval;
        reasons.push(fault instanceof PkiError ? fault.message : `${url}: ${String(fault)}`);
      }
    }
    const reason = reasons.join('; ');
    const name = source.ca === null ? (source.urls[0] ?? '') : formatDn(source.ca.subject);
    source.failures++;
    source.failure = { name, since: source.failure?.since ?? now(), reason };
    observe('failed');
    log.warn({ crl: name, reason, failures: source.failures }, 'a CRL could not be fetched');
    return untilRetry(interval, source.failures);
  }
}
