import { randomBytes, randomUUID } from 'node:crypto';
import type { PayloadOptions } from '../../fixtures/sender/options.ts';
import { freshSlip, type MadeMessage, type MessageSpec, makeMessage } from '../message.ts';
import { sha256Of } from '../runner/inbox.ts';
import type { Target } from '../target/target.ts';
import type { SentForm, SentMessage } from './balance.ts';

/** A form as it goes over the wire. What it weighs may be dropped when it is not sent any more. */
export interface Form extends SentForm {
  readonly message: MadeMessage;
  readonly receipts: Set<string>;
  /** What its ids and its time come from. */
  readonly seed: string;
  readonly timestamp: string;
}

/** What the balance remembers of a message that is not sent any more. */
export interface Account extends SentMessage {
  forms: readonly SentForm[];
  pending: boolean;
}

/** One document under one MessageId, and the ways that its sender has sent it. */
export class Correspondence {
  readonly account: Account;
  readonly forms: Form[] = [];
  /** Connections that it is being sent on. */
  underWay = 0;
  readonly #target: Target;
  readonly #document: MessageSpec;

  constructor(target: Target, random: () => number) {
    this.#target = target;
    const chance = random();
    // Mostly what fits into a row of a database; now and then what a receiver may rather keep in a file, or take as a stream.
    const more = chance < 0.85 ? [] : [chance < 0.97 ? freshSlip() : noise(chance < 0.99 ? 300_000 : 1_500_000)];
    this.#document = {
      header: { messageId: `${randomUUID()}@chaos.example` },
      sbd: { instanceIdentifier: randomUUID(), created: new Date().toISOString() },
      payload: { compress: random() < 0.9 },
      more,
      ...(random() < 0.2 ? { wire: { chunked: 1 + Math.floor(random() * 4000) } } : {}),
    };
    this.account = { messageId: this.#document.header?.messageId ?? '', forms: this.forms, pending: true };
  }

  /** The document once more under other ids: what is signed is another reference set. */
  rebuild(): Form {
    return this.#make(randomUUID(), new Date().toISOString());
  }

  /** A form of before, encrypted anew: what is signed stays the same. */
  encryptAgain({ seed, timestamp }: Form): Form {
    return this.#make(seed, timestamp);
  }

  /** Forgets everything but what the balance must know: a long run has many messages. */
  close(): void {
    this.account.forms = this.forms.map(({ references, payloads, receipts }) => ({ references, payloads, receipts }));
    this.forms.length = 0;
  }

  #make(seed: string, timestamp: string): Form {
    let count = 0;
    const message = makeMessage(this.#target, {
      ...this.#document,
      header: { ...this.#document.header, timestamp },
      newId: () => `${seed}-${++count}`,
    });
    const payloads = message.payloads.map(sha256Of);
    const form = { message, seed, timestamp, payloads, references: referenceSet(message), receipts: new Set<string>() };
    this.forms.push(form);
    return form;
  }
}

/** The reference set as text. */
export function referenceSet({ references }: Pick<MadeMessage, 'references'>): string {
  return sha256Of(Buffer.from(JSON.stringify(references)));
}

function noise(octets: number): PayloadOptions {
  return { content: randomBytes(octets), mimeType: 'application/pdf' };
}
