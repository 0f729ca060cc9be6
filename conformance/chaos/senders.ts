import { setTimeout as sleep } from 'node:timers/promises';
import { readAnswer } from '../answer/read-answer.ts';
import { Failure } from '../failure.ts';
import { sha256Of } from '../runner/inbox.ts';
import { judgeReceipt } from '../runner/judge.ts';
import type { Target } from '../target/target.ts';
import { parseAnswer } from '../wire/head.ts';
import { post, type WireAnswer } from '../wire/post.ts';
import { type Account, Correspondence, type Form, referenceSet } from './correspondence.ts';

/** So long a sender waits for an answer, in ms: longer than any delay of the proxy, shorter than it takes to be a nuisance. */
const PATIENCE = 5_000;
/** So many messages a run can still repeat and rebuild. */
const REMEMBERED = 300;

export interface SendersOptions {
  readonly target: Target;
  /** Where they send to. */
  readonly url: URL;
  /** One for each sender. */
  readonly randoms: readonly (() => number)[];
}

/** Senders that send new messages, repeat, encrypt again and rebuild old ones, and try each until they hold a verified receipt. */
export class Senders {
  /** Of every message that was ever sent. */
  readonly accounts: Account[] = [];
  /** What must never come: an error signal, a receipt that does not fit, no receipt although there was no fault on the way. */
  readonly faults: string[] = [];
  /** What senders were told instead of a receipt, and how often. */
  readonly refusals = new Map<string, number>();
  readonly counts = { receipts: 0, overheard: 0, attempts: 0, broken: 0, refused: 0, rebuilt: 0, encryptedAgain: 0 };
  readonly #options: SendersOptions;
  readonly #open: Correspondence[] = [];
  readonly #bySet = new Map<string, Set<string>>();
  #stopped = false;

  constructor(options: SendersOptions) {
    this.#options = options;
  }

