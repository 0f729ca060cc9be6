import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type TestMessage, TestSender } from './messages.ts';
import { type PostedAnswer, post } from './post.ts';
import { seeded } from './seeded.ts';

const SENDERS = 6;

/** One content under one id, in the wire forms that were sent of it: those after the first are rebuilt. */
export interface Correspondence {
  readonly messageId: string;
  readonly payloadSha256: string;
  readonly forms: { readonly message: TestMessage; readonly answers: Set<string> }[];
}

/** Senders of the patient kind: each sends new messages, rebuilds and repeats old ones, and tries again until it has an answer. */
export class Traffic {
  readonly #sender = new TestSender();
  readonly correspondences: Correspondence[] = [];
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });
  readonly #random: () => number;
  readonly #pause: number;
  #urls: readonly string[] = [];
  #stopped = false;
  /** What must never be: an answer that is no receipt for its message, or a second one. */
  readonly faults: string[] = [];
  /** Final answers that came. */
  answered = 0;
  /** Attempts that had none. */
  broken = 0;

  /** @param pause milliseconds that each sender rests at most between two messages */
  constructor(seed: number, pause: number) {
    this.#random = seeded(seed);
    this.#pause = pause;
  }

  /** Where receivers are now. */
  goesTo(urls: readonly string[]): void {
    this.#urls = urls;
  }

  run(): Promise<unknown> {
    return Promise.all(Array.from({ length: SENDERS }, () => this.#work()));
  }

  stop(): void {
    this.#stopped = true;
    this.#urls = [];
  }

  close(): void {
    this.#agent.destroy();
  }

  async #work(): Promise<void> {
    while (!this.#stopped) {
      await sleep(this.#random() * this.#pause);
      const chance = this.#random();
      const known = this.correspondences[Math.floor(this.#random() * this.correspondences.length)];
      if (chance < 0.55 || known === undefined) await this.#sendNew();
      else if (chance < 0.65 && known.forms.length < 3) await this.#rebuild(known);
      else await this.send(known, known.forms[Math.floor(this.#random() * known.forms.length)]);
    }
  }

  async #sendNew(): Promise<void> {
    const size = this.#random();
    // Mostly what fits into a row of the database; some have a content file, and of those some stream.
    const bytes = size < 0.95 ? 2_000 : size < 0.98 ? 400_000 : 1_200_000;
    const message = await this.#sender.message({ bytes });
    const { messageId, payloadSha256 } = message;
    const one: Correspondence = { messageId, payloadSha256, forms: [] };
    this.correspondences.push(one);
    await this.#sendForm(one, message);
  }

  async #rebuild(one: Correspondence): Promise<void> {
    const [form] = one.forms;
    if (form !== undefined) await this.#sendForm(one, await this.#sender.message(form.message));
  }

  async #sendForm(one: Correspondence, message: TestMessage): Promise<void> {
    const form = { message, answers: new Set<string>() };
    one.forms.push(form);
    await this.send(one, form);
  }

  /** Again and again until there is an answer that is final for a sender. */
  async send(one: Correspondence, form = one.forms[0]): Promise<void> {
    if (form === undefined) return;
    for (;;) {
      const url = this.#urls[Math.floor(this.#random() * this.#urls.length)];
      const answer = url === undefined ? null : await post(url, form.message, this.#agent).catch(() => null);
      if (answer !== null && answer.status !== 503) return this.#judge(form, answer);
      if (url !== undefined) this.broken++;
      if (this.#stopped && this.#urls.length === 0) return;
      await sleep(10);
    }
  }

  #judge({ message, answers }: Correspondence['forms'][number], answer: PostedAnswer): void {
    const text = `${answer.status} ${answer.contentType}\n${answer.body}`;
    this.answered++;
    if (answers.has(text)) return;
    const { receipt, verified } = this.#sender.judge(answer.body, message);
    if (!receipt || !verified) this.faults.push(`${message.messageId} got ${text}`);
    if (answers.size > 0) this.faults.push(`${message.messageId} got a second receipt`);
    answers.add(text);
  }
}
