import { isIPv6 } from 'node:net';

export interface SourcesOptions {
  /** Requests of one source at a time. */
  readonly inFlight: number;
  /** Failures of one source in a minute; 0: not counted. So many may also come at once. */
  readonly failuresPerMinute: number;
  /** Epoch ms. */
  readonly now: () => number;
  /** Sources remembered; the one that failed longest ago is forgotten first. */
  readonly capacity?: number;
}

const CAPACITY = 10_000;
/** A connection that breaks, or one faulty message, does not make a partner a stranger. */
const CREDIT = 10;

interface Source {
  inFlight: number;
  /** Failures that have not been forgiven yet, as of `at`. */
  failures: number;
  at: number;
}

/**
 * What each source address is doing, so that one cannot take all places nor spend all our time on messages that prove to be nobody's.
 * Only failures count: an authenticated message costs its source nothing. A refused good sender comes again, since the answer is 503.
 */
export class Sources {
  readonly #options: SourcesOptions;
  readonly #sources = new Map<string, Source>();
  /** Those that got a receipt, in the order of their last one, with the failures that they may still have before they are strangers again. */
  readonly #known = new Map<string, number>();

  constructor(options: SourcesOptions) {
    this.#options = options;
  }

  /** Sources that are remembered now. */
  get size(): number {
    return this.#sources.size;
  }

  /** @returns why a request of this address may not come in now, or null: then one has, and `leave` must follow */
  enter(address: string): 'source-busy' | 'source-failing' | null {
    const key = sourceOf(address);
    const source = this.#sources.get(key);
    const { failuresPerMinute } = this.#options;
    if (source !== undefined) {
      if (source.inFlight >= this.#options.inFlight) return 'source-busy';
      if (failuresPerMinute > 0 && !this.#mayFail(source)) return 'source-failing';
    }
    this.#entry(key).inFlight += 1;
    return null;
  }

  /** Whether it got a receipt for a new message, and has not failed ten times since, as far as we remember. */
  isKnown(address: string): boolean {
    return this.#known.has(sourceOf(address));
  }

  /** A message of this address got a receipt that no earlier one had: an old message that is sent again proves nothing. */
  proven(address: string): void {
    const key = sourceOf(address);
    this.#known.delete(key);
    this.#known.set(key, CREDIT);
    if (this.#known.size <= (this.#options.capacity ?? CAPACITY)) return;
    for (const oldest of this.#known.keys()) {
      this.#known.delete(oldest);
      break;
    }
  }

  /** A request that had left, because it only waited, is worked on again: whatever the limits say, it was let in before. */
  comeBack(address: string): void {
    this.#entry(sourceOf(address)).inFlight += 1;
  }

  leave(address: string): void {
    const key = sourceOf(address);
    const source = this.#sources.get(key);
    if (source === undefined) return;
    source.inFlight -= 1;
    if (source.inFlight === 0 && this.#failures(source) === 0) this.#sources.delete(key);
  }

  /**
   * A request of this address was refused and nobody answers for it.
   * @returns whether that was the one too many
   */
  failed(address: string): boolean {
    const limit = this.#options.failuresPerMinute;
    const key = sourceOf(address);
    const credit = this.#known.get(key);
    if (credit !== undefined && credit > 1) this.#known.set(key, credit - 1);
    else this.#known.delete(key);
    if (limit === 0) return false;
    const source = this.#entry(key);
    const before = this.#mayFail(source);
    source.failures = Math.min(this.#failures(source) + 1, limit);
    source.at = this.#options.now();
    // To the end of the map's order: those that failed longest ago are in front.
    this.#sources.delete(key);
    this.#sources.set(key, source);
    return before && !this.#mayFail(source);
  }

  /** Whether there is room for a whole failure more. */
  #mayFail(source: Source): boolean {
    return this.#options.failuresPerMinute - this.#failures(source) >= 1;
  }

  /** Failures are forgiven evenly over time. */
  #failures(source: Source): number {
    const minutes = Math.max(0, this.#options.now() - source.at) / 60_000;
    return Math.max(0, source.failures - minutes * this.#options.failuresPerMinute);
  }

  #entry(key: string): Source {
    const known = this.#sources.get(key);
    if (known !== undefined) return known;
    if (this.#sources.size >= (this.#options.capacity ?? CAPACITY)) this.#forgetOne();
    const source: Source = { inFlight: 0, failures: 0, at: this.#options.now() };
    this.#sources.set(key, source);
    return source;
  }

  /** Those with a request inside stay; there are never more of them than the gate and the places for strangers let in. */
  #forgetOne(): void {
    for (const [key, source] of this.#sources) {
      if (source.inFlight > 0) continue;
      this.#sources.delete(key);
      return;
    }
  }
}

/** An IPv6 host has a whole /64 to itself, so that is what counts; IPv4 as it is. */
export function sourceOf(address: string): string {
  if (!isIPv6(address)) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped) return mapped[1] as string;
  const [head = '', tail] = (address.split('%')[0] as string).split('::');
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const after = tail === '' ? 0 : tail.split(':').length + (tail.includes('.') ? 1 : 0);
    while (groups.length + after < 8) groups.push('0');
    if (tail !== '') groups.push(...tail.split(':'));
  }
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
