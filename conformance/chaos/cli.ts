import { startQuittance } from '../target/quittance.ts';
import { CHAOS_USAGE, readChaosOptions } from './options.ts';
import { type ChaosResult, chaos } from './run.ts';

/** So many sentences about what is wrong are enough to begin with. */
const SHOWN = 30;
/** Seconds that a run may take beyond those that it was told, before it is given up. */
const GRACE = 240;

/** Exit code, as of a process that SIGINT ended. */
const INTERRUPTED = 130;

// A receiver that hangs must not keep the run from its end.
process.exit(await main(process.argv.slice(2)));

async function main(args: readonly string[]): Promise<number> {
  let options: ReturnType<typeof readChaosOptions>;
  try {
    options = readChaosOptions(args);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\nSee npm run chaos -- --help\n`);
    return 2;
  }
  if (options === 'help') {
    process.stdout.write(CHAOS_USAGE);
    return 0;
  }
  const { seconds, seed } = options;
  process.stdout.write(`chaos for ${seconds} s with --seed ${seed}\n`);
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
  const target = await startQuittance();
  const started = performance.now();
  try {
    const result = await within(seconds + GRACE, chaos({ seconds, seed, target, signal: interrupted.signal }));
    const took = (performance.now() - started) / 1000;
    process.stdout.write(report(result, took));
    if (result.wrong.length > 0)
      process.stdout.write(`\nAgain with: npm run chaos -- --seconds ${seconds} --seed ${seed}\n`);
    if (result.wrong.length > 0) return 1;
    if (!interrupted.signal.aborted) return 0;
    process.stdout.write('It was interrupted.\n');
    return INTERRUPTED;
  } catch (error) {
    process.stderr.write(`The run failed: ${(error as Error).stack}\n`);
    return 1;
  } finally {
    await within(30, target.stop()).catch((error: Error) => process.stderr.write(`${error.message}\n`));
  }
}

function report(result: ChaosResult, seconds: number): string {
  const { counts, happened, wrong } = result;
  const lines = [
    `messages    ${result.messages} (${result.pending} given up without a receipt), ${counts.rebuilt} rebuilt, ${counts.encryptedAgain} encrypted again`,
    `attempts    ${counts.attempts}: ${counts.receipts} receipts, ${counts.broken} without an answer, ${counts.refused} refused`,
    `cuts        ${happened.drop + happened.truncate} (${happened.drop} dropped, ${happened.truncate} truncated), ${happened.delay} delays`,
    `duplicates  ${happened.duplicate} by the network, ${counts.overheard} of them with a receipt`,
    `kills       ${result.kills}`,
    `folder      ${result.delivered} messages`,
    `seconds     ${seconds.toFixed(1)}`,
    ...[...result.refusals].map(([why, times]) => `refused     ${times} times: ${why.slice(0, 160)}`),
    wrong.length === 0 ? 'The balance is right.' : `THE BALANCE IS WRONG in ${wrong.length} points:`,
    ...wrong.slice(0, SHOWN).map((each) => `  ${each}`),
  ];
  return `${lines.join('\n')}\n`;
}

async function within<T>(seconds: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not at its end after ${seconds} s`)), seconds * 1000);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
