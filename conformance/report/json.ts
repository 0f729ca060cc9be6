import type { Result } from '../runner/run.ts';
import { type Counts, count } from './table.ts';

/** One case as `--json` writes it. */
export interface JsonResult {
  readonly id: string;
  readonly chapter: string;
  readonly source: string;
  readonly asserts: string;
  readonly basis: 'norm' | 'reading';
  readonly verdict: Result['verdict'];
  readonly kind: string | null;
  readonly detail: string | null;
  readonly ms: number;
}

export interface JsonReport {
  readonly name: string;
  readonly date: string;
  readonly seconds: number;
  readonly counts: Counts;
  readonly results: readonly JsonResult[];
}

/** The results for other programs, such as the comparison of products. */
export function jsonReport(
  name: string,
  chapters: readonly { readonly title: string; readonly results: readonly Result[] }[],
  date: Date,
  seconds: number,
): JsonReport {
  return {
    name,
    date: date.toISOString(),
    seconds: Math.round(seconds * 10) / 10,
    counts: count(chapters.flatMap(({ results }) => results)),
    results: chapters.flatMap(({ title, results }) =>
      results.map(({ case: { id, source, asserts, basis }, verdict, kind, detail, ms }) => ({
        id,
        chapter: title,
        source,
        asserts,
        basis,
        verdict,
        kind,
        detail,
        ms: Math.round(ms),
      })),
    ),
  };
}
