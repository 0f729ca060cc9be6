import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { Backend } from '../testing/backend.ts';
import { seeded } from '../testing/seeded.ts';
import { Site, until } from '../testing/site.ts';
import { Traffic } from '../testing/traffic.ts';

/*
 * A receiver that is killed again and again at random moments while senders send, retry, rebuild and repeat. Twice at the same time, with
 * a database each: once alone, so that there are moments without a receiver, and once relieved, so that the next process has been started
 * on the same database before the one before it is killed.
 *
 *   QUITTANCE_KILL_ROUNDS=1000 QUITTANCE_KILL_SEED=42 npx vitest run src/guarantees/random-kills.test.ts
 */
const ROUNDS = Number(process.env.QUITTANCE_KILL_ROUNDS ?? '208');
const SEED = Number(process.env.QUITTANCE_KILL_SEED ?? Date.now() % 1_000_000);

/** Where in a process's life it is killed: rarely while it starts, else some answers after it listens. */
interface Moment {
  readonly starting: boolean;
  readonly answers: number;
  readonly ms: number;
}

function chooseMoment(random: () => number): Moment {
  if (random() < 0.15) return { starting: true, answers: 0, ms: random() * 600 };
  // By answers and not by the clock, so that a slow machine does as much between two kills as a quick one.
  return { starting: false, answers: Math.floor(random() ** 2 * 30), ms: random() * 30 };
}

async function waitFor({ answers, ms }: Moment, traffic: Traffic): Promise<void> {
  const enough = traffic.answered + answers;
  await until(() => traffic.answered >= enough);
  await sleep(ms);
}

/** Moments without a receiver: each process is killed before the next one starts. */
async function killAlone({ site, traffic, rounds, random, check }: Run): Promise<void> {
  for (let i = 0; i < rounds; i++) {
    const server = site.spawn();
    const moment = chooseMoment(random);
    if (!moment.starting) traffic.goesTo([await server.listening]);
    await waitFor(moment, traffic);
    await server.kill();
    traffic.goesTo([]);
    check();
  }
}

/** Two processes on one database: each is killed while the next one starts, or when both have been receiving for a while. */
async function killRelieved({ site, traffic, rounds, random, check }: Run): Promise<void> {
  let current = await site.serve();
  traffic.goesTo([current.url]);
  for (let i = 0; i < rounds; i++) {
    const next = site.spawn();
    const moment = chooseMoment(random);
    if (!moment.starting) traffic.goesTo([current.url, await next.listening]);
    await waitFor(moment, traffic);
    await current.kill();
    current = next;
    traffic.goesTo([await next.listening]);
    check();
  }
  await current.kill();
  traffic.goesTo([]);
}

interface Run {
  readonly site: Site;
  readonly traffic: Traffic;
  readonly rounds: number;
  readonly random: () => number;
  /** What must hold after each kill. */
  readonly check: () => void;
}

test.concurrent.each([
  ['alone', killAlone, 30],
  // There is always a receiver here: most of the machine is left to the next process, which starts meanwhile.
  ['relieved', killRelieved, 250],
] as const)(
  'killed at random moments under load, %s: every receipt stays the same, and every message is delivered once',
  async (how, kill, pause) => {
    const site = new Site();
    onTestFinished(() => site.remove());
    const rounds = ROUNDS / 2;
    const seed = SEED + (how === 'alone' ? 0 : 1);
    console.log(`${how}: ${rounds} kills with QUITTANCE_KILL_SEED=${SEED}`);
    const traffic = new Traffic(seed, pause);
    onTestFinished(() => traffic.stop());
    const backend = new Backend(site, traffic);
    const check = (): void => {
      backend.poll();
      expect([...traffic.faults, ...backend.faults]).toEqual([]);
    };
    const running = traffic.run();
    await kill({ site, traffic, rounds, random: seeded(seed), check });
    traffic.stop();
    await running;

    // Whatever a sender still waits for it gets by sending again; and whoever has a receipt gets it again.
    const last = await site.serve();
    traffic.goesTo([last.url]);
    for (const one of traffic.correspondences) for (const form of one.forms) await traffic.send(one, form);
    await site.delivered();
    check();
    traffic.close();
    expect([...backend.had.keys()].sort()).toEqual(traffic.correspondences.map(({ messageId }) => messageId).sort());
    for (const one of traffic.correspondences) for (const { answers } of one.forms) expect(answers.size).toBe(1);
    expect(Object.keys(site.handOvers())).toEqual(['delivered']);
    expect(await last.stop()).toEqual({ code: 0, signal: null });
    expectTidy(site);
    console.log(
      `${how}: ${traffic.correspondences.length} messages, ${traffic.answered} receipts, ${traffic.broken} attempts cut short`,
    );
    expect(traffic.correspondences.length).toBeGreaterThan(rounds);
  },
  900_000,
);

/** No kill leaves anything that grows, and the database is sound. */
function expectTidy(site: Site): void {
  expect(site.rows('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  expect(site.rows('PRAGMA foreign_key_check')).toEqual([]);
  expect(readdirSync(site.staging).filter((name) => !name.startsWith('.'))).toEqual([]);
  expect(readdirSync(join(site.directory, 'spool'))).toEqual([]);
  const named = site.rows<{ file: string }>('SELECT file FROM payload WHERE file IS NOT NULL').map(({ file }) => file);
  const kept = new Set(readdirSync(`${site.database}.content`));
  expect(named.filter((file) => !kept.has(file))).toEqual([]);
}
