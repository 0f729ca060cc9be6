import fs from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ContentFiles } from './content-files.ts';
import { makeDirectory } from './durable-directory.ts';
import { openSqliteStore } from './sqlite.ts';

let root = '';
let synced: string[] = [];
const { fsyncSync } = fs;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'quittance-durable-'));
  synced = [];
  // The real call, and a note of which file it was for.
  fs.fsyncSync = (fd) => {
    synced.push(fs.readlinkSync(`/proc/self/fd/${fd}`));
    fsyncSync(fd);
  };
  syncBuiltinESMExports();
});
afterEach(async () => {
  fs.fsyncSync = fsyncSync;
  syncBuiltinESMExports();
  await rm(root, { recursive: true, force: true });
});

test('every directory that got a new entry is synced, once', () => {
  makeDirectory(join(root, 'a', 'b', 'c'));
  expect(synced.sort()).toEqual([root, join(root, 'a'), join(root, 'a', 'b')]);
  synced = [];
  makeDirectory(join(root, 'a', 'b', 'c'));
  expect(synced).toEqual([]);
});

test('the directory of the content files is durable before a payload is moved into it', async () => {
  await ContentFiles.open(join(root, 'content'));
  expect(synced).toEqual([root]);
  await ContentFiles.open(join(root, 'content'));
  expect(synced).toEqual([root]);
});

test('the directory of a new database is durable', async () => {
  const store = await openSqliteStore({ url: `sqlite:${join(root, 'new', 'q.db')}`, heartbeat: false });
  await store.close();
  expect(synced).toEqual([root, join(root, 'new')]);
});
