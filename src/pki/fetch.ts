import { PkiError } from './errors.ts';
import { type AllowedHosts, hostOf } from './hosts.ts';

export interface FetchOptions {
  readonly hosts: AllowedHosts;
  /** Milliseconds for everything: name, connection, redirects and body. */
  readonly timeout: number;
  /** Bytes of the body, after a Content-Encoding has been undone. */
  readonly maxBytes: number;
  /** Gives up at once when it is aborted. */
  readonly signal: AbortSignal;
  /** Posted; without it the request is a GET. */
  readonly post?: { readonly contentType: string; readonly body: Buffer };
}

export interface Fetched {
  readonly bytes: Buffer;
  /** Seconds for which the server says that its answer stays fresh; null when it says nothing. */
  readonly maxAge: number | null;
}

const MAX_REDIRECTS = 3;

/**
 * Fetches a small object over HTTP within limits. Redirects are followed only on the same host: an allowed server must not
 * be able to send us to another one. Throws PkiError `not-fetched`, which says why in a few words for the operator.
 */
export async function fetchBounded(url: string, o: FetchOptions): Promise<Fetched> {
  // By hand, because AbortSignal.any leaves something behind at a signal that lives as long as the process.
  const giveUp = new AbortController();
  const abort = () => giveUp.abort();
  const timer = setTimeout(abort, o.timeout);
  o.signal.addEventListener('abort', abort);
  if (o.signal.aborted) abort();
  try {
    return await follow(url, o, giveUp.signal);
  } catch (cause) {
    if (cause instanceof PkiError) throw cause;
    if (o.signal.aborted) throw failure(url, 'the receiver is stopping', cause);
    if (giveUp.signal.aborted) throw failure(url, `no whole answer within ${o.timeout / 1000} s`, cause);
    throw failure(url, reasonOf(cause), cause);
  } finally {
    clearTimeout(timer);
    o.signal.removeEventListener('abort', abort);
  }
}

async function follow(first: string, o: FetchOptions, signal: AbortSignal): Promise<Fetched> {
  let url = first;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    if (!o.hosts.allows(url)) throw failure(url, `host ${hostOf(url)} is not in the list of allowed hosts`);
    const response = await fetch(url, {
      method: o.post === undefined ? 'GET' : 'POST',
      redirect: 'manual',
      signal,
      headers: o.post === undefined ? {} : { 'content-type': o.post.contentType },
      body: o.post === undefined ? null : new Uint8Array(o.post.body),
    });
    const location = response.headers.get('location');
    if (response.status >= 300 && response.status < 400 && location !== null) {
      await response.body?.cancel();
      url = sameHost(url, location);
      continue;
    }
    if (response.status !== 200) {
      await response.body?.cancel();
      throw failure(url, `HTTP status ${response.status}`);
    }
    return { bytes: await readBody(url, response, o.maxBytes), maxAge: maxAgeOf(response.headers) };
  }
  throw failure(first, 'too many redirects');
}

function sameHost(from: string, location: string): string {
  const target = URL.canParse(location, from) ? new URL(location, from) : null;
  if (target === null || target.hostname !== new URL(from).hostname) {
    throw failure(from, `redirected to another host (${target?.host ?? 'no URL'})`);
  }
  return target.href;
}

async function readBody(url: string, { body, headers }: Response, maxBytes: number): Promise<Buffer> {
  const tooLarge = () => failure(url, `larger than ${maxBytes} bytes`);
  if (Number(headers.get('content-length') ?? 0) > maxBytes) {
    await body?.cancel();
    throw tooLarge();
  }
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop cancels the rest.
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** RFC 9111 §4.2.1, without s-maxage: we are no shared cache. */
function maxAgeOf(headers: Headers): number | null {
  const control = (headers.get('cache-control') ?? '').toLowerCase();
  if (/\bno-(?:cache|store)\b/.test(control)) return 0;
  const age = Number(headers.get('age') ?? 0) || 0;
  const declared = /(?:^|[\s,])max-age="?(\d{1,10})/.exec(control)?.[1];
  if (declared !== undefined) return Math.max(0, Number(declared) - age);
  const expires = Date.parse(headers.get('expires') ?? '');
  const date = Date.parse(headers.get('date') ?? '');
  return Number.isNaN(expires) || Number.isNaN(date) ? null : Math.max(0, (expires - date) / 1000 - age);
}

function failure(url: string, why: string, cause?: unknown): PkiError {
  return new PkiError('not-fetched', `${url}: ${why}`, cause);
}

/** `fetch` says only "fetch failed"; what happened is in its cause. */
function reasonOf(cause: unknown): string {
  const { cause: inner } = cause as { readonly cause?: { readonly code?: string; readonly message?: string } };
  return inner?.message || inner?.code || (cause instanceof Error ? cause.message : 'unknown fault');
}
