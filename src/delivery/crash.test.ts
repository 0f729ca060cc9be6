import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Bench, message } from './testing/harness.ts';

const script = fileURLToPath(new URL('./testing/child.ts', import.meta.url));
let bench: Bench;
const children: ChildProcess[] = [];
beforeEach(() => {
  bench = new Bench();
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await bench.close();
});

function start(mode: 'once' | 'forever', crashAt?: string): ChildProcess {
  const args = ['--import', 'tsx', script, bench.root, mode, ...(crashAt ? [crashAt] : [])];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  return child;
}

async function end(child: ChildProcess): Promise<unknown> {
  if (child.exitCode !== null || child.signalCode !== null) return child.signalCode ?? child.exitCode;
  const [code, signal] = await once(child, 'exit');
  return signal ?? code;
}

/** As a backend does: takes every directory, after checking that it is complete. Gives the message ids. */
function consume(): string[] {
  return bench.entries().map((entry) => {
    const { messageId, files } = bench.metadata(entry);
    expect(files).toHaveLength(2);
    for (const { name, sha256 } of files) {
      const content = readFileSync(join(bench.inbox, entry, name));
      expect(createHash('sha256').update(content).digest('hex')).toBe(sha256);
    }
    rmSync(join(bench.inbox, entry), { recursive: true });
    return messageId;
  });
}

const ids = Array.from({ length: 5 }, (_, at) => `m-${at}`);

it.each(['staging-half:1', 'staging-half:3', 'staged:1', 'handing-over:1', 'renamed:1', 'renamed:3', 'renamed:5'])(
  'killed at %s, every message is in the folder exactly once after the restart, complete, also if the backend took some meanwhile',
  async (moment) => {
    await bench.accept(...ids.map((id) => message(id)));
    expect(await end(start('once', moment))).toBe('SIGKILL');
    const seen = consume();
    expect(await end(start('once'))).toBe(0);
    seen.push(...consume());
    expect(seen.sort()).toEqual(ids);
    expect(bench.entries(bench.staging)).toEqual([]);
    expect((await (await bench.store()).counts()).delivered).toBe(5);
  },
);

it('of two processes one delivers, and the other takes over when it is killed', async () => {
  const processes = [start('forever'), start('forever')];
  await Promise.all(processes.map((child) => once(child.stdout!, 'data')));
  const seen: string[] = [];
  for (let round = 0; round < 4; round++) {
    await bench.accept(...Array.from({ length: 20 }, (_, at) => message(`${round}-${at}`)));
    if (round === 1) processes[0]?.kill('SIGKILL');
    if (round === 2) {
      // Whoever was not killed in the round before: one of the two was the holder, and both are gone once.
      processes.push(start('forever'));
      await once(processes[2]!.stdout!, 'data');
      processes[1]?.kill('SIGKILL');
    }
    seen.push(...consume());
  }
  await expect.poll(async () => (await (await bench.store()).counts()).delivered, { timeout: 20_000 }).toBe(80);
  seen.push(...consume());
  expect(seen).toHaveLength(80);
  expect(new Set(seen).size).toBe(80);
});
