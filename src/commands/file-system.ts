import type { Stats } from 'node:fs';
import { rename, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isLocalJournalingFileSystem } from '../delivery/file-systems.ts';

/** Why the guarantees of the hand-over and of the log hold there or not (architecture §4). */
export type FileSystemKind = 'journaling' | 'network' | 'memory' | 'layered' | 'plain' | 'unknown';

/** Types as Linux names them; those that are `journaling` the delivery knows. */
const OTHERS: readonly (readonly [type: RegExp, kind: FileSystemKind])[] = [
  [/^(nfs\d?|cifs|smb\d?|smbfs|ceph|9p|afs|glusterfs|fuse\.(sshfs|glusterfs|ceph.*|s3fs|rclone))$/, 'network'],
  [/^(tmpfs|ramfs|devtmpfs)$/, 'memory'],
  [/^(overlay|aufs|fuse-overlayfs|fuse\.fuse-overlayfs)$/, 'layered'],
  [/^(vfat|msdos|exfat|ext2)$/, 'plain'],
];

export interface Place {
  /** The directory that was looked at: the path itself, or the nearest one above it that is there. */
  readonly directory: string;
  readonly device: number;
  /** Type of the file system, such as `ext4`. */
  readonly type: string;
  readonly kind: FileSystemKind;
  /** Bytes that an ordinary user may still write. */
  readonly free: number;
}

/** Looks at the file system where `path` is or would be made. */
export async function placeOf(path: string): Promise<Place> {
  const { directory, stats } = await nearestDirectory(path);
  const { bavail, bsize } = await statfs(directory);
  const { ok, type } = isLocalJournalingFileSystem(directory);
  return { directory, device: stats.dev, type, kind: kindOf(type, ok), free: bavail * bsize };
}

/** @param journaling whether the delivery knows the type as one of a local journaling file system */
export function kindOf(type: string, journaling: boolean): FileSystemKind {
  return journaling ? 'journaling' : (OTHERS.find(([pattern]) => pattern.test(type))?.[1] ?? 'unknown');
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

/**
 * Whether a rename from one directory into the other is possible. The device number alone does not see a bind mount, so the kernel is
 * asked, with a rename that can never happen: of `.`, which fails with EXDEV before anything else when the mounts differ.
 */
export async function canRename(from: Place, to: Place): Promise<boolean> {
  if (from.device !== to.device) return false;
  const refusal = await rename(`${from.directory}/.`, `${to.directory}/.`).catch((e: NodeJS.ErrnoException) => e.code);
  return refusal !== 'EXDEV';
}
