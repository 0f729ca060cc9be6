import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isLocalJournalingFileSystem, sameFileSystem } from './file-systems.ts';

/** A line of /proc/self/mountinfo. */
const line = (point: string, type: string): string => `1 1 0:1 / ${point} rw shared:1 - ${type} x rw`;

it('two folders of one directory are on one file system, also before they are there', () => {
  const root = mkdtempSync(join(tmpdir(), 'quittance-fs-'));
  expect(sameFileSystem(join(root, 'not', 'yet'), root)).toBe(true);
  expect(sameFileSystem('/proc/self', root)).toBe(false);
});

it.each([
  ['ext4', true],
  ['xfs', true],
  ['btrfs', true],
  ['zfs', true],
  ['overlay', false],
  ['tmpfs', false],
  ['nfs4', false],
  ['cifs', false],
])('a folder on %s is on a local journaling file system: %s', (type, ok) => {
  expect(isLocalJournalingFileSystem('/', line('/', type))).toEqual({ ok, type });
});

it('the file system is the one of the innermost mount, and of the last one there', () => {
  const root = mkdtempSync(join(tmpdir(), 'quittance-fs-'));
  const table = [line('/', 'ext4'), line(root, 'nfs'), line(`${root}x`, 'zfs'), line(root, 'xfs')].join('\n');
  expect(isLocalJournalingFileSystem(join(root, 'inbox'), table).type).toBe('xfs');
  expect(isLocalJournalingFileSystem(root, line(root.replace('-', '\\055'), 'cifs')).type).toBe('cifs');
  expect(isLocalJournalingFileSystem(root, '').type).toBe('unknown');
});

it('the table of this machine names a type for the working directory', () => {
  expect(isLocalJournalingFileSystem('.').type).not.toBe('unknown');
});
