import type { FormKey, Policy } from './model.ts';

/** What one key of a message says of it. */
export interface Verdict {
  readonly key: FormKey;
  readonly verdict: 'new' | 'expired' | 'repeat' | 'reset' | 'conflict';
}

/** Nothing tells two contents under one key apart. */
export const mayBeSame = (a: FormKey, b: FormKey): boolean =>
  a.dateTime === null || b.dateTime === null || a.dateTime === b.dateTime;

/** A payload is never split: one that holds something new is not suppressed for what else it holds. */
export function decide(
  verdicts: readonly Verdict[],
  replaces: boolean,
  onConflict: Policy['onConflict'],
): 'allow' | 'suppress' | 'review' | 'replace' {
  const inside = verdicts.filter((v) => v.key.layer !== 'sbdh');
  const all = (verdict: Verdict['verdict']) => inside.every((v) => v.verdict === verdict);
  const some = (verdict: Verdict['verdict'], among = verdicts) => among.some((v) => v.verdict === verdict);
  if (verdicts.some((v) => v.key.layer === 'sbdh' && v.verdict === 'repeat')) return 'suppress';
  if (some('repeat', inside)) {
    const otherwise = verdicts.some((v) => v.key.layer === 'sbdh' && v.verdict === 'conflict');
    return all('repeat') && (!otherwise || onConflict === 'suppress') ? 'suppress' : 'review';
  }
  if (!some('conflict')) return 'allow';
  if (replaces) return 'replace';
  return onConflict === 'suppress' && !all('conflict') ? 'review' : onConflict;
}
