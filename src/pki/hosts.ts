/**
 * The hosts that may be asked. URLs come out of certificates, so without such a list whoever gets a certificate could make
 * us call any address (SSRF). Entries are `host` (default port of http and https) or `host:port`; nothing is allowed by itself.
 */
export class AllowedHosts {
  readonly #entries: ReadonlySet<string>;

  constructor(entries: readonly string[]) {
    this.#entries = new Set(entries.map((entry) => entry.toLowerCase()));
  }

  /** False also for another scheme than http(s) and for a URL with credentials in it. */
  allows(url: string): boolean {
    const parsed = URL.canParse(url) ? new URL(url) : null;
    if (parsed === null || !/^https?:$/.test(parsed.protocol) || parsed.username !== '' || parsed.password !== '')
      return false;
    const port = parsed.port === '' ? (parsed.protocol === 'https:' ? '443' : '80') : parsed.port;
    // `host` of a URL leaves the default port out.
    return this.#entries.has(parsed.host) || this.#entries.has(`${parsed.hostname}:${port}`);
  }
}

/** `host` or `host:port` of a URL, as an entry of the list is written. */
export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

/** Where lists may be fetched from: a URL that the operator names is allowed by that. */
export function crlHosts(t: {
  readonly crlHosts: readonly string[];
  readonly crlUrls: readonly string[];
}): AllowedHosts {
  return new AllowedHosts([...t.crlHosts, ...t.crlUrls.map(hostOf)]);
}

/** Which responders may be asked: likewise. */
export function ocspHosts(t: { readonly ocspHosts: readonly string[]; readonly ocspUrl: string }): AllowedHosts {
  return new AllowedHosts([...t.ocspHosts, ...(t.ocspUrl === '' ? [] : [hostOf(t.ocspUrl)])]);
}
