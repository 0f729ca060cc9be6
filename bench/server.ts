import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PACKAGE_ROOT } from '../src/config/load.ts';
import { cpuOf, rssOf } from './proc.ts';

/** The built receiver in a process of its own, as it runs in production. */
export interface BenchServer {
  readonly url: string;
  readonly pid: number;
  readonly directory: string;
  /** CPU time that the process has taken, all threads, user and system, ms. */
  cpu(): number;
  /** Resident set, bytes. */
  rss(): number;
  stop(): Promise<void>;
}

export async function startServer(
  o: { readonly nodeArguments?: readonly string[]; readonly env?: Record<string, string> } = {},
): Promise<BenchServer> {
  const directory = mkdtempSync(join(tmpdir(), 'quittance-bench-'));
  const child = spawn(process.execPath, [...(o.nodeArguments ?? []), join(PACKAGE_ROOT, 'dist/cli.js'), 'serve'], {
    cwd: directory,
    env: {
      ...process.env,
      QUITTANCE_HTTP__PORT: '0',
      QUITTANCE_STORE__URL: `sqlite:${join(directory, 'quittance.db')}`,
      QUITTANCE_STORE__MIN_FREE: '1MB',
      QUITTANCE_DELIVERY__INBOX: join(directory, 'inbox'),
      QUITTANCE_DELIVERY__STAGING: join(directory, 'staging'),
      ...o.env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await listening(child);
  const pid = child.pid as number;
  return {
    url,
    pid,
    directory,
    cpu: () => cpuOf(pid),
    rss: () => rssOf(pid),
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Reads the log to its end, so that the pipe never fills, and finds the URL in it. */
function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the receiver ended with ${code} before it listened`)));
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      if (!line.includes('"listening"')) return;
      resolve((JSON.parse(line) as { url: string }).url);
    });
  });
}
