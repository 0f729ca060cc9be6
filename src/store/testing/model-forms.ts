import type { NewMessage } from '../types.ts';
import type { Form, FormKey, Policy } from './model.ts';
import type { FormStep } from './model-steps.ts';
import type { ModelClock } from './model-store.ts';
import { day, sampleMessage, sha256 } from './sample.ts';

const content = Buffer.alloc(64, 'x');

/** What the senders of one sequence have made, and how it looks to the store. */
export class ModelForms {
  readonly all: Form[] = [];
  readonly #clock: ModelClock;
  readonly #policy: Policy;
  readonly #prefix: string;

  constructor(clock: ModelClock, policy: Policy, prefix: string) {
    this.#clock = clock;
    this.#policy = policy;
    this.#prefix = prefix;
  }

  fresh({ sender: s, id, content: c, instance, interchanges, age, purpose }: FormStep): Form {
    const n = this.all.length;
    const sender = `${this.#prefix}${s}`;
    const own = `${this.#prefix} own ${n}`;
    const ping = purpose === 'test';
    const inside = ping ? [] : interchanges;
    const content = ping ? 'nothing' : inside.length > 0 ? JSON.stringify(inside) : `${this.#prefix} content ${c}`;
    const keys: FormKey[] = ping
      ? []
      : [{ layer: 'sbdh', name: `${sender} sbdh ${instance ?? own}`, content, dateTime: null }];
    for (const { reference, order, dateTime } of inside) {
      const key = {
        layer: 'edifact',
        name: `${sender} edifact ${reference}`,
        content: `order ${order}`,
        dateTime: `${dateTime}`,
      } as const;
      if (!keys.some((k) => k.name === key.name && k.content === key.content)) keys.push(key);
    }
    const timestamp = this.#clock.now() - age * day;
    const messageId = id === null ? own : `${this.#prefix} ${id}`;
    const form: Form = { refs: `${own} refs`, sender, messageId, content, timestamp, purpose, keys };
    this.all.push(form);
    return form;
  }

  /** The same business under new headers; a gateway also draws a new MessageId. */
  rebuilt(form: Form, newId: boolean): Form {
    const own = `${this.#prefix} own ${this.all.length}`;
    const keys = form.keys.map((k) => (k.layer === 'sbdh' ? { ...k, name: `${form.sender} sbdh ${own}` } : k));
    const again: Form = {
      ...form,
      refs: `${own} refs`,
      messageId: newId ? own : form.messageId,
      timestamp: this.#clock.now(),
      keys,
    };
    this.all.push(again);
    return again;
  }

  message(form: Form, receipt: string, now: number): NewMessage {
    const { sender, messageId, purpose, timestamp, refs, keys } = form;
    const policy = this.#policy;
    const [sample] = sampleMessage(messageId).payloads;
    return sampleMessage(messageId, {
      ...{ sender, purpose, ebTimestamp: timestamp, receivedAt: now, window: policy.window, rebuilt: policy.rebuilt },
      ...{ conflict: policy.conflict, outsideWindow: policy.outsideWindow, staleTimestamp: policy.staleTimestamp },
      ...{ referenceSet: sha256(refs), contentDigest: sha256(form.content), requestDigest: sha256(`request ${refs}`) },
      payloads: [{ ...sample!, bytes: content.length, data: content }],
      envelope: Buffer.from(`<envelope ${refs}>`),
      receipt: { status: 200, contentType: 'application/soap+xml; charset=UTF-8', body: Buffer.from(receipt) },
      interchanges: {
        ...{ onConflict: policy.onConflict, replacePending: policy.replacePending },
        keys: keys.map((k) => ({
          ...{
            layer: k.layer,
            scope: sender,
            key: k.name,
            contentDigest: sha256(k.content),
            dateTime: k.dateTime,
            label: k.name,
          },
        })),
      },
    });
  }
}
