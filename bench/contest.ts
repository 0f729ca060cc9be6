import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WireMessage } from '../src/send/build.ts';
import { rsaFloor } from './floor.ts';
import { type Expected, isReceipt, load } from './load.ts';
import { busyCores, cpuOf } from './proc.ts';

/** A receiver in a process of its own. */
export interface Contestant {
  readonly name: string;
  readonly url: string;
  readonly pid: number;
  /** What it has to answer to a message that it has had. */
  readonly repeat: Expected;
}

export type Kind = 'new' | 'repeat';

/** One product under one load in one round. */
export interface Measured {
  readonly name: string;
  readonly kind: Kind;
  readonly connections: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p95: number;
  /** CPU ms of the product's process for each message, handing over included. */
  readonly cpu: number;
  /** CPU ms of the RSA floor just before: a busy machine makes both dearer. */
  readonly floor: number;
}

export interface Contest {
  readonly measured: readonly Measured[];
  readonly rounds: number;
  /** How many messages warmed each of them. */
  readonly warmed: number;
  /** Share of the cores that was taken, while something was measured, by processes that are none of the contest; 0 to 1. */
  readonly others: number;
}

export interface ContestOptions {
  readonly contestants: readonly Contestant[];
  readonly warm: readonly WireMessage[];
  /** Messages of each round for each number of connections. */
  readonly rounds: readonly (readonly { readonly connections: number; readonly messages: readonly WireMessage[] }[])[];
  readonly cores: number;
  /** `performance.now()` after which no further round begins, and half-way to which the warming ends. */
  readonly deadline: number;
  readonly say: (line: string) => void;
}

/** What was accepted last may still be being handed over, and that is part of its cost; ms. */
const SETTLE = 1500;
const WARM_CONNECTIONS = 16;
const WARM_STEP = 500;

/**
 * Gives the same messages to each, in turns, so that a disturbance of the machine meets all of them: in every other round the order is
 * the other way round.
 * @throws Error when an answer is not what it has to be
 */
export async function contest(o: ContestOptions): Promise<Contest> {
  const warmed = await warmUp(o);
  const measured: Measured[] = [];
  let rounds = 0;
  const share = { foreign: 0, all: 0 };
  for (const [index, round] of o.rounds.entries()) {
    if (index > 0 && performance.now() > o.deadline) break;
    rounds++;
    const order = index % 2 === 0 ? o.contestants : o.contestants.toReversed();
    for (const { connections, messages } of round) {
      const floor = rsaFloor(500);
      for (const kind of ['new', 'repeat'] as const) {
        for (const contestant of order) {
          measured.push({ ...(await measure(contestant, kind, messages, connections, o, share)), floor });
        }
      }
      o.say(`round ${index + 1} of ${o.rounds.length}, ${connections} connections: done`);
    }
  }
  const others = share.all === 0 ? 0 : Math.max(0, share.foreign / share.all);
  return { measured, rounds, warmed, others };
}

/** The same for each: new messages, and the first of them once more. */
async function warmUp({ contestants, warm, deadline, say }: ContestOptions): Promise<number> {
  const half = performance.now() + (deadline - performance.now()) / 2;
  let done = 0;
  while (done < warm.length && performance.now() < half) {
    const step = warm.slice(done, done + WARM_STEP);
    for (const { url } of contestants) await load(url, step, WARM_CONNECTIONS);
    done += step.length;
    if (done % 2000 === 0) say(`warmed with ${done} of ${warm.length} messages`);
  }
  const again = warm.slice(Math.max(0, done - 1000), done);
  for (const { url, repeat } of contestants) await load(url, again, WARM_CONNECTIONS, repeat);
  await sleep(SETTLE);
  return done;
}

async function measure(
  { name, url, pid, repeat }: Contestant,
  kind: Kind,
  messages: readonly WireMessage[],
  connections: number,
  { contestants, cores }: ContestOptions,
  share: { foreign: number; all: number },
): Promise<Omit<Measured, 'floor'>> {
  const ours = () => contestants.reduce((sum, each) => sum + cpuOf(each.pid), cpuOf(process.pid));
  const before = { cpu: cpuOf(pid), busy: busyCores() - ours(), at: performance.now() };
  const { perSecond, p50, p95 } = await load(url, messages, connections, kind === 'new' ? isReceipt : repeat);
  await sleep(SETTLE);
  const cpu = (cpuOf(pid) - before.cpu) / messages.length;
  share.foreign += busyCores() - ours() - before.busy;
  share.all += (performance.now() - before.at) * cores;
  return { name, kind, connections, perSecond, p50, p95, cpu };
}
