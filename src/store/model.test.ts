import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { ModelRun } from './testing/model-run.ts';
import { policies, type Step, steps } from './testing/model-steps.ts';
import { ModelStore } from './testing/model-store.ts';
import { day, noon } from './testing/sample.ts';

/**
 * Random sequences of arrivals, crashes, clock moves, purges, orders and hand-overs, against a reference model; each of the two tests
 * so many times:
 *
 *   QUITTANCE_MODEL_RUNS=5000 QUITTANCE_MODEL_SEED=42 npx vitest run src/store/model.test.ts
 */
const runs = Number(process.env.QUITTANCE_MODEL_RUNS ?? 800);
const fresh = Number(process.env.QUITTANCE_MODEL_SEED ?? Math.floor(Math.random() * 2 ** 31));
const window = 90 * day;
/** What must have come to pass in a run of some length. */
const everything = [
  ...['accepted', 'duplicate', 'rebuilt', 'conflict', 'held', 'stale', 'suppressed', 'doubt', 'crash', 'purge'],
  ...['received', 'handingOver', 'review', 'unknown', 'undeliverable'],
  ...['delivered', 'acknowledged', 'rejected', 'superseded'],
];
const stores: ModelStore[] = [];
afterEach(() => {
  for (const store of stores.splice(0)) store.close();
});

test.each([
  ['a seed that stays', 20261130],
  ['a fresh seed', fresh],
])(
  'whatever happens in whatever order, store and reference model agree and every promise holds (%s)',
  async (which, seed) => {
    const store = await ModelStore.open(noon, window);
    stores.push(store);
    let sequences = 0;
    let done = 0;
    const seen = new Map<string, number>();
    const saw = (what: string) => void seen.set(what, (seen.get(what) ?? 0) + 1);
    const begin = performance.now();
    const property = fc.asyncProperty(policies, steps, async (rules, sequence: Step[]) => {
      await store.refresh();
      const run = new ModelRun(store, { ...rules, window }, `POP${++sequences}-`, saw);
      for (const step of sequence) {
        await run.step(step);
        done++;
      }
    });
    await fc.assert(property, { seed, numRuns: runs });
    const seconds = ((performance.now() - begin) / 1000).toFixed(1);
    console.log(`model: seed ${seed} (${which}), ${sequences} sequences, ${done} steps, ${seconds} s`);
    // A sequence that never meets what it is to test proves nothing.
    if (runs >= 500) expect(everything.filter((what) => !seen.has(what))).toEqual([]);
    expect(sequences).toBeGreaterThanOrEqual(runs);
  },
  1_800_000,
);
