import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { startPeerReceiver } from '../conformance/peers/peer-receiver.ts';
import { phase4 } from '../conformance/peers/phase4/peer.ts';
import { phase4Receiver } from '../conformance/peers/phase4/receiver.ts';
import { missing } from '../conformance/peers/tools.ts';
import { PACKAGE_ROOT } from '../src/config/load.ts';
import { type Contest, type ContestOptions, contest } from './contest.ts';
import { contestTable, type RepeatAnswers } from './contest-table.ts';
import { type Expected, isReceipt } from './load.ts';
import { median } from './median.ts';
import { makeMessages } from './messages.ts';
import { rssOf } from './proc.ts';
import { startServer } from './server.ts';

/**
 * Quittance and phase4 as receivers of the same messages in one run, in turns. docs/conformance.md says what each of them does for a
 * message, and what it does not.
 *
 *   npm run bench:compare -- [--warm 8000] [--rounds 5] [--count 600] [--payload 10000] [--heap 1g] [--minutes 25] [--cache DIR]
 *                            [--write docs/conformance.md]
 *
 * `--count` messages at 1, 8 and 32 connections in each round, and the same again. With `--write` the result goes into that page,
 * between its markers. It is over after about `--minutes` at the latest, with fewer rounds if need be, and says so.
 */
const { values } = parseArgs({
  options: {
    warm: { type: 'string', default: '8000' },
    rounds: { type: 'string', default: '5' },
    count: { type: 'string', default: '600' },
    payload: { type: 'string', default: '10000' },
    heap: { type: 'string', default: '1g' },
    minutes: { type: 'string', default: '25' },
    cache: { type: 'string', default: join(tmpdir(), 'quittance-interop') },
    write: { type: 'string' },
  },
});
const BEGIN = '<!-- benchmark: npm run bench:compare -- --write docs/conformance.md -->';
const END = '<!-- end of benchmark -->';
const isDuplicateError: Expected = (_, text) =>
  text.includes('errorCode="EBMS:0004"') && text.includes('already handled');
const LEVELS = [1, 8, 32];
const PHASE4 = phase4.product.replace(/^phase4\S*/, 'phase4');
/** Otherwise every repeat would be an error in its log. */
const SILENT = ['-Dorg.slf4j.simpleLogger.defaultLogLevel=off'];
const REPEATS: RepeatAnswers = { Quittance: 'the stored receipt', [PHASE4]: 'an error, EBMS:0004' };

const say = (line: string) => process.stderr.write(`${line}\n`);
await main().catch((error: Error) => {
  say(error.message);
  process.exitCode = 1;
});

async function main(): Promise<void> {
  const deadline = performance.now() + positive('minutes') * 60_000;
  if (values.write !== undefined) replaceBetween(values.write, null); // rather now than after half an hour
  const before = { load: loadavg()[0] ?? 0, date: new Date().toISOString().slice(0, 16).replace('T', ' ') };
  const folder = join(resolve(values.cache), phase4.name);
  const [warming, asked, count, payload] = [
    positive('warm'),
    positive('rounds'),
    positive('count'),
    positive('payload'),
  ];
  await build(folder);
  say(`making ${warming + asked * LEVELS.length * count} messages`);
  const warm = await makeMessages(warming, payload);
  const rounds: ContestOptions['rounds'][number][] = [];
  for (let i = 0; i < asked; i++) {
    const round = [];
    for (const connections of LEVELS) {
      round.push({ connections, messages: await makeMessages(count, payload) });
    }
    rounds.push(round);
  }
  const octets = median(rounds.flat().flatMap(({ messages }) => messages.map(({ body }) => body.length)));
  const quittance = await startServer();
  try {
    const heap = [`-Xms${values.heap}`, `-Xmx${values.heap}`];
    const other = await startPeerReceiver((inbox) => phase4Receiver(folder, inbox, [...heap, ...SILENT]));
    try {
      const contestants = [
        { name: 'Quittance', url: quittance.url, pid: quittance.pid, repeat: isReceipt },
        { name: PHASE4, url: other.url.href, pid: other.pid, repeat: isDuplicateError },
      ];
      const outcome = await contest({ contestants, warm, rounds, cores: availableParallelism(), deadline, say });
      const resident = contestants.map(({ name, pid }) => `${name} ${Math.round(rssOf(pid) / 1e6)} MB`).join(', ');
      const told = [...circumstances(outcome, before, octets), `Resident at the end: ${resident}.`].join('\n');
      const page = `${told}\n\n${contestTable(outcome, REPEATS)}`;
      process.stdout.write(`${page}\n`);
      if (values.write !== undefined) replaceBetween(values.write, page);
    } finally {
      await other.stop();
    }
  } finally {
    await quittance.stop();
  }
}

/** @throws Error when the option is no positive number */
function positive(name: 'warm' | 'rounds' | 'count' | 'payload' | 'minutes'): number {
  const value = Number(values[name]);
  if (!(value > 0)) throw new Error(`--${name} must be a positive number.`);
  return value;
}

/** As `npm run interop` does, in the same folder. */
async function build(folder: string): Promise<void> {
  const lacking = await missing(phase4.tools);
  if (lacking.length > 0) throw new Error(`phase4 cannot be built here; not there: ${lacking.join(', ')}`);
  say(`fetching and building phase4 in ${folder}`);
  mkdirSync(folder, { recursive: true });
  await phase4.fetch(folder);
  await phase4.build?.(folder);
}

/** With what, when and under what load, in lines. */
function circumstances(
  { measured, rounds, warmed, others }: Contest,
  before: { readonly load: number; readonly date: string },
  octets: number,
): string[] {
  const { version } = JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8')) as { version: string };
  const cpu = `${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? 'unknown'})`;
  const floors = measured.map(({ floor }) => floor);
  const short = (done: number, asked: string) => (done < Number(asked) ? ` of ${asked} (the time was up)` : '');
  const size = `${(octets / 1000).toFixed(1)} kB (payload ${positive('payload') / 1000} kB)`;
  return [
    `${before.date} UTC, ${cpu}, load ${before.load.toFixed(1)} before it began; while something was measured, other processes took`,
    `${Math.round(others * 100)} % of the cores. Quittance ${version} on Node ${process.versions.node}; ${PHASE4} on ${javaVersion()}, heap ${values.heap}, its default collector,`,
    `JAXP factories named, nothing logged. Messages that warmed each, the same ones: ${warmed}${short(warmed, values.warm)}. Rounds, in turns: ${rounds}${short(rounds, values.rounds)};`,
    `in each, ${values.count} messages of ${size} for every line of the table, which has the medians of the rounds. RSA floor:`,
    `${median(floors).toFixed(2)} CPU ms (${Math.min(...floors).toFixed(2)}–${Math.max(...floors).toFixed(2)}), one RSA-2048 unwrap and one signature by the OpenSSL of Node, measured beside each load.`,
  ];
}

function javaVersion(): string {
  const text = execFileSync('java', ['--version'], { encoding: 'utf8' });
  return /^(\S+ \S+)/.exec(text)?.[1]?.replace(/^openjdk/, 'OpenJDK') ?? 'an unknown JVM';
}

/** @param text null: only look whether the markers are there */
function replaceBetween(file: string, text: string | null): void {
  const page = readFileSync(file, 'utf8');
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`${file} has no markers ${BEGIN} and ${END}`);
  if (text !== null) writeFileSync(file, `${page.slice(0, begin + BEGIN.length)}\n\n${text}\n\n${page.slice(end)}`);
}
