import type { Result } from '../runner/run.ts';
import { escapeMarkup } from './escape.ts';
import { count } from './table.ts';

/** JUnit XML as CI systems read it; a case that is not applicable counts as skipped. */
export function junit(name: string, results: readonly Result[], seconds: number): string {
  const { failed, skipped, notApplicable } = count(results);
  const cases = results.map(({ case: { id, source, asserts }, verdict, detail, kind, ms }) => {
    const head = `<testcase classname="${escapeMarkup(source)}" name="${escapeMarkup(`${id} ${asserts}`)}" time="${(ms / 1000).toFixed(3)}"`;
    const text = escapeMarkup(detail ?? '');
    if (verdict === 'passed') return `${head}/>`;
    const inner =
      verdict === 'failed'
        ? `<failure type="${kind ?? ''}" message="${text}">${text}</failure>`
        : `<skipped message="${text}"/>`;
    return `${head}>${inner}</testcase>`;
  });
  return (
    '<?xml version="1.0" encoding="UTF-8"?>\n' +
    `<testsuite name="AS4 conformance: ${escapeMarkup(name)}" tests="${results.length}" failures="${failed}" ` +
    `skipped="${skipped + notApplicable}" time="${seconds.toFixed(3)}">\n${cases.join('\n')}\n</testsuite>\n`
  );
}
