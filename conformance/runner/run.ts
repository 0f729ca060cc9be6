import type { Case, Need } from '../case.ts';
import { Failure, type FailureKind } from '../failure.ts';
import type { Target } from '../target/target.ts';
import { Pulse } from './pulse.ts';
import { settleDeliveries } from './settle.ts';
import { type Exchange, type SeenSignal, Trial } from './trial.ts';

export type Verdict = 'passed' | 'failed' | 'skipped' | 'not-applicable';

export interface Result {
  readonly case: Case;
  readonly verdict: Verdict;
  /** What failed, or why it was not run. */
  readonly detail: string | null;
  readonly kind: FailureKind | null;
  readonly ms: number;
  readonly exchanges: readonly Exchange[];
}

export interface RunOptions {
  readonly target: Target;
  readonly cases: readonly Case[];
  /** Cases at a time. */
  readonly parallel: number;
  /** Milliseconds to wait for deliveries at the end. */
  readonly patience?: number;
  /** Called when a case is done; its folder is looked at later. */
  readonly progress: (result: Result, done: number, all: number) => void;
}

const PATIENCE = 20_000;

interface Done {
  readonly trial: Trial;
  result: Result;
}

/** Runs the cases and then looks into the folder. Results are in the order of the cases. Once nothing is answered any more, the rest is skipped. */
export async function runCases(o: RunOptions): Promise<readonly Result[]> {
  const seen: SeenSignal[] = [];
  const done = new Map<Case, Done>();
  const pulse = new Pulse(async () => {
    const trial = new Trial(o.target, []);
    await trial.send(trial.make({ document: null }));
  });
  const runOne = async (each: Case): Promise<void> => {
    const trial = new Trial(o.target, seen);
    const result = await runCase(each, trial, pulse.gone);
    done.set(each, { trial, result });
    o.progress(result, done.size, o.cases.length);
    await pulse.note(result);
  };
  const together = o.cases.filter((each) => each.when === undefined);
  const queue = together.values();
  await Promise.all(
    Array.from({ length: o.parallel }, async () => {
      for (const each of queue) await runOne(each);
    }),
  );
  for (const when of ['alone', 'last'] as const) {
    for (const each of o.cases) if (each.when === when) await runOne(each);
  }
  const faults = await settleDeliveries(
    [...done.values()].flatMap(({ trial }) => trial.demands),
    seen,
    o.patience ?? PATIENCE,
  );
  for (const each of done.values()) {
    const fault = each.trial.demands.map((demand) => faults.get(demand)).find((text) => text !== undefined);
    if (fault !== undefined && each.result.verdict === 'passed') {
      each.result = { ...each.result, verdict: 'failed', kind: 'folder', detail: fault };
    }
  }
  return o.cases.flatMap((each) => done.get(each)?.result ?? []);
}

async function runCase(each: Case, trial: Trial, gone: boolean): Promise<Result> {
  const without = { case: each, kind: null, ms: 0, exchanges: [] };
  if (each.notApplicable !== undefined) return { ...without, verdict: 'not-applicable', detail: each.notApplicable };
  if (gone) return { ...without, verdict: 'skipped', detail: 'not run: nothing is answered any more' };
  const started = performance.now();
  const finish = (verdict: Verdict, detail: string | null, kind: FailureKind | null): Result => ({
    case: each,
    verdict,
    detail,
    kind,
    ms: performance.now() - started,
    exchanges: trial.exchanges,
  });
  try {
    const missing = (each.needs ?? []).filter((need) => !has(trial.target, need));
    if (missing.length > 0) return { ...without, verdict: 'skipped', detail: `needs ${missing.join(', ')}` };
    await each.run(trial);
    return finish('passed', null, null);
  } catch (error) {
    if (error instanceof Failure) return finish('failed', error.message, error.kind);
    const { stack, message } = error as Error;
    return finish('failed', `the suite itself failed: ${stack ?? message}`, 'suite');
  }
}

function has(target: Target, need: Need): boolean {
  switch (need) {
    case 'inbox':
      return target.inbox !== null;
    case 'restart':
      return target.restart !== null;
    case 'sender2':
      return target.sender2 !== null;
    case 'not-serviced':
      return target.notServiced !== null || target.serviced !== null;
    case 'serviced-list':
      return target.serviced !== null;
    default:
      return target.bad(need.slice('bad:'.length)) !== null;
  }
}
