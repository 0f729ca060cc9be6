import type { Check } from './checks.ts';
import { type CaseResult, isGood } from './result.ts';
import type { Outcome } from './run.ts';

const TITLE = ['peer', 'version', 'case', 'what the peer says', 'our checks', 'ms'];

/** What came of the run, as text for a terminal. */
export function interopTable({ results, skipped, balance }: Outcome): string {
  const rows = [TITLE, ...results.map(cells)];
  const widths = TITLE.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  for (const [index, result] of results.entries()) lines[index + 1] += failures(result);
  return [
    ...lines,
    '',
    `At the end: ${balance.what}: ${balance.ok ? 'yes' : `NO, ${balance.instead}`}`,
    ...skipped.map(({ peer, why }) => `Skipped ${peer.name} (${peer.product}): ${why}`),
  ].join('\n');
}

/** The same as a Markdown table, with what each case is about. */
export function interopMarkdown({ results, balance }: Outcome): string {
  const titles = ['peer', 'case', 'what must hold', 'what the peer says', 'our checks', 'ms'];
  const rows = results.map((result) => {
    const [peer = '', , id = '', ...rest] = cells(result);
    return [peer, `\`${id}\``, result.case.asserts, ...rest];
  });
  const lines = [titles, titles.map(() => '---'), ...rows];
  const table = lines.map((row) => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`).join('\n');
  return `${table}\n\nAt the end: ${balance.what}: ${balance.ok ? 'yes' : 'no'}.\n`;
}

function cells(result: CaseResult): string[] {
  const { peer, case: each, verdicts, checks, ms } = result;
  const good = checks.filter(({ ok }) => ok).length;
  const version = peer.product.split(' ').at(-1) ?? '';
  const ours = isGood(result) ? `${good} of ${checks.length}` : `FAILED, ${good} of ${checks.length}`;
  return [peer.name, version, each.id, shorten(verdicts.join('; ')), ours, ms.toFixed(0)];
}

function failures({ fault, checks }: CaseResult): string {
  const bad = checks.filter(({ ok }: Check) => !ok);
  const lines = bad.map(({ what, instead }) => (instead === undefined ? what : `${what}: ${instead}`));
  return [...lines, ...(fault === null ? [] : [fault])].map((line) => `\n    ✗ ${line}`).join('');
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > 100 ? `${line.slice(0, 99)}…` : line;
}
