import { writeFileSync } from 'node:fs';
import type { Case } from './case.ts';
import { CASES, CHAPTERS } from './cases/all.ts';
import { type Options, readOptions, USAGE } from './options.ts';
import { html } from './report/html.ts';
import { jsonReport } from './report/json.ts';
import { junit } from './report/junit.ts';
import { count, table } from './report/table.ts';
import { type Result, runCases } from './runner/run.ts';
import { endpoint } from './target/endpoint.ts';
import { startQuittance } from './target/quittance.ts';
import type { Target } from './target/target.ts';
import { whyUnreachable } from './wire/connection.ts';

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const options = usable(() => readOptions(args));
  if (options === null) return 2;
  if (options === 'help') {
    process.stdout.write(USAGE);
    return 0;
  }
  const cases = usable(() => selected(options.only));
  if (cases === null) return 2;
  if (options.list) {
    for (const { id, source, asserts } of cases) process.stdout.write(`${id}\t${source}\t${asserts}\n`);
    return 0;
  }
  const { url } = options;
  const target = url === null ? await ownReceiver() : usable(() => endpoint(new URL(url), options));
  if (target === null) return 2;
  const why = await whyUnreachable(target.url, target.tlsCa);
  if (why !== null) {
    process.stderr.write(`There is nothing to test at ${target.url.href}: ${why}\n`);
    return 2;
  }
  const date = new Date();
  const started = performance.now();
  try {
    const results = await runCases({ target, cases, parallel: options.parallel, progress });
    const seconds = (performance.now() - started) / 1000;
    const { passed, failed, skipped, notApplicable } = count(results);
    process.stdout.write(
      `\n${table(results)}\n\n${target.name}: ${passed} passed, ${failed} failed, ${skipped} skipped, ` +
        `${notApplicable} not applicable in ${seconds.toFixed(1)} s\n`,
    );
    writeReports(options, target.name, results, date, seconds);
    return failed > 0 ? 1 : 0;
  } finally {
    await target.stop();
  }
}

/** Null, and the sentence on stderr, when what the user gave is of no use. */
function usable<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\nSee npm run conformance -- --help\n`);
    return null;
  }
}

async function ownReceiver(): Promise<Target | null> {
  try {
    return await startQuittance();
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    return null;
  }
}

function selected(only: readonly string[]): readonly Case[] {
  if (only.length === 0) return CASES;
  const patterns = only.map((id) => {
    const pattern = new RegExp(
      `^${id
        .split('*')
        .map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'))
        .join('.*')}$`,
    );
    if (!CASES.some((each) => pattern.test(each.id))) throw new Error(`There is no case ${id}; --list shows them all.`);
    return pattern;
  });
  return CASES.filter(({ id }) => patterns.some((pattern) => pattern.test(id)));
}

function progress({ case: { id }, verdict, detail }: Result, done: number, all: number): void {
  if (verdict === 'failed') process.stdout.write(`  FAILED ${id}: ${detail}\n`);
  if (done % 25 === 0 || done === all) process.stdout.write(`  ${done} of ${all}\n`);
}

function writeReports(o: Options, name: string, results: readonly Result[], date: Date, seconds: number): void {
  const chapters = CHAPTERS.map(([title, cases]) => ({
    title,
    results: results.filter((result) => cases.includes(result.case)),
  }));
  if (o.junit !== null) writeFileSync(o.junit, junit(name, results, seconds));
  if (o.html !== null) writeFileSync(o.html, html(name, chapters, date));
  if (o.json !== null) writeFileSync(o.json, `${JSON.stringify(jsonReport(name, chapters, date, seconds), null, 2)}\n`);
}
