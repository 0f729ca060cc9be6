import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** The nearest folder that is there: where a folder that is not there yet would be made. */
function nearest(path: string): string {
  const absolute = resolve(path);
  return existsSync(absolute) || dirname(absolute) === absolute ? absolute : nearest(dirname(absolute));
}

/** Whether two folders, there or not yet, are on one file system, so that a rename between them is possible. */
export function sameFileSystem(a: string, b: string): boolean {
  return statSync(nearest(a)).dev === statSync(nearest(b)).dev;
}

/** Local file systems whose journal keeps the order that the guarantees need. */
const journaling: ReadonlySet<string> = new Set(['ext3', 'ext4', 'xfs', 'btrfs', 'zfs', 'f2fs', 'jfs', 'bcachefs']);

/**
 * Whether a folder is on a local journaling file system; the guarantees hold for no other (architecture §4).
 * @param mountInfo the text of /proc/self/mountinfo; read when left out
 * @returns the type, e.g. `nfs4`; `unknown` where the system does not say
 */
export function isLocalJournalingFileSystem(path: string, mountInfo?: string): { ok: boolean; type: string } {
  const type = typeOf(realpathSync(nearest(path)), mountInfo ?? readMountInfo()) ?? 'unknown';
  return { ok: journaling.has(type), type };
}

function readMountInfo(): string {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    // Not Linux: then it is `unknown`, which is named to the operator.
    return '';
  }
}

/** The type in the last line with the longest mount point above the path: a later mount hides an earlier one (proc_pid_mountinfo(5)). */
function typeOf(path: string, mountInfo: string): string | null {
  let longest = -1;
  let type: string | null = null;
  for (const line of mountInfo.split('\n')) {
    const [before, after] = line.split(' - ');
    const point = unescapeOctal(before?.split(' ')[4] ?? '');
    const inside = point === '/' || path === point || path.startsWith(`${point}/`);
    if (after === undefined || point === '' || !inside || point.length < longest) continue;
    longest = point.length;
    type = after.split(' ')[0] ?? null;
  }
  return type;
}

function unescapeOctal(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
