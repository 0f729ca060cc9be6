import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { FIXTURE_TIME } from '../../fixtures/time.ts';
import type { Answer, Receive } from '../exchange.ts';
import { seeded } from '../testing/seeded.ts';
import { type Case, changedOnTheWay, readSeeds, type Seed, signedAnew } from './cases.ts';
import { isReceipt, judge, judgeRemains, type Understood, understood } from './judge.ts';
import type { Random } from './mutations.ts';
import { loadShared, openWorld, type Shared, type Taken, type World } from './world.ts';

/**
 * Sends changed messages at receivers in this process until the time is over: never a crash, never a receipt for what was not signed,
 * never an entry in the folder without a receipt.
 *
 *   npm run fuzz -- [--seconds 60] [--seed N] [--case I]
 *
 * A case is decided by seed and number alone: `--case I` repeats one of them. Findings are written to a directory that is printed.
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string' },
    case: { type: 'string' },
  },
});
const seconds = Number(values.seconds);
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
if (!Number.isSafeInteger(seed) || !(seconds > 0)) throw new Error('--seconds and --seed want numbers');

/** Of each database: then it has seen enough, and what it leaves is counted. */
const CASES_OF_A_WORLD = 2_000;
const WORLDS = 6;
const TOO_LONG = 20_000;

let now = 'before the first case';
const findings: string[] = [];
const report = join(tmpdir(), `quittance-fuzz-findings-${process.pid}`);

function found(what: string, c: Case | null): void {
  findings.push(what);
  process.stderr.write(`FINDING at ${now}: ${what}\n`);
  if (c === null) return;
  mkdirSync(report, { recursive: true });
  writeFileSync(join(report, `${findings.length}.txt`), `${now}\n${c.name}\n${what}\nContent-Type: ${c.contentType}\n`);
  writeFileSync(join(report, `${findings.length}.body`), c.body);
}

process.on('unhandledRejection', (error) => found(`unhandled rejection: ${describe(error)}`, null));
process.on('uncaughtException', (error) => {
  found(`uncaught exception: ${describe(error)}`, null);
  process.exit(1);
});

interface InUse {
  readonly world: World;
  cases: number;
  receipts: number;
  /** MessageIds that must be in the folder. */
  readonly toDeliver: string[];
}

/** The databases in use: a case goes to one that has not given a receipt for its message, which would answer it from the store. */
class Worlds {
  readonly #shared: Shared;
  #open: InUse[] = [];

  constructor(shared: Shared) {
    this.#shared = shared;
  }

  async run(c: Case, random: Random): Promise<{ answer: Answer; taken: Taken[] }> {
    const at = await this.#without(c.seed?.id ?? null);
    at.cases += 1;
    const receive = random() < 0.5 ? at.world.buffered : at.world.streamed;
    const answer = await within(TOO_LONG, send(receive, c, random));
    const taken = at.world.taken();
    if (isReceipt(answer)) {
      if (c.seed !== null) at.world.receipted.add(c.seed.id);
      at.receipts += 1;
      at.toDeliver.push(...taken.filter(isDelivered).map(({ message }) => message.messageId));
    }
    if (at.cases >= CASES_OF_A_WORLD) await this.#end(at);
    return { answer, taken };
  }

