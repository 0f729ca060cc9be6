import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { openSpool } from './spool.ts';

let root: string;
let n = 0;
const newId = () => `id-${n++}`;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'spool-'));
});

it('keeps a small payload in memory and touches no disk', async () => {
  const spool = openSpool(root, 10, newId);
  const sink = spool.sink();
  await sink.write(Buffer.from('hello'));
  await sink.write(Buffer.from('world'));
  expect(sink.finish().toString()).toBe('helloworld');
  spool.close();
});

it('moves to a file beyond the limit, with every octet in order', async () => {
  const spool = openSpool(root, 10, newId);
  const sink = spool.sink();
  const all: Buffer[] = [];
  for (let i = 0; i < 100; i++) {
    const chunk = Buffer.from(`chunk ${i};`);
    all.push(chunk);
    await sink.write(chunk);
  }
  const done = sink.finish();
  if (Buffer.isBuffer(done)) throw new Error('expected a file');
  expect(readFileSync(done.file)).toEqual(Buffer.concat(all));
  sink.discard();
  expect(existsSync(done.file)).toBe(false);
  sink.discard();
  spool.close();
});

it('lets the store move the file away', async () => {
  const spool = openSpool(root, 0, newId);
  const sink = spool.sink();
  await sink.write(Buffer.from('x'));
  const done = sink.finish();
  if (Buffer.isBuffer(done)) throw new Error('expected a file');
  renameSync(done.file, join(root, 'kept'));
  sink.discard();
  expect(existsSync(join(root, 'kept'))).toBe(true);
  spool.close();
});

it('removes what a killed process left, and leaves a living one alone', () => {
  const script = `
    import Database from 'better-sqlite3';
    import { mkdirSync, writeFileSync } from 'node:fs';
    mkdirSync(process.argv[1] + '/dead'); writeFileSync(process.argv[1] + '/dead/payload', 'x');
    new Database(process.argv[1] + '/dead/lock').exec('BEGIN EXCLUSIVE');
    process.kill(process.pid, 'SIGKILL');`;
  try {
    execFileSync(process.execPath, ['--input-type=module', '-e', script, root], { cwd: process.cwd() });
  } catch {
    // killed, as meant
  }
  expect(readdirSync(root)).toEqual(['dead']);
  const living = openSpool(root, 10, newId);
  expect(readdirSync(root)).toHaveLength(1);
  expect(readdirSync(root)).not.toContain('dead');
  const other = openSpool(root, 10, newId);
  expect(readdirSync(root)).toHaveLength(2);
  other.close();
  living.close();
  expect(readdirSync(root)).toHaveLength(0);
});
