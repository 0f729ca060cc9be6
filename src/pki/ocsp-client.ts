import { setMaxListeners } from 'node:events';
import type { Certificate } from './certificate.ts';
import { PkiError } from './errors.ts';
import { fetchBounded } from './fetch.ts';
import { type AllowedHosts, hostOf } from './hosts.ts';
import { judgeOcspResponse, type OcspAnswer } from './ocsp-answer.ts';
import { askAbout } from './ocsp-question.ts';
import { VerdictCache } from './verdict-cache.ts';

export interface OcspClientOptions {
  readonly hosts: AllowedHosts;
  /** Instead of what certificates say; empty: what they say. */
  readonly url: string;
  readonly timeout: number;
  readonly now: () => number;
  readonly isRevoked: (responder: Certificate) => boolean;
  readonly observe: (outcome: OcspOutcome) => void;
  readonly log: { warn(fields: object, message: string): void };
}

/** `failed`: no answer that holds; `skipped`: not asked, because the responder has just failed. */
export type OcspOutcome = OcspAnswer['status'] | 'failed' | 'skipped';

/** A real response has 2 KB with its certificates. */
const MAX_BYTES = 32 * 1024;
const REMEMBER_MS = 3_600_000;
const REMEMBER_COUNT = 10_000;
/** A responder that failed is left alone this long: the next senders must not wait for it one by one. */
const PAUSE_MS = 60_000;

interface Failure {
  /** The first since the last answer that held, and the latest; epoch milliseconds. */
  readonly since: number;
  readonly latest: number;
  readonly reason: string;
  /** Not asked before this. */
  readonly pausedUntil: number;
}

/** Asks OCSP responders, remembers what they say, and never waits for one that has just failed. */
export class OcspClient {
  readonly #o: OcspClientOptions;
  readonly #answers = new VerdictCache<OcspAnswer['status']>(REMEMBER_COUNT);
  readonly #running = new Map<string, Promise<OcspAnswer['status']>>();
  readonly #failures = new Map<string, Failure>();
  readonly #stopping = new AbortController();

  constructor(options: OcspClientOptions) {
    this.#o = options;
    setMaxListeners(0, this.#stopping.signal);
  }

  stop(): void {
    this.#stopping.abort();
  }

  /**
   * What the responder of `issuer` says about `leaf` at the time `at` (epoch milliseconds). `unknown` also when there is
   * none, it may not be asked, or it gives no answer that holds. Never rejects; at most one request a certificate at a time.
   */
  status(leaf: Certificate, issuer: Certificate, at: number): Promise<OcspAnswer['status']> {
    const known = this.#answers.get(leaf.fingerprint, at);
    if (known !== undefined) return Promise.resolve(known);
    const url = this.#o.url || leaf.ocspUrls.find((candidate) => this.#o.hosts.allows(candidate));
    if (url === undefined) return Promise.resolve('unknown');
    const host = hostOf(url);
    if (at < (this.#failures.get(host)?.pausedUntil ?? 0)) {
      this.#o.observe('skipped');
      return Promise.resolve('unknown');
    }
    const running = this.#running.get(leaf.fingerprint);
    if (running !== undefined) return running;
    const asked = this.#ask(url, leaf, issuer, at).finally(() => this.#running.delete(leaf.fingerprint));
    this.#running.set(leaf.fingerprint, asked);
    return asked;
  }

  /** Responders that have failed in the last hour and have not answered since. */
  failures(at: number): { readonly host: string; readonly since: number; readonly reason: string }[] {
    const lately = [...this.#failures].filter(([, { latest }]) => at - latest < REMEMBER_MS);
    return lately.map(([host, { since, reason }]) => ({ host, since, reason }));
  }

  async #ask(url: string, leaf: Certificate, issuer: Certificate, at: number): Promise<OcspAnswer['status']> {
    const host = hostOf(url);
    try {
      const question = askAbout(leaf, issuer);
      const { bytes } = await fetchBounded(url, {
        hosts: this.#o.hosts,
        timeout: this.#o.timeout,
        maxBytes: MAX_BYTES,
        signal: this.#stopping.signal,
        post: { contentType: 'application/ocsp-request', body: question.request },
      });
      const { status, until } = judgeOcspResponse(bytes, { question, issuer, at, isRevoked: this.#o.isRevoked });
      this.#failures.delete(host);
      // A certificate that the responder does not know yet may be a very new one.
      const longest = status === 'unknown' ? PAUSE_MS : REMEMBER_MS;
      this.#answers.set(leaf.fingerprint, status, at, Math.min(until, at + longest));
      this.#o.observe(status);
      return status;
    } catch (fault) {
      const reason = fault instanceof PkiError ? fault.message : String(fault);
      const since = this.#failures.get(host)?.since ?? at;
      const now = this.#o.now();
      // An answer that does not hold may be the fault of this one certificate, and must not keep us from asking about others.
      const unreachable = fault instanceof PkiError && fault.code === 'not-fetched';
      this.#failures.set(host, { since, latest: now, reason, pausedUntil: unreachable ? now + PAUSE_MS : 0 });
      if (!unreachable) this.#answers.set(leaf.fingerprint, 'unknown', at, at + PAUSE_MS);
      this.#o.observe('failed');
      this.#o.log.warn({ responder: host, reason }, 'an OCSP responder gave no answer that holds');
      return 'unknown';
    }
  }
}
