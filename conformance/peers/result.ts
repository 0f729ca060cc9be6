import type { Check } from './checks.ts';
import type { Peer, PeerCase } from './peer.ts';

/** What one case has come to. */
export interface CaseResult {
  readonly peer: Peer;
  readonly case: Pick<PeerCase, 'id' | 'asserts'>;
  /** What the product made of our answers, in its own words, one for each message. */
  readonly verdicts: readonly string[];
  readonly checks: readonly Check[];
  /** What broke before the case was through. */
  readonly fault: string | null;
  readonly ms: number;
}

/** It did what it asserts, and something was looked at. */
export function isGood({ fault, checks }: CaseResult): boolean {
  return fault === null && checks.length > 0 && checks.every(({ ok }) => ok);
}

/** Runs the body of a case; what it throws is the fault of the result. */
export async function tryCase(
  peer: Peer,
  itself: CaseResult['case'],
  body: () => Promise<void>,
  found: () => Pick<CaseResult, 'verdicts' | 'checks'>,
): Promise<CaseResult> {
  const started = performance.now();
  const fault = await body().then(
    () => null,
    (error: Error) => error.message,
  );
  return { peer, case: itself, ...found(), fault, ms: performance.now() - started };
}
