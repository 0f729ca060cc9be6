import { expect } from 'vitest';
import type { NewMessage, StoredAnswer } from '../types.ts';
import { type Form, type FormKey, idOf, Model, type Policy } from './model.ts';
import { ModelDoubt } from './model-doubt.ts';
import type { ModelMessage } from './model-hand-overs.ts';
import { type Given, Invariants } from './model-invariants.ts';
import type { FormStep, Path, Step } from './model-steps.ts';
import { Crash, type ModelStore } from './model-store.ts';
import { actor } from './operator.ts';
import { day, sampleMessage, sha256 } from './sample.ts';

export const retention = { payload: 30 * day, evidence: 200 * day };
const content = Buffer.alloc(64, 'x');

/** Goes through one sequence with the store and with the model, and compares them after every step. */
export class ModelRun {
  readonly #store: ModelStore;
  readonly #model: Model;
  readonly #doubt: ModelDoubt;
  readonly #prefix: string;
  readonly #saw: (what: string) => void;
  readonly #forms: Form[] = [];
  readonly #given = new Map<string, Given>();
  readonly #invariants: Invariants;
  #attempts = 0;

  /** @param saw is told what came to pass, so that a test can demand that everything did */
  constructor(store: ModelStore, policy: Policy, prefix: string, saw: (what: string) => void) {
    this.#saw = saw;
    this.#store = store;
    this.#model = new Model(policy);
    this.#doubt = new ModelDoubt(store.clock.now());
    this.#prefix = prefix;
    this.#invariants = new Invariants(
      store,
      this.#model,
      [0, 1].map((n) => `${prefix}${n}`),
    );
  }

  async step(step: Step): Promise<void> {
    await this.#do(step);
    this.#saw(step.do);
    if (this.#doubt.doubt !== null) this.#saw('doubt');
    for (const { state } of this.#model.handOvers) this.#saw(state);
    await this.#invariants.check([...this.#given.values()], this.#judged());
  }

  async #do(step: Step): Promise<unknown> {
    const { clock } = this.#store;
    switch (step.do) {
      case 'send':
        return this.#arrive(this.#form(step.form), step.path);
      case 'again': {
        const form = at(this.#forms, step.nth);
        for (let i = 0; form !== undefined && i < step.times; i++) await this.#arrive(form, step.path);
        return;
      }
      case 'rebuild': {
        const form = at(this.#forms, step.nth);
        return form && this.#arrive(this.#rebuilt(form, step.newId), step.path);
      }
      case 'crash':
        return this.#crash(step);
      case 'pass':
        clock.pass(step.days * day);
        return this.#tick();
      case 'jump':
        clock.offset += step.days * day;
        return this.#tick();
      case 'back':
        clock.offset = 0;
        return this.#tick();
      case 'clockIsRight':
        await this.#store.clockIsRight('Alice');
        return this.#doubt.trust(clock.now(), clock.offset);
      case 'purge':
        return this.#purge();
      default:
        return this.#operate(step);
    }
  }

  async #operate(step: Extract<Step, { readonly nth: number }>): Promise<unknown> {
    const { call, clock } = { call: this.#store.call.bind(this.#store), clock: this.#store.clock };
    const now = clock.now();
    if (step.do === 'reviewHeld') {
      const copy = at(this.#model.held, step.nth);
      if (copy === undefined) return;
      const id = `held-${this.#invariants.heldRow(copy)}`;
      const outcome = await call('review', () => ({ id, action: step.action, actor, now }));
      const made = this.#model.decideHeld(copy, step.action, now);
      expect(outcome.kind).toBe(made === 'refused' ? 'refused' : 'done');
      if (typeof made === 'object' && made !== null && outcome.kind === 'done') {
        made.row = outcome.message;
        for (const [refs, receipt] of copy.receipts) made.receipts.set(refs, receipt);
      }
      return;
    }
    if (step.do === 'review' || step.do === 'redeliver') {
      const message = at(this.#model.messages, step.nth);
      if (message === undefined) return;
      const id = String(message.row);
      const [outcome, done] =
        step.do === 'review'
          ? [
              await call('review', () => ({ id, action: step.action, actor, now })),
              this.#model.order(message, step.action),
            ]
          : [await call('redeliver', () => ({ id, actor, now })), this.#model.redeliver(message)];
      return expect(outcome.kind).toBe(done ? 'done' : 'refused');
    }
    const one = at(this.#model.handOvers, step.nth);
    if (one === undefined) return;
    const { number } = one;
    const directory = `20261130_m_${number}`;
    const start = () => call('startHandingOver', () => ({ rows: [{ number, directory }], bootId: 'boot', at: now }));
    if (step.do === 'event' && step.begun)
      expect((await start()).length === 1).toBe(this.#model.apply(one, 'handOver'));
    if (step.do === 'acknowledge') {
      const byDirectory = step.by === 'directory' && this.#invariants.directoryOf(number) !== null;
      const id = byDirectory ? directory : String(one.message.row);
      const outcome = await call('acknowledge', () => ({ id, actor: null, now }));
      const done = byDirectory ? this.#model.apply(one, 'acknowledge') : this.#model.acknowledge(one.message);
      expect(outcome.kind).toBe(done ? 'done' : 'refused');
    } else if (step.do === 'deliver' || (step.do === 'event' && step.event === 'handOver')) {
      expect((await start()).length === 1).toBe(this.#model.apply(one, 'handOver'));
      if (step.do !== 'deliver') return;
      await call('delivered', () => ({ numbers: [number], at: now }));
      this.#model.apply(one, 'delivered');
    } else if (step.do === 'event' && step.event === 'fail') {
      await call('failed', () => ({ number, error: 'no room', at: now }));
      this.#model.fail(one);
    } else if (step.do === 'event' && step.event === 'delivered') {
      await call('delivered', () => ({ numbers: [number], at: now }));
      this.#model.apply(one, 'delivered');
    } else if (step.do === 'event') {
      await call('transition', () => ({ number, event: step.event, at: now }));
      this.#model.apply(one, step.event);
    }
  }

  /** As a running receiver does each hour, and purge each day. */
  async #tick(): Promise<void> {
    const { clock } = this.#store;
    this.#doubt.look(clock.now(), clock.offset);
    await this.#store.beat();
    this.#doubt.beat(clock.now());
    expect(this.#store.doubted).toBe(this.#doubt.doubt !== null);
  }

  async #purge(): Promise<void> {
    if (this.#store.doubted) return;
    await this.#store.purge(retention.payload, retention.evidence);
    this.#model.purge(this.#store.clock.now(), retention.payload, retention.evidence);
  }

  async #crash({ at: point, off, form, nth }: Extract<Step, { do: 'crash' }>): Promise<void> {
    const one = (nth === null ? undefined : at(this.#forms, nth)) ?? this.#form(form);
    if (point !== null) {
      this.#store.crashAt(point);
      await this.#arrive(one, 'references', point);
    }
    await this.#store.restart(off * day);
    const { clock } = this.#store;
    this.#doubt.restart(clock.now(), clock.offset);
    expect(this.#store.doubted).toBe(this.#doubt.doubt !== null);
  }

  #judged(): number {
    const judged = this.#doubt.judged(this.#store.clock.now());
    expect(this.#store.judged()).toBe(judged);
    return judged;
  }

  /** The journey of one copy, as far as it needs the store (architecture §2, steps 2, 6 and 10). */
  async #arrive(form: Form, path: Path, crash: 'before-commit' | 'after-commit' | null = null): Promise<void> {
    const { clock } = this.#store;
    const [now, judged] = [clock.now(), this.#judged()];
    const receipt = `receipt ${++this.#attempts} of ${form.refs}`;
    const message = this.#message(form, receipt, now);
    const expected = this.#model.receiptOf(form, judged);
    const found = await this.#recall(form, message, path, judged);
    expect(found).toBe(expected);
    const copies = path === 'race' && found === null ? 2 : 1;
    for (let copy = 0; copy < copies; copy++) {
      try {
        if (found === null) await this.#accept(form, message, receipt, now, judged, crash);
        else {
          const row = this.#model.holders.get(idOf(form))!.row;
          this.#give(form, found);
          await this.#suppress(message, row, now);
          this.#invariants.suppressed(row);
        }
      } catch (error) {
        if (!(error instanceof Crash)) throw error;
        // What was committed is there, although nobody was told; the rest never was.
        const holder = this.#model.holders.get(idOf(form));
        if (crash === 'after-commit' && found !== null) this.#invariants.suppressed(holder!.row);
        if (crash === 'after-commit' && found === null) this.#happened(form, receipt, now, judged);
      }
    }
  }

  async #recall(form: Form, message: NewMessage, path: Path, judged: number): Promise<string | null> {
    const { call } = { call: this.#store.call.bind(this.#store) };
    const { window } = this.#model.policy;
    if (path === 'body') {
      const known = await call('findRequest', (add) => ({ digest: add(message.requestDigest!), now: judged, window }));
      if (known !== null)
        expect({ sender: known.sender, id: known.messageId }).toEqual({ sender: form.sender, id: form.messageId });
    }
    const { sender, messageId } = form;
    const key = (add: (bytes: Uint8Array) => number) => ({
      sender,
      messageId,
      referenceSet: add(message.referenceSet),
      now: judged,
      window,
    });
    const found = await call('find', key);
    return found?.receipt ? text(found.receipt) : null;
  }

  async #accept(
    form: Form,
    message: NewMessage,
    receipt: string,
    now: number,
    judged: number,
    crash: string | null,
  ): Promise<void> {
    const outcome = await this.#store.accept(message);
    if (crash !== null) this.#store.crashAt(null);
    const expected = this.#happened(form, receipt, now, judged);
    expect(outcome.kind).toBe(expected.kind === 'duplicate' && outcome.kind === 'held' ? 'held' : expected.kind);
    if ('id' in outcome && expected.message !== null) {
      if (expected.message.row === 0) expected.message.row = outcome.id;
      expect(outcome.id).toBe(expected.message.row);
    }
    if (expected.answer === null) return;
    const answer = 'answer' in outcome && outcome.answer !== null ? text(outcome.answer) : receipt;
    expect(answer).toBe(expected.answer);
    this.#give(form, answer);
    if (outcome.kind !== 'duplicate') return;
    await this.#suppress(message, outcome.id, now);
    this.#invariants.suppressed(outcome.id);
  }

  #happened(form: Form, receipt: string, now: number, judged: number) {
    const expected = this.#model.arrive(form, receipt, now, judged);
    const { kind, message } = expected;
    this.#saw(kind);
    if (message !== null && message.row === 0) message.row = this.#invariants.rowOf(message.form);
    if (kind === 'rebuilt' || kind === 'conflict' || kind === 'held') this.#invariants.suppressed(message!.row);
    if (kind === 'duplicate' && !message!.receipts.has(form.refs)) this.#invariants.suppressed(message!.row);
    if (kind === 'suppressed') this.#invariants.suppressedAsInterchange(message!.row);
    if (message !== null && (kind === 'accepted' || kind === 'suppressed')) this.#invariants.accepted(message, judged);
    return expected;
  }

  #suppress(message: NewMessage, id: number, at: number): Promise<null> {
    const { sender, messageId, remoteAddress } = message;
    return this.#store.call('suppress', (add) => ({
      ...{ sender, messageId, id, at, remoteAddress, fingerprint: message.signer.fingerprint, how: 'same-references' },
      ...{ referenceSet: add(message.referenceSet), requestDigest: add(message.requestDigest!) },
    }));
  }

  /** It went out to the sender. */
  #give(form: Form, answer: string): void {
    const holder = this.#model.holders.get(idOf(form))!;
    const before = this.#given.get(form.refs);
    if (before?.holder === holder) expect(answer).toBe(before.answer);
    this.#given.set(form.refs, { form, holder, answer, referenceSet: sha256(form.refs) });
  }

  #form({ sender: s, id, content: c, instance, interchanges, age, purpose }: FormStep): Form {
    const n = this.#forms.length;
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
    const timestamp = this.#store.clock.now() - age * day;
    const messageId = id === null ? own : `${this.#prefix} ${id}`;
    const form: Form = { refs: `${own} refs`, sender, messageId, content, timestamp, purpose, keys };
    this.#forms.push(form);
    return form;
  }

  /** The same business under new headers; a gateway also draws a new MessageId. */
  #rebuilt(form: Form, newId: boolean): Form {
    const own = `${this.#prefix} own ${this.#forms.length}`;
    const keys = form.keys.map((k) => (k.layer === 'sbdh' ? { ...k, name: `${form.sender} sbdh ${own}` } : k));
    const again: Form = {
      ...form,
      refs: `${own} refs`,
      messageId: newId ? own : form.messageId,
      timestamp: this.#store.clock.now(),
      keys,
    };
    this.#forms.push(again);
    return again;
  }

  #message(form: Form, receipt: string, now: number): NewMessage {
    const { sender, messageId, purpose, timestamp, refs, keys } = form;
    const { policy } = this.#model;
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

const text = (answer: StoredAnswer): string => Buffer.from(answer.body).toString();
const at = <T>(all: readonly T[], nth: number): T | undefined => all[all.length === 0 ? 0 : nth % all.length];

export type { ModelMessage };
