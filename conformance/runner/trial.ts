import { readAnswer, type Signal } from '../answer/read-answer.ts';
import { Failure } from '../failure.ts';
import { type MadeMessage, type MessageSpec, makeMessage } from '../message.ts';
import type { Target } from '../target/target.ts';
import { type Cut, post, postAndLose, type WireAnswer } from '../wire/post.ts';
import type { WireOptions } from '../wire/request.ts';
import { sha256Of } from './inbox.ts';
import { type ErrorDemand, judgeError, judgeNoSignal, judgeReceipt, judgeSame, type Reply } from './judge.ts';

/** A request and what came back, for the report. */
export interface Exchange {
  readonly url: URL;
  readonly message: MadeMessage;
  readonly wire: WireOptions;
  readonly answer: WireAnswer | null;
}

/** What must be in the folder once everything has settled. */
export interface DeliveryDemand {
  readonly target: Target;
  readonly message: MadeMessage;
  readonly copies: number;
  readonly warning: boolean;
  /** Also look whether the MessageId is mentioned: for a message that must leave nothing. */
  readonly unmentioned: boolean;
}

/** A signal that came back during the run. */
export interface SeenSignal {
  readonly answer: WireAnswer;
  readonly signal: Signal;
  readonly at: number;
  readonly exchange: Exchange;
}

/** What a case works with: it makes messages, sends them and asserts. Each case has one of its own. */
export class Trial {
  readonly target: Target;
  readonly exchanges: Exchange[] = [];
  readonly demands: DeliveryDemand[] = [];
  /** All signals of the run, of all cases. */
  readonly seen: SeenSignal[];

  constructor(target: Target, seen: SeenSignal[]) {
    this.target = target;
    this.seen = seen;
  }

  make(spec: MessageSpec = {}, target: Target = this.target): MadeMessage {
    return makeMessage(target, spec);
  }

  /** Sends a message as its `wire` says. */
  async send(message: MadeMessage, wire: WireOptions = {}, target: Target = this.target): Promise<Reply> {
    const { url } = target;
    const all = { ...usualWire(target), ...message.wire, ...wire };
    let answer: WireAnswer;
    try {
      answer = await post(url, message, all);
    } catch (error) {
      this.exchanges.push({ url, message, wire: all, answer: null });
      throw error;
    }
    const exchange = { url, message, wire: all, answer };
    this.exchanges.push(exchange);
    const read = readAnswer(answer, target.receiver);
    if ('signal' in read) this.seen.push({ answer, signal: read.signal, at: Date.now(), exchange });
    return { ...answer, read };
  }

  /** Sends a message and loses its answer after the receiver has made it; the octets up to the cut. */
  async sendAndLose(message: MadeMessage, cut: Cut): Promise<Buffer> {
    const [payload] = message.payloads;
    const { inbox, url } = this.target;
    const wire = { ...usualWire(this.target), ...message.wire };
    this.exchanges.push({ url, message, wire, answer: null });
    const committed = async (): Promise<void> => {
      // Nothing is read, so the folder has to say when the receiver has answered; without one, time has.
      if (inbox !== null && payload !== undefined) await inbox.waitFor(sha256Of(payload), 10_000);
      else await new Promise((resolve) => setTimeout(resolve, 2_000));
    };
    return await postAndLose(url, message, cut, committed, wire);
  }

  receipt(reply: Reply, message: MadeMessage): Signal {
    return judgeReceipt(reply, message);
  }

  error(reply: Reply, message: MadeMessage, demand: ErrorDemand): Signal {
    return judgeError(reply, message, demand);
  }

  noSignal(reply: Reply, statuses: readonly number[]): void {
    judgeNoSignal(reply, statuses);
  }

  same(first: Reply, second: Reply): void {
    judgeSame(first, second);
  }

  /** Sends and wants a receipt; the way most cases begin. */
  async accepted(message: MadeMessage, wire: WireOptions = {}): Promise<Reply> {
    const reply = await this.send(message, wire);
    this.receipt(reply, message);
    return reply;
  }

  /** The folder must have each payload of the message so many times at the end of the run. */
  delivered(message: MadeMessage, copies: number, o: { warning?: boolean; target?: Target } = {}): void {
    const { warning = false, target = this.target } = o;
    this.demands.push({ target, message, copies, warning, unmentioned: false });
  }

  /** The folder must have nothing of the message, not even its MessageId. */
  nothing(message: MadeMessage, target: Target = this.target): void {
    this.demands.push({ target, message, copies: 0, warning: false, unmentioned: true });
  }

  fail(kind: ConstructorParameters<typeof Failure>[0], message: string): never {
    throw new Failure(kind, message);
  }
}

function usualWire({ tlsCa, timeout }: Target): WireOptions {
  return { ca: tlsCa, ...(timeout === undefined ? {} : { timeout }) };
}
