import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startQuittance } from '../target/quittance.ts';
import type { Target } from '../target/target.ts';
import { Bench } from './bench.ts';
import type { Check } from './checks.ts';
import { Delivered } from './delivered.ts';
import { Driver, type Judgement } from './driver.ts';
import type { InteropOptions } from './options.ts';
import type { Peer } from './peer.ts';
import { type CaseResult, isGood, tryCase } from './result.ts';
import { runReceiver } from './run-receiver.ts';
import { Tap } from './tap.ts';
import { missing } from './tools.ts';

export interface Skipped {
  readonly peer: Peer;
  readonly why: string;
}

export interface Outcome {
  readonly results: readonly CaseResult[];
  readonly skipped: readonly Skipped[];
  /** Whether the folder held at the end what it had to hold, once each. */
  readonly balance: Check;
}

/** Builds, starts and runs the peers one after the other against one Quittance. `say` gets a line for each step. */
export async function runPeers(
  peers: readonly Peer[],
  o: InteropOptions,
  say: (line: string) => void,
): Promise<Outcome> {
  const skipped: Skipped[] = [];
  const results: CaseResult[] = [];
  const owed = new Set<string>();
  const samples = mkdtempSync(join(tmpdir(), 'quittance-interop-samples-'));
  if (o.save !== null) mkdirSync(o.save, { recursive: true });
  const target = await startQuittance();
  const tap = await Tap.open(target.url);
  try {
    for (const peer of peers) {
      const why = await unavailable(peer, join(o.cache, peer.name), say);
      if (why === null) results.push(...(await runPeer(peer, { o, target, tap, samples, owed, say })));
      else skipped.push({ peer, why });
    }
    return { results, skipped, balance: balance(target, owed) };
  } finally {
    tap.close();
    await target.stop();
    rmSync(samples, { recursive: true, force: true });
  }
}

/** Fetches it; null, or why it cannot be had here. */
async function unavailable(peer: Peer, folder: string, say: (line: string) => void): Promise<string | null> {
  const lacking = await missing(peer.tools);
  if (lacking.length > 0) return `not there: ${lacking.join(', ')}`;
  say(`${peer.name}: fetching into ${folder}`);
  mkdirSync(folder, { recursive: true });
  return peer.fetch(folder).then(
    () => null,
    (error: Error) => `it cannot be fetched: ${error.message}`,
  );
}

interface Run {
  readonly o: InteropOptions;
  readonly target: Target;
  readonly tap: Tap;
  readonly samples: string;
  readonly owed: Set<string>;
  readonly say: (line: string) => void;
}

async function runPeer(peer: Peer, run: Run): Promise<CaseResult[]> {
  const { o, say } = run;
  const unbuilt = await build(peer, join(o.cache, peer.name));
  if (unbuilt !== null) return [unbuilt];
  const start = () => new Driver(peer.driver(join(o.cache, peer.name)));
  let driver = start();
  const results: CaseResult[] = [];
  try {
    for (const each of peer.cases) {
      if (o.only.length > 0 && !o.only.includes(each.id)) continue;
      if (each.minutes !== undefined && !o.patient) continue;
      if (driver.over) driver = start();
      const save = o.save === null ? null : { directory: o.save, name: `${peer.name}-${each.id}` };
      const bench = new Bench({ ...run, driver, save });
      const result = await tryCase(
        peer,
        each,
        () => each.run(bench),
        () => ({ verdicts: bench.judgements.map(inWords), checks: bench.checks.all }),
      );
      results.push(result);
      say(`${peer.name} ${each.id}: ${isGood(result) ? 'ok' : `FAILED\n${driver.said}`}`);
    }
  } finally {
    await driver.end();
  }
  return [...results, ...(await runReceiver(peer, { ...run, folder: join(o.cache, peer.name) }))];
}

/** Null, or what went wrong, told as a case that failed: the driver is ours. */
async function build(peer: Peer, folder: string): Promise<CaseResult | null> {
  const itself = { id: 'build', asserts: 'The driver can be built.' };
  const body = async () => peer.build?.(folder);
  const result = await tryCase(peer, itself, body, () => ({ verdicts: [], checks: [] }));
  return result.fault === null ? null : result;
}

/** The verdict, with the error that it was given for as the product read it. */
function inWords({ verdict, error }: Judgement): string {
  const read = [error?.code, error?.detail].filter((part) => part !== undefined && !verdict.includes(part));
  return [verdict, ...read].join(' ');
}

function balance({ inbox }: Target, owed: ReadonlySet<string>): Check {
  const there = inbox === null ? [] : new Delivered(inbox.directory).messageIds();
  const once = there.length === owed.size && new Set(there).size === there.length;
  return {
    what: `${owed.size} messages in the folder, once each, and nothing else`,
    ok: once && there.every((id) => owed.has(id)),
    instead: `${there.length} directories`,
  };
}