  /** Resolves after `stop`, once each has ended what it was about. */
  async run(): Promise<void> {
    await Promise.all(this.#options.randoms.map((random) => this.#work(random)));
  }

  stop(): void {
    this.#stopped = true;
  }

  /** What the receiver answered to a copy that no sender knows of: a receipt in it is as good as any. */
  overhear(octets: Buffer): void {
    const answer = parseAnswer(octets, true);
    if (answer === null || answer.length === null || answer.body.length === 0) return;
    const read = readAnswer(answer, this.#options.target.receiver);
    if (!('signal' in read) || read.signal.receipt === null) return;
    const receipts = this.#bySet.get(referenceSet(read.signal.receipt));
    if (receipts === undefined) {
      this.faults.push(`a receipt for references that nobody has sent: ${read.signal.messageId}`);
    } else if (read.signal.fault !== null) this.faults.push(`a receipt that proves nothing: ${read.signal.fault}`);
    else {
      receipts.add(fingerprint(answer));
      this.counts.overheard += 1;
    }
  }

  /**
   * Without faults on the way now: what a sender still waits for it gets, and what can still be repeated gets its receipt again.
   * @param url the receiver itself
   */
  async settle(url: URL): Promise<void> {
    const left = this.#open.flatMap((one) => one.forms.map((form) => ({ one, form })));
    const next = async (): Promise<void> => {
      for (let each = left.pop(); each !== undefined; each = left.pop()) {
        const { one, form } = each;
        let why = await this.#attempt(url, one, form);
        // The machine may be slow, or the receiver busy.
        for (let tries = 1; why !== null && tries < 5; tries++) {
          await sleep(500);
          why = await this.#attempt(url, one, form);
        }
        if (why === null) continue;
        // It was told no, and must not be handed over.
        one.account.pending = false;
        this.faults.push(`${one.account.messageId}, sent again without any fault on its way, got no receipt: ${why}`);
      }
    };
    await Promise.all(Array.from({ length: 4 }, next));
    for (const one of this.#open.splice(0)) one.close();
  }

  async #work(random: () => number): Promise<void> {
    while (!this.#stopped) {
      await sleep(random() * 100);
      const chance = random();
      const known = this.#open[Math.floor(random() * this.#open.length)];
      const form = known?.forms[Math.floor(random() * known.forms.length)];
      if (chance < 0.55 || known === undefined || form === undefined) await this.#sendNew(random);
      else if (chance < 0.65 && known.forms.length < 4) {
        this.counts.rebuilt += 1;
        await this.#send(known, this.#register(known.rebuild()), random);
      } else if (chance < 0.75 && known.forms.length < 4) {
        this.counts.encryptedAgain += 1;
        await this.#send(known, this.#register(known.encryptAgain(form)), random);
      } else await this.#send(known, form, random);
    }
  }

  async #sendNew(random: () => number): Promise<void> {
    const one = new Correspondence(this.#options.target, random);
    const form = this.#register(one.rebuild());
    this.accounts.push(one.account);
    if (random() < 0.08) {
      await this.#giveUpSoon(one, form, random);
      return;
    }
    this.#open.push(one);
    const sending = [this.#send(one, form, random)];
    // Now and then one sender has two connections for one message, and sometimes the second one has it in another form.
    if (random() < 0.15) {
      sending.push(this.#send(one, random() < 0.5 ? form : this.#register(one.rebuild()), random));
    }
    await Promise.all(sending);
    this.#forgetOne(random);
  }

  /** A sender without patience: whether its message has arrived it may never know. */
  async #giveUpSoon(one: Correspondence, form: Form, random: () => number): Promise<void> {
    const tries = random() < 0.5 ? 1 : 2;
    for (let i = 0; i < tries; i++) if ((await this.#attempt(this.#options.url, one, form)) === null) break;
    one.close();
  }

  #register(form: Form): Form {
    if (!this.#bySet.has(form.references)) this.#bySet.set(form.references, form.receipts);
    return form;
  }

  #forgetOne(random: () => number): void {
    if (this.#open.length <= REMEMBERED) return;
    const at = Math.floor(random() * this.#open.length);
    const one = this.#open[at];
    if (one === undefined || one.underWay > 0) return;
    this.#open.splice(at, 1);
    one.close();
  }

  /** Again and again until there is a receipt; what the end of the run interrupts is left to `settle`. */
  async #send(one: Correspondence, form: Form, random: () => number): Promise<void> {
    one.underWay += 1;
    while (!this.#stopped && (await this.#attempt(this.#options.url, one, form)) !== null)
      await sleep(50 + random() * 300);
    one.underWay -= 1;
  }

  /** Null: the sender holds a receipt. Else why it does not. */
  async #attempt(url: URL, one: Correspondence, form: Form): Promise<string | null> {
    this.counts.attempts += 1;
    let answer: WireAnswer;
    try {
      answer = await post(url, form.message, { ...form.message.wire, timeout: PATIENCE });
    } catch (error) {
      this.counts.broken += 1;
      return (error as Error).message;
    }
    const known = fingerprint(answer);
    if (!form.receipts.has(known)) {
      const why = this.#judge(form, answer);
      if (why !== null) return why;
      form.receipts.add(known);
    }
    one.account.pending = false;
    this.counts.receipts += 1;
    return null;
  }

  #judge({ message }: Form, answer: WireAnswer): string | null {
    try {
      judgeReceipt({ ...answer, read: readAnswer(answer, this.#options.target.receiver) }, message);
      return null;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      // Whoever cannot read the whole request may say so, but not by a signal that its sender has to take for the end of the matter; and
      // a receipt that is not right has no excuse at all.
      if (error.kind === 'no-signal') {
        this.counts.refused += 1;
        this.refusals.set(error.message, (this.refusals.get(error.message) ?? 0) + 1);
      } else this.faults.push(`${message.messageId}: ${error.message}`);
      return error.message;
    }
  }
}

/** Equal for answers that are the same to the octet, Content-Type included. */
function fingerprint({ status, headers, body }: WireAnswer): string {
  return `${status} ${headers['content-type']} ${sha256Of(body)}`;
}
