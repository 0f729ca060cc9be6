import { expect } from 'vitest';
import type { Model } from './model.ts';
import type { Invariants } from './model-invariants.ts';
import type { Step } from './model-steps.ts';
import type { ModelStore } from './model-store.ts';
import { actor } from './operator.ts';

/** A step of an operator, of the delivery or of the backend. */
export type OrderStep = Extract<
  Step,
  { readonly do: 'review' | 'reviewHeld' | 'redeliver' | 'deliver' | 'event' | 'acknowledge' }
>;

/** Does it to the store and to the model; what one of them refuses the other one must refuse as well. */
export async function order(step: OrderStep, store: ModelStore, model: Model, invariants: Invariants): Promise<void> {
  const call = store.call.bind(store);
  const now = store.clock.now();
  if (step.do === 'reviewHeld') {
    const copy = at(model.held, step.nth);
    if (copy === undefined) return;
    const id = `held-${invariants.heldRow(copy)}`;
    const outcome = await call('review', () => ({ id, action: step.action, actor, now }));
    const made = model.decideHeld(copy, step.action, now);
    expect(outcome.kind).toBe(made === 'refused' ? 'refused' : 'done');
    if (typeof made === 'object' && made !== null && outcome.kind === 'done') {
      made.row = outcome.message;
      for (const [refs, receipt] of copy.receipts) made.receipts.set(refs, receipt);
    }
    return;
  }
  if (step.do === 'review' || step.do === 'redeliver') {
    const message = at(model.messages, step.nth);
    if (message === undefined) return;
    const id = String(message.row);
    const [outcome, done] =
      step.do === 'review'
        ? [await call('review', () => ({ id, action: step.action, actor, now })), model.order(message, step.action)]
        : [await call('redeliver', () => ({ id, actor, now })), model.redeliver(message)];
    expect(outcome.kind).toBe(done ? 'done' : 'refused');
    return;
  }
  const one = at(model.handOvers, step.nth);
  if (one === undefined) return;
  const { number } = one;
  const directory = `20261130_m_${number}`;
  const start = () => call('startHandingOver', () => ({ rows: [{ number, directory }], bootId: 'boot', at: now }));
  if (step.do === 'event' && step.begun) expect((await start()).length === 1).toBe(model.apply(one, 'handOver'));
  if (step.do === 'acknowledge') {
    const byDirectory = step.by === 'directory' && invariants.directoryOf(number) !== null;
    const id = byDirectory ? directory : String(one.message.row);
    const outcome = await call('acknowledge', () => ({ id, actor: null, now }));
    const done = byDirectory ? model.apply(one, 'acknowledge') : model.acknowledge(one.message);
    expect(outcome.kind).toBe(done ? 'done' : 'refused');
  } else if (step.do === 'deliver' || (step.do === 'event' && step.event === 'handOver')) {
    expect((await start()).length === 1).toBe(model.apply(one, 'handOver'));
    if (step.do !== 'deliver') return;
    await call('delivered', () => ({ numbers: [number], at: now }));
    model.apply(one, 'delivered');
  } else if (step.do === 'event' && step.event === 'fail') {
    for (let i = 0; i < step.times; i++) {
      await call('failed', () => ({ number, error: 'no room', at: now }));
      model.fail(one);
    }
  } else if (step.do === 'event' && step.event === 'delivered') {
    await call('delivered', () => ({ numbers: [number], at: now }));
    model.apply(one, 'delivered');
  } else if (step.do === 'event') {
    await call('transition', () => ({ number, event: step.event, at: now }));
    model.apply(one, step.event);
  }
}

/** The n-th of those there are, counting round. */
export const at = <T>(all: readonly T[], nth: number): T | undefined => all[all.length === 0 ? 0 : nth % all.length];
