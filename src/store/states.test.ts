import { describe, expect, test } from 'vitest';
import { type HandOverEvent, nextState, openStates, transitions } from './states.ts';
import type { HandOverState } from './types.ts';

const events: readonly HandOverEvent[] = [
  ...([
    'handOver',
    'delivered',
    'acknowledge',
    'fail',
    'giveUp',
    'redeliverAfterPowerLoss',
    'reviewAfterPowerLoss',
  ] as const),
  ...(['lost', 'restored', 'release', 'reject', 'supersede', 'confirm'] as const),
];

/** Written out a second time, pair by pair: a slip in the table shows as a difference. */
const allowed = new Set([
  'received handOver handingOver',
  'received fail received',
  'received giveUp undeliverable',
  'received lost unknown',
  'received restored unknown',
  'handingOver delivered delivered',
  'handingOver fail received',
  'handingOver giveUp undeliverable',
  'handingOver redeliverAfterPowerLoss received',
  'handingOver reviewAfterPowerLoss review',
  'handingOver lost unknown',
  'handingOver restored unknown',
  'delivered acknowledge acknowledged',
  'review release received',
  'review reject rejected',
  'review supersede superseded',
  'received supersede superseded',
  'handingOver acknowledge acknowledged',
  'delivered delivered delivered',
  'acknowledged acknowledge acknowledged',
  'acknowledged delivered acknowledged',
  'unknown release received',
  'unknown confirm delivered',
  'unknown acknowledge acknowledged',
  'unknown reject rejected',
  'undeliverable release received',
  'undeliverable reject rejected',
]);

describe('the states of a hand-over', () => {
  const states = Object.keys(transitions) as HandOverState[];

  test('exactly the listed pairs of state and event lead anywhere', () => {
    const found = new Set<string>();
    for (const state of states) {
      for (const event of events) {
        const next = nextState(state, event);
        if (next !== null) found.add(`${state} ${event} ${next}`);
      }
    }
    expect(found).toEqual(allowed);
  });

  test('what is delivered only ever becomes acknowledged, and other terminal states stay', () => {
    for (const state of ['rejected', 'superseded'] as const) expect(transitions[state]).toEqual({});
    expect(new Set(Object.values(transitions.acknowledged))).toEqual(new Set(['acknowledged']));
    expect(new Set(Object.values(transitions.delivered))).toEqual(new Set(['delivered', 'acknowledged']));
  });

  test('each state is either open or done for good', () => {
    const done = states.filter((s) => !(openStates as readonly string[]).includes(s));
    expect(done.sort()).toEqual(['acknowledged', 'delivered', 'rejected', 'superseded']);
  });
});
