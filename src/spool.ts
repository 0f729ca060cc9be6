import { closeSync, existsSync, mkdirSync, openSync, readdirSync, rmSync, unlinkSync, write, writeSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Database from 'better-sqlite3';

const writeAt = promisify(write);

/** Where the octets of one payload go until they are known to be good: memory while they are few, a file beyond that. */
export interface SpoolSink {
  write(chunk: Buffer): void | Promise<void>;
  /** What was written: a buffer, or the file that holds it. The caller owns the file until it calls `discard`. */
  finish(): Buffer | { readonly file: string };
  /** Removes the file unless something moved it away. Safe to call twice, and after `finish`. */
  discard(): void;
}

export interface Spool {
  sink(): SpoolSink;
  /** Removes this process's directory. */
  close(): void;
}

/**
 * A spool directory that belongs to this process: others see that it is in use by a lock that the operating system releases with
 * the process, so that what a killed process left behind is removed by the next one that starts, and nothing else is.
 * @param root parent of the directories of all processes
 * @param memoryLimit bytes that stay in memory
 */
export function openSpool(root: string, memoryLimit: number, newId: () => string): Spool {
  mkdirSync(root, { recursive: true });
  for (const name of readdirSync(root)) removeAbandoned(join(root, name));
  const { directory, lock } = claimDirectory(root, newId);
  return {
    sink: () => createSink(() => join(directory, newId()), memoryLimit),
    close() {
      lock.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function claimDirectory(root: string, newId: () => string): { directory: string; lock: Database.Database } {
  for (let attempt = 0; ; attempt++) {
    const directory = join(root, newId());
    mkdirSync(directory, { mode: 0o700 });
    const lock = holdLock(directory);
    // Between mkdir and lock another process that starts may take the directory for an abandoned one.
    if (lock !== null && existsSync(join(directory, 'lock'))) return { directory, lock };
    lock?.close();
    if (attempt === 10) throw new Error(`cannot lock a spool directory below ${root}`);
  }
}

function holdLock(directory: string): Database.Database | null {
  let lock: Database.Database | null = null;
  try {
    lock = new Database(join(directory, 'lock'), { timeout: 0 });
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch {
    lock?.close();
    return null;
  }
}

function removeAbandoned(directory: string): void {
  const lock = holdLock(directory);
  if (lock === null) return;
  rmSync(directory, { recursive: true, force: true });
  lock.close();
}

function createSink(newFile: () => string, memoryLimit: number): SpoolSink {
  let held: Buffer[] = [];
  let bytes = 0;
  let file: string | null = null;
  let descriptor = -1;
  const append = async (chunk: Buffer) => {
    // Positional and sequential: a short write would otherwise leave a hole that only a digest finds.
    for (let done = 0; done < chunk.length; ) done += (await writeAt(descriptor, chunk, done)).bytesWritten;
  };
  return {
    write(chunk) {
      bytes += chunk.length;
      if (file === null && bytes <= memoryLimit) {
        held.push(chunk);
        return;
      }
      if (file === null) {
        file = newFile();
        descriptor = openSync(file, 'wx', 0o600);
        for (const early of held) writeSync(descriptor, early);
        held = [];
      }
      return append(chunk);
    },
    finish() {
      if (file === null) return held.length === 1 ? (held[0] as Buffer) : Buffer.concat(held);
      closeSync(descriptor);
      descriptor = -1;
      return { file };
    },
    discard() {
      held = [];
      if (descriptor !== -1) closeSync(descriptor);
      descriptor = -1;
      if (file !== null) {
        try {
          unlinkSync(file);
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
        }
      }
    },
  };
}
