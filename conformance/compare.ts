import { readFileSync, writeFileSync } from 'node:fs';
import type { JsonReport, JsonResult } from './report/json.ts';

// Writes the tables of docs/conformance.md between its two markers: tsx conformance/compare.ts PAGE REPORT.json…
const BEGIN = '<!-- results: npx tsx conformance/compare.ts -->';
/** The norm wants a refusal or a form, and leaves its wording open more often than not. */
const REFUSED_OTHERWISE = 'answered in another way than ours';
const END = '<!-- end of results -->';

const [page, ...files] = process.argv.slice(2);
if (page === undefined || files.length === 0) {
  process.stderr.write('Usage: npx tsx conformance/compare.ts PAGE.md REPORT.json [REPORT.json …]\n');
  process.exitCode = 2;
} else {
  const reports = files.map((file) => JSON.parse(readFileSync(file, 'utf8')) as JsonReport);
  const text = readFileSync(page, 'utf8');
  const [before, after] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (before < 0 || after < 0) throw new Error(`${page} has no markers`);
  writeFileSync(page, `${text.slice(0, before + BEGIN.length)}\n\n${tables(reports)}\n${text.slice(after)}`);
}

function tables(reports: readonly JsonReport[]): string {
  return [overview(reports), byChapter(reports), differences(reports)].join('\n\n');
}

/** What became of a case, in the words of the tables. */
function fate({ verdict, kind }: JsonResult): string {
  if (verdict !== 'failed') return verdict === 'not-applicable' ? 'not applicable' : verdict;
  switch (kind) {
    case 'accepted':
      return 'accepted, must be refused';
    case 'refused':
      return 'refused, must be accepted';
    case 'other-code':
    case 'other-status':
    case 'no-signal':
    case 'unsigned':
    case 'form':
      return REFUSED_OTHERWISE;
    default:
      return `other: ${kind ?? ''}`;
  }
}

function overview(reports: readonly JsonReport[]): string {
  const fates = [
    'passed',
    'accepted, must be refused',
    'refused, must be accepted',
    REFUSED_OTHERWISE,
    'other: changed',
    'other: folder',
    'other: unanswered',
    'other: receipt',
    'skipped',
    'not applicable',
  ];
  const rows = fates.map((name) => [
    name.replace('other: ', ''),
    ...reports.map(({ results }) => {
      const here = results.filter((result) => fate(result) === name);
      const norm = here.filter(({ basis }) => basis === 'norm').length;
      if (here.length === 0) return '–';
      return name === REFUSED_OTHERWISE ? String(here.length) : `${here.length} (${norm})`;
    }),
  ]);
  return table(
    ['Cases (of these, ones that a norm decides)', ...reports.map(({ name }) => name)],
    [
      ...rows.filter((row) => row.slice(1).some((cell) => cell !== '–')),
      ['date', ...reports.map(({ date }) => date.slice(0, 16).replace('T', ' '))],
      ['seconds', ...reports.map(({ seconds }) => String(Math.round(seconds)))],
    ],
  );
}

function byChapter(reports: readonly JsonReport[]): string {
  const chapters = [...new Set(reports.flatMap(({ results }) => results.map(({ chapter }) => chapter)))];
  const rows = chapters.map((chapter) => [
    chapter,
    ...reports.map(({ results }) => {
      const run = results.filter(
        (result) => result.chapter === chapter && (result.verdict === 'passed' || result.verdict === 'failed'),
      );
      return `${run.filter(({ verdict }) => verdict === 'passed').length} of ${run.length}`;
    }),
  ]);
  return table(['Passed, of those run', ...reports.map(({ name }) => name)], rows);
}

/** Every case that somebody failed. */
function differences(reports: readonly JsonReport[]): string {
  const ids = [...new Set(reports.flatMap(({ results }) => results.map(({ id }) => id)))];
  const rows = ids.flatMap((id) => {
    const results = reports.map((report) => report.results.find((result) => result.id === id));
    const [first] = results.filter((result) => result !== undefined);
    if (first === undefined || results.every((result) => result?.verdict !== 'failed')) return [];
    return [[id, first.asserts, first.basis, ...results.map((result) => (result === undefined ? '–' : brief(result)))]];
  });
  return table(['Case', 'What was asserted', 'Basis', ...reports.map(({ name }) => name)], rows);
}

function brief(result: JsonResult): string {
  const { verdict, kind, detail } = result;
  if (verdict !== 'failed') return fate(result);
  if (kind === 'accepted') return 'receipt';
  const [code] = /EBMS:\d{4}/.exec(detail ?? '') ?? [];
  if (code !== undefined) return kind === 'unsigned' ? `${code}, unsigned` : code;
  const text = (detail ?? '').replaceAll(/\s+/g, ' ').replace(/[\w.-]+@[\w.-]+/g, '…');
  return text.length > 90 ? `${text.slice(0, 90)}…` : text;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
