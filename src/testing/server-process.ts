import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { PACKAGE_ROOT } from '../config/load.ts';

export interface LogLine {
  readonly msg: string;
  readonly level: number;
  readonly url?: string;
  readonly pid?: number;
  readonly messageId?: string;
  readonly decision?: string;
  readonly [key: string]: unknown;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
}

/** The built receiver in a process of its own, as it runs in production. */
export interface ServerProcess {
  /** URL of the endpoint, once it listens; rejects with what the process said when it ends before. */
  readonly listening: Promise<string>;
  /** The same; throws before it listens. */
  readonly url: string;
  readonly log: readonly LogLine[];
  readonly ended: Promise<Ended>;
  stderr(): string;
  /** The first line with this `msg`, now or later; rejects when the process ends without it. */
  says(msg: string): Promise<LogLine>;
  signal(name: NodeJS.Signals): void;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with how it ended. */
  stop(): Promise<Ended>;
  /** Resident memory, bytes: now, and the highest since `forgetPeak`. Linux only. */
  memory(): { readonly now: number; readonly peak: number };
  forgetPeak(): void;
}

export interface SpawnOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly arguments: readonly string[];
  readonly nodeArguments: readonly string[];
}

/** Starts `quittance serve`. Nothing of this process's own environment goes into it but PATH. */
export function spawnServer(o: SpawnOptions): ServerProcess {
  const child: ChildProcessByStdio<null, Readable, Readable> = spawn(
    process.execPath,
    [...o.nodeArguments, join(PACKAGE_ROOT, 'dist/cli.js'), 'serve', ...o.arguments],
    { cwd: o.cwd, env: { PATH: process.env.PATH, ...o.env }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const log: LogLine[] = [];
  let watchers: (() => void)[] = [];
  createInterface({ input: child.stdout }).on('line', (text) => {
    log.push(parse(text));
    for (const look of watchers) look();
  });
  let err = '';
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  const ended: Promise<Ended> = once(child, 'close').then(([code, signal]) => ({ code, signal }) as Ended);
  const says = (msg: string): Promise<LogLine> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const line = log.find((one) => one.msg === msg);
        if (line === undefined) return;
        watchers = watchers.filter((one) => one !== look);
        resolve(line);
      };
      watchers.push(look);
      look();
      void ended.then((how) => reject(new Error(`ended (${JSON.stringify(how)}) without saying "${msg}": ${err}`)));
    });
  const listening = says('listening').then(({ url }) => url as string);
  // Who kills it during its start does not ask for the URL.
  listening.catch(() => {});
  return {
    listening,
    get url() {
      const line = log.find(({ msg }) => msg === 'listening');
      if (line?.url === undefined) throw new Error(`it does not listen: ${err}`);
      return line.url;
    },
    log,
    ended,
    stderr: () => err,
    says,
    signal: (name) => void child.kill(name),
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    stop() {
      child.kill('SIGTERM');
      return ended;
    },
    memory() {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      const of = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1] ?? Number.NaN) * 1024;
      return { now: of('VmRSS'), peak: of('VmHWM') };
    },
    // "5" resets the peak to what is resident now (proc(5)).
    forgetPeak: () => writeFileSync(`/proc/${child.pid}/clear_refs`, '5'),
  };
}

function parse(text: string): LogLine {
  try {
    return JSON.parse(text) as LogLine;
  } catch {
    // A process that is killed may leave half a line.
    return { msg: text, level: 0 };
  }
}
