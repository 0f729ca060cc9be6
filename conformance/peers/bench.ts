import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Target } from '../target/target.ts';
import { Checks } from './checks.ts';
import { Delivered } from './delivered.ts';
import type { Driver, Judgement, Order } from './driver.ts';
import { makeSample, routing, type Sample, type SampleKind } from './sample.ts';
import type { Fate, Passed, Tap } from './tap.ts';

export interface BenchParts {
  readonly target: Target;
  readonly tap: Tap;
  readonly driver: Driver;
  /** Where samples are written. */
  readonly samples: string;
  /** Writes each request that passes as `<name>-<n>.as4`; null: nowhere. */
  readonly save: { readonly directory: string; readonly name: string } | null;
  /** MessageIds that must be in the folder at the end, once each, and nothing else. */
  readonly owed: Set<string>;
}

/** What one case works with: another product's driver, our receiver, and the tap between them. */
export class Bench {
  readonly checks = new Checks();
  /** In the order in which the product has given them. */
  readonly judgements: Judgement[] = [];
  readonly #parts: BenchParts;
  readonly #inbox: Delivered;

  constructor(parts: BenchParts) {
    this.#parts = parts;
    const { inbox } = parts.target;
    if (inbox === null) throw new Error('the receiver has no folder');
    this.#inbox = new Delivered(inbox.directory);
    this.tap([]);
  }

  get passed(): readonly Passed[] {
    return this.#parts.tap.passed;
  }

  sample(kind: SampleKind = 'invoice', ballast = 0): Sample {
    return makeSample(this.#parts.samples, kind, ballast);
  }

  /** What becomes of the answers to come; with `kill` the receiver is killed once it has given the first, and started again. */
  tap(fates: readonly Fate[], kill = false): void {
    const { tap, target } = this.#parts;
    tap.reset(target.url, fates, kill ? async () => target.restart?.() : null);
  }

  /** From now on a receiver of ours that services orders only. */
  async serviceOrdersOnly(): Promise<void> {
    const second = await this.#parts.target.serviced?.();
    if (second === undefined) throw new Error('there is no receiver with a list');
    this.#parts.tap.reset(second.url);
  }

  /** Makes the product send, and judge what comes back. */
  async send(sample: Sample, order: Order = {}): Promise<Judgement> {
    const before = this.passed.length;
    const { driver, tap, save } = this.#parts;
    const judgement = await driver.send({ url: tap.url.href, ...routing(sample), ...order });
    this.judgements.push(judgement);
    if (save !== null) {
      for (const [index, { request }] of this.passed.slice(before).entries()) {
        writeFileSync(join(save.directory, `${save.name}-${before + index + 1}.as4`), request);
      }
    }
    return judgement;
  }

  /** The product accepts, by its own words and by what its driver looks at beside; what passed is sound; the document is there once. */
  async accepted(sample: Sample, judgement: Judgement): Promise<void> {
    this.#takes(judgement);
    this.checks.receipts(this.passed, judgement.messageId ?? sample.messageId, this.#parts.target.receiver);
    await this.delivered(judgement.messageId ?? sample.messageId, sample);
  }

  /** The product accepts, and nothing is handed to the backend under this id. */
  async acceptedAndSuppressed(messageId: string, judgement: Judgement): Promise<void> {
    this.#takes(judgement);
    this.checks.receipts(this.passed.slice(-1), messageId, this.#parts.target.receiver);
    await this.#inbox.settle();
    this.checks.that('not delivered', this.#inbox.of(messageId).length === 0);
  }

  /** The product reads this error, and nothing is delivered. */
  async refused(sample: Sample, judgement: Judgement, codes: readonly string[], detail?: string): Promise<void> {
    const { error } = judgement;
    this.checks.that('not taken for a receipt', !judgement.accepted);
    this.checks.that('an error read', error !== undefined);
    if (error?.code !== undefined) this.checks.that('its code read', codes.includes(error.code), error.code);
    if (detail !== undefined) this.checks.that('ErrorDetail read', error?.detail === detail, error?.detail ?? 'none');
    this.checks.errorSignal(this.passed, this.#parts.target.receiver, codes);
    await this.#inbox.settle();
    this.checks.that('not delivered', this.#inbox.of(judgement.messageId ?? sample.messageId).length === 0);
  }

  async delivered(messageId: string, sample: Sample): Promise<void> {
    this.#parts.owed.add(messageId);
    const found = await this.#inbox.waitFor(messageId);
    this.checks.that('delivered once', found.length === 1, `${found.length} times`);
    const [only] = found;
    if (only === undefined) return;
    this.checks.that('its document', only.document.includes(sample.mark));
    if (sample.document.wrapper !== undefined) {
      this.checks.that('document to the octet', only.document.equals(sample.content));
    }
  }

  /** The very same answer to each of the requests, which themselves were the same octets. */
  sameAnswers(count: number): void {
    this.checks.that(`${count} requests`, this.passed.length === count, `${this.passed.length}`);
    this.checks.sameOctets(this.passed);
  }

  #takes({ accepted, verdict, checks }: Judgement): void {
    this.checks.that('accepted', accepted, verdict);
    for (const [name, ok] of Object.entries(checks)) this.checks.that(`its ${name}`, ok);
  }
}