  async end(): Promise<void> {
    for (const at of [...this.#open]) await this.#end(at);
  }

  async #without(id: string | null): Promise<InUse> {
    const free = this.#open.find(({ world }) => id === null || !world.receipted.has(id));
    if (free !== undefined) return free;
    if (this.#open.length >= WORLDS) await this.#end(this.#open[0] as InUse);
    const opened = { world: await openWorld(this.#shared), cases: 0, receipts: 0, toDeliver: [] };
    this.#open.push(opened);
    return opened;
  }

  async #end(at: InUse): Promise<void> {
    this.#open = this.#open.filter((each) => each !== at);
    for (const fault of judgeRemains(await at.world.end(), at)) found(fault, null);
  }
}

/** Neither a ping nor kept for an operator. */
function isDelivered({ message, outcome }: Taken): boolean {
  return outcome.kind === 'accepted' && outcome.decision !== 'review' && message.purpose === 'deliver';
}

async function send(receive: Receive, { contentType, body }: Case, random: Random): Promise<Answer> {
  async function* pieces(): AsyncGenerator<Buffer> {
    const size = random() < 0.3 ? 1 + Math.floor(random() * 200) : 16_384;
    for (let at = 0; at < body.length; at += size) yield body.subarray(at, at + size);
  }
  return receive({ contentType, contentLength: body.length, body: pieces(), remoteAddress: '192.0.2.1' });
}

async function within<T>(limit: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer after ${limit} ms`)), limit);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** What is understood of each seed as it is. */
async function originals(shared: Shared, seeds: readonly Seed[]): Promise<Map<string, Understood>> {
  const world = await openWorld(shared);
  const map = new Map<string, Understood>();
  for (const each of seeds) {
    const { contentType, body } = each;
    const c: Case = { name: each.id, seed: each, contentType, body, signed: null };
    const answer = await send(world.buffered, c, () => 0.9);
    const [taken] = world.taken();
    if (!isReceipt(answer) || taken === undefined)
      throw new Error(
        `${each.id} gets no receipt: ${answer.status} ${Buffer.from(answer.body ?? []).toString('utf8')}`,
      );
    map.set(each.id, understood(taken.message));
  }
  await world.end();
  return map;
}

process.stdout.write(`fuzz: seed ${seed}, ${seconds} s\n`);
const shared = await loadShared(() => FIXTURE_TIME);
const seeds = readSeeds();
const original = await originals(shared, seeds);
const worlds = new Worlds(shared);
const counts = { cases: 0, unmakeable: 0, receipts: 0, signedAnew: 0 };
const byStatus = new Map<string, number>();
const until = performance.now() + seconds * 1000;
const first = values.case === undefined ? 0 : Number(values.case);
for (let i = first; values.case === undefined ? performance.now() < until : i === first; i++) {
  now = `seed ${seed}, case ${i}`;
  const random = seeded(seed + Math.imul(i + 1, 0x9e3779b1));
  const anew = random() < 0.2;
  const c = anew ? signedAnew(`fuzz-${i}`, random) : changedOnTheWay(seeds, random);
  if (c === null) {
    counts.unmakeable += 1;
    continue;
  }
  counts.cases += 1;
  if (anew) counts.signedAnew += 1;
  try {
    const { answer, taken } = await worlds.run(c, random);
    if (isReceipt(answer)) counts.receipts += 1;
    const text = answer.body === null ? '' : Buffer.from(answer.body).toString('utf8');
    const kind = `${answer.status} ${/errorCode="([^"]*)"/.exec(text)?.[1] ?? (isReceipt(answer) ? 'receipt' : '')}`;
    byStatus.set(kind, (byStatus.get(kind) ?? 0) + 1);
    const wrong = judge(c, answer, taken, c.seed === null ? null : (original.get(c.seed.id) ?? null));
    if (wrong !== null) found(wrong, c);
  } catch (error) {
    found(describe(error), c);
  }
}
now = `seed ${seed}, the end`;
await worlds.end();
await shared.revocation.stop();
shared.policy.close();
const answers = [...byStatus].sort((a, b) => b[1] - a[1]).map(([kind, count]) => `${kind.trim()}: ${count}`);
process.stdout.write(
  `fuzz: seed ${seed}, ${counts.cases} cases (${counts.signedAnew} signed anew), ${counts.receipts} receipts, ${findings.length} findings\n` +
    `fuzz: ${answers.join(', ')}\n`,
);
if (findings.length > 0) {
  process.stderr.write(`${report}\n`);
  process.exitCode = 1;
}
