import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { DriverCommand } from './driver.ts';

/** Another product that listens, in a process of its own. */
export interface PeerReceiver {
  readonly url: URL;
  readonly pid: number;
  /** Where it puts the payloads that it takes. */
  readonly folder: string;
  /** The last of what it has said on stderr. */
  readonly said: () => string;
  /** Ends it and removes its folder. */
  readonly stop: () => Promise<void>;
}

const PATIENCE = 120_000;

/**
 * Starts a receiver, which says `listening URL` once it does, and ends with its standard input.
 * @param command gets the folder for the payloads
 * @throws Error when it ends before it listens, or does not within two minutes
 */
export async function startPeerReceiver(command: (folder: string) => DriverCommand): Promise<PeerReceiver> {
  const folder = mkdtempSync(join(tmpdir(), 'quittance-peer-'));
  const { program, args, env, directory } = command(folder);
  const child = spawn(program, args, {
    cwd: directory,
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => {});
  let said = '';
  child.stderr.on('data', (piece: Buffer) => {
    said = (said + piece.toString()).slice(-4000);
  });
  const stop = async () => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.stdin.end();
      const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await ended;
      clearTimeout(timer);
    }
    rmSync(folder, { recursive: true, force: true });
  };
  let timer: NodeJS.Timeout | undefined;
  try {
    const url = await new Promise<URL>((resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`it does not listen\n${said}`)), PATIENCE);
      child.on('error', reject);
      child.on('exit', (code) => reject(new Error(`it ended with ${code} before it listened\n${said}`)));
      createInterface({ input: child.stdout }).on('line', (line) => {
        const address = /^listening (\S+)$/.exec(line)?.[1];
        if (address !== undefined) resolve(new URL(address));
      });
    });
    return { url, pid: child.pid as number, folder, said: () => said, stop };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
