import type { HandOverEvent } from '../states.ts';
import type { HandOverState } from '../types.ts';
import type { Form } from './model.ts';

export interface ModelHandOver {
  state: HandOverState;
  /** Row in the outbox, once it is known. */
  number: number;
  readonly redelivery: number;
  attempts: number;
  /** The backend may have seen it, although it is not marked delivered. */
  maybeSeen: boolean;
  readonly message: ModelMessage;
}
export interface ModelMessage {
  readonly form: Form;
  readonly base: number;
  readonly end: number;
  readonly at: number;
  /** Row in the database, once it is known. */
  row: number;
  readonly receipts: Map<string, string>;
  readonly handOvers: ModelHandOver[];
  /** Its MessageId is forgotten, or belongs to a newer message. */
  expired: boolean;
  payloadAt: number;
  payload: boolean;
  gone: boolean;
}
export type Orders = 'approve' | 'reject' | 'confirm';

/** The life of a hand-over (architecture §4), drawn as arrows. */
const arrows: Readonly<Record<string, string>> = {
  'received handOver': 'handingOver',
  'handingOver delivered': 'delivered',
  'delivered delivered': 'delivered',
  'acknowledged delivered': 'acknowledged',
  'handingOver acknowledge': 'acknowledged',
  'delivered acknowledge': 'acknowledged',
  'acknowledged acknowledge': 'acknowledged',
  'unknown acknowledge': 'acknowledged',
  'received fail': 'received',
  'handingOver fail': 'received',
  'received giveUp': 'undeliverable',
  'handingOver giveUp': 'undeliverable',
  'received lost': 'unknown',
  'handingOver lost': 'unknown',
  'received restored': 'unknown',
  'handingOver restored': 'unknown',
  'handingOver redeliverAfterPowerLoss': 'received',
  'handingOver reviewAfterPowerLoss': 'review',
  'review release': 'received',
  'unknown release': 'received',
  'undeliverable release': 'received',
  'review reject': 'rejected',
  'unknown reject': 'rejected',
  'undeliverable reject': 'rejected',
  'unknown confirm': 'delivered',
  'received supersede': 'superseded',
  'review supersede': 'superseded',
};
const done: readonly HandOverState[] = ['delivered', 'acknowledged', 'rejected', 'superseded'];

export const isOpen = (h: ModelHandOver): boolean => !done.includes(h.state);
/** Nothing of it waits for anybody. */
export const settled = (m: ModelMessage): boolean => !m.handOvers.some(isOpen);

/** The part of the model that is about hand-overs and what operators do with them. */
export abstract class ModelHandOvers {
  readonly messages: ModelMessage[] = [];

  get handOvers(): ModelHandOver[] {
    return this.messages.filter((m) => !m.gone).flatMap((m) => m.handOvers);
  }

  protected abstract rejected(message: ModelMessage): void;
  protected abstract redelivered(message: ModelMessage): void;

  protected add(form: Form, base: number, end: number, at: number): ModelMessage {
    const fate = { expired: false, payloadAt: at, payload: true, gone: false };
    const message: ModelMessage = { form, base, end, at, row: 0, receipts: new Map(), handOvers: [], ...fate };
    this.messages.push(message);
    return message;
  }

  protected wait(message: ModelMessage, state: 'received' | 'review'): ModelHandOver {
    const redelivery = (message.handOvers.at(-1)?.redelivery ?? -1) + 1;
    const one: ModelHandOver = { state, number: 0, redelivery, attempts: 0, maybeSeen: false, message };
    message.handOvers.push(one);
    return one;
  }

  /** @returns whether there is such an arrow; what is repeated, late or out of order changes nothing */
  apply(h: ModelHandOver, event: HandOverEvent): boolean {
    const next = arrows[`${h.state} ${event}`] as HandOverState | undefined;
    if (next === undefined) return false;
    h.state = next;
    if (/lost|restored|PowerLoss/.test(event)) h.maybeSeen = true;
    return true;
  }

  fail(h: ModelHandOver): void {
    if (this.apply(h, h.attempts + 1 >= 5 ? 'giveUp' : 'fail')) h.attempts++;
  }

  order(message: ModelMessage, action: Orders): boolean {
    const waiting = message.handOvers.find((h) => ['review', 'unknown', 'undeliverable'].includes(h.state));
    if (waiting === undefined || message.gone) return false;
    if (!this.apply(waiting, ({ approve: 'release', reject: 'reject', confirm: 'confirm' } as const)[action]))
      return false;
    if (action === 'approve') waiting.attempts = 0;
    if (action === 'reject' && !waiting.maybeSeen) this.rejected(message);
    return true;
  }

  redeliver(message: ModelMessage): boolean {
    if (message.gone || message.form.purpose === 'test' || !message.payload || !settled(message)) return false;
    // A suppressed message has had no hand-over: its first one is a redelivery all the same.
    if (message.handOvers.length > 0) this.wait(message, 'received');
    else
      message.handOvers.push({ state: 'received', number: 0, redelivery: 1, attempts: 0, maybeSeen: false, message });
    this.redelivered(message);
    return true;
  }

  /** By the message: the newest hand-over that the backend can have got. */
  acknowledge(message: ModelMessage): boolean {
    const newest = [...message.handOvers].reverse();
    const seen = newest.find((h) => h.state === 'delivered' || h.state === 'acknowledged');
    const one = seen ?? newest.find((h) => h.state === 'handingOver' || h.state === 'unknown') ?? newest[0];
    return !message.gone && one !== undefined && this.apply(one, 'acknowledge');
  }
}
