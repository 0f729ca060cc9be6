import type { Stats, StatsFs } from 'node:fs';
import { rename, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Whether the guarantees of the hand-over and of the log hold there (architecture §4). */
export type FileSystemKind = 'journaling' | 'network' | 'memory' | 'layered' | 'plain' | 'unknown';

/** Linux, `statfs.f_type`. */
const KNOWN: Readonly<Record<number, readonly [name: string, kind: FileSystemKind]>> = {
  61267: ['ext4', 'journaling'],
  1481003842: ['xfs', 'journaling'],
  2435016766: ['btrfs', 'journaling'],
  801189825: ['zfs', 'journaling'],
  4076150800: ['f2fs', 'journaling'],
  827541066: ['jfs', 'journaling'],
  3393526350: ['bcachefs', 'journaling'],
  26985: ['NFS', 'network'],
  20859: ['SMB', 'network'],
  4283649346: ['CIFS', 'network'],
  4266872130: ['SMB', 'network'],
  12805120: ['Ceph', 'network'],
  16914839: ['9p', 'network'],
  1702057286: ['FUSE', 'unknown'],
  16914836: ['tmpfs', 'memory'],
  2240043254: ['ramfs', 'memory'],
  2035054128: ['overlayfs', 'layered'],
  19780: ['FAT', 'plain'],
  538032816: ['exFAT', 'plain'],
};

export interface Place {
  /** The directory that was looked at: the path itself, or the nearest one above it that is there. */
  readonly directory: string;
  readonly device: number;
  readonly name: string;
  readonly kind: FileSystemKind;
  /** Bytes that an ordinary user may still write. */
  readonly free: number;
}

/** Looks at the file system where `path` is or would be made. */
export async function placeOf(path: string): Promise<Place> {
  const { directory, stats } = await nearestDirectory(path);
  const fs = await statfs(directory);
  const [name, kind] = nameOf(fs);
  return { directory, device: stats.dev, name, kind, free: fs.bavail * fs.bsize };
}

async function nearestDirectory(path: string): Promise<{ directory: string; stats: Stats }> {
  for (let at = path; ; at = dirname(at)) {
    const stats = await stat(at).catch((e: NodeJS.ErrnoException) => {
      if (e.code === 'ENOENT' && at !== dirname(at)) return null;
      throw e;
    });
    if (stats?.isDirectory()) return { directory: at, stats };
    if (stats) throw Object.assign(new Error(`${at} is not a directory`), { code: 'ENOTDIR' });
  }
}

function nameOf(fs: StatsFs): readonly [string, FileSystemKind] {
  if (process.platform !== 'linux') return ['a file system', 'unknown'];
  return KNOWN[fs.type] ?? [`file system type 0x${fs.type.toString(16)}`, 'unknown'];
}

/**
 * Whether a rename from one directory into the other is possible. The device number alone does not see a bind mount, so the kernel is
 * asked, with a rename that can never happen: of `.`, which fails with EXDEV before anything else when the mounts differ.
 */
export async function canRename(from: Place, to: Place): Promise<boolean> {
  if (from.device !== to.device) return false;
  const refusal = await rename(`${from.directory}/.`, `${to.directory}/.`).catch((e: NodeJS.ErrnoException) => e.code);
  return refusal !== 'EXDEV';
}
