import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CASES } from './cases/all.ts';
import { CONTROL } from './mutants/bent-answers.ts';
import { startMutant } from './mutants/mutant-server.ts';
import { MUTANTS } from './mutants/mutants.ts';
import { Inbox } from './runner/inbox.ts';
import { type Result, runCases } from './runner/run.ts';
import { startQuittance } from './target/quittance.ts';
import type { Target } from './target/target.ts';

const CERTS = join(import.meta.dirname, '../certs');
let quittance: Target;

beforeAll(async () => {
  quittance = await startQuittance();
});
afterAll(() => quittance.stop());

/** Runs a few cases against the receiver, or against something in front of it. */
async function run(ids: readonly string[], url?: URL): Promise<readonly Result[]> {
  const inbox = new Inbox(quittance.inbox?.directory ?? '');
  const target = { ...quittance, inbox, ...(url === undefined ? {} : { url }) };
  const cases = CASES.filter(({ id }) => ids.includes(id));
  // RCPT-12 needs more than one signal.
  const others = ids.includes('RCPT-12') ? CASES.filter(({ id }) => id === 'PING-01' || id === 'PING-02') : [];
  const results = await runCases({
    target,
    cases: [...others, ...cases],
    parallel: 1,
    patience: 2_000,
    progress: () => {},
  });
  return results.filter((result) => cases.includes(result.case));
}

describe('the suite can fail', () => {
  it('passes the receiver in every case that is to catch a mutant', async () => {
    const results = await run([...new Set(MUTANTS.map(({ caughtBy }) => caughtBy))]);
    expect(results.filter(({ verdict }) => verdict !== 'passed')).toEqual([]);
  });

  it('passes a receiver whose signals are signed anew and otherwise right', async () => {
    const server = await startMutant(CONTROL, quittance, CERTS);
    try {
      const results = await run([CONTROL.caughtBy, 'RCPT-01', 'RCPT-06', 'RCPT-13'], server.url);
      expect(results.map(({ verdict, detail }) => [verdict, detail])).toEqual(Array(4).fill(['passed', null]));
    } finally {
      await server.close();
    }
  });

  it.each(MUTANTS.map((mutant) => [mutant.fault, mutant.caughtBy, mutant] as const))(
    'catches a receiver where %s (%s)',
    async (_fault, caughtBy, mutant) => {
      const server = await startMutant(mutant, quittance, CERTS);
      try {
        const [result] = await run([caughtBy], server.url);
        expect(result).toMatchObject({ verdict: 'failed', kind: mutant.as });
      } finally {
        await server.close();
      }
    },
  );
});
