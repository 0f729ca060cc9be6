import type { Result } from '../runner/run.ts';

const WORDS = { passed: 'passed', failed: 'FAILED', skipped: 'skipped', 'not-applicable': 'n/a' } as const;

const HEADS = ['case', 'source', 'what was asserted', 'result', 'ms'];

/** The results as text: id, source, what was asserted, result, milliseconds; a failure with its reason below. */
export function table(results: readonly Result[]): string {
  const cells = results.map(({ case: { id, source, asserts }, verdict, ms }) => [
    id,
    source,
    asserts,
    WORDS[verdict],
    verdict === 'passed' || verdict === 'failed' ? ms.toFixed(0) : '',
  ]);
  const rows = [HEADS, ...cells];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row, index) => {
      const line = row
        .map((cell, column) => (column === 4 ? cell.padStart(6) : cell.padEnd(widths[column] ?? 0)))
        .join('  ');
      const { detail, verdict } = results[index - 1] ?? { detail: null, verdict: 'passed' };
      return detail === null || verdict === 'passed' ? line : `${line}\n    ${detail.replaceAll('\n', '\n    ')}`;
    })
    .join('\n');
}

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly notApplicable: number;
}

export function count(results: readonly Result[]): Counts {
  const of = (verdict: Result['verdict']) => results.filter((result) => result.verdict === verdict).length;
  return {
    passed: of('passed'),
    failed: of('failed'),
    skipped: of('skipped'),
    notApplicable: of('not-applicable'),
  };
}
