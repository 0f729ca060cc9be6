import { expect, test } from 'vitest';
import { isLocalJournalingFileSystem } from '../delivery/file-systems.ts';
import { judgeKind } from './check-places.ts';
import { kindOf } from './file-system.ts';

/** What check says of a directory on a file system of this type, as /proc/self/mountinfo names it. */
function saidOf(type: string): string[] {
  const { ok } = isLocalJournalingFileSystem('/', `1 0 0:1 / / rw - ${type} none rw`);
  return judgeKind('inbox', '/in', { type, kind: kindOf(type, ok) }).map((f) => `${f.level}: ${f.text}`);
}

test.each(['ext3', 'ext4', 'xfs', 'btrfs', 'zfs', 'f2fs', 'jfs', 'bcachefs'])('%s is all right', (type) => {
  expect(saidOf(type)).toEqual([]);
});

test.each([
  'nfs',
  'nfs4',
  'cifs',
  'smb3',
  'smbfs',
  'ceph',
  '9p',
  'afs',
  'glusterfs',
  'fuse.sshfs',
  'fuse.ceph-fuse',
  'fuse.rclone',
])('%s is wrong: it is no local file system', (type) => {
  expect(saidOf(type)).toEqual([
    expect.stringMatching(`^error: /in is on ${type}, which is no local file system: .* Use a local disk`),
  ]);
});

test.each(['vfat', 'msdos', 'exfat', 'ext2'])('%s is wrong: it keeps no journal', (type) => {
  expect(saidOf(type)).toEqual([
    expect.stringMatching(`^error: /in is on ${type}, which keeps no journal: .* Use ext4`),
  ]);
});

test.each([
  ['tmpfs', 'everything is gone after a restart'],
  ['ramfs', 'everything is gone after a restart'],
  ['overlay', 'everything is gone with this container. Mount a volume'],
  ['fuse.fuse-overlayfs', 'everything is gone with this container. Mount a volume'],
  // A type is known by its whole name, and by nothing that only contains it.
  ['ext4x', 'which we do not know'],
  ['fuse.nfs', 'which we do not know'],
  ['ntfs3', 'which we do not know'],
])('%s is a warning', (type, text) => {
  expect(saidOf(type)).toEqual([expect.stringMatching(`^warning: /in is on ${type}[,:] .*${text}`)]);
});
