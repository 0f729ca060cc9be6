import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { groupId } from '../config/group-id.ts';
import type { Config } from '../config/schema.ts';
import { canRename, type Place, placeOf } from './file-system.ts';
import { error, type Finding, ok, warning } from './finding.ts';

/** Inbox and staging, and the disk of the database: there, writable, of the right kind, with room. */
export async function checkPlaces(config: Config): Promise<Finding[]> {
  const { inbox, staging, group } = config.delivery;
  const database = dirname(config.store.url.slice('sqlite:'.length));
  const findings = [
    ...(await checkPlace('inbox', inbox)),
    ...(await checkPlace('staging', staging)),
    ...(await checkPlace('database', database)),
  ];
  if (findings.some((f) => f.level === 'error')) return findings;
  const [i, s, d] = [await placeOf(inbox), await placeOf(staging), await placeOf(database)];
  findings.push(
    (await canRename(s, i))
      ? ok('staging', 'on the same file system as the inbox')
      : error(
          'staging',
          `${staging} and ${inbox} are on different file systems; set delivery.staging to a directory beside the inbox.`,
        ),
  );
  findings.push(room(d, config.store.minFree));
  try {
    groupId(group);
  } catch (cause) {
    findings.push(error('inbox', (cause as Error).message));
  }
  return findings;
}

async function checkPlace(what: string, path: string): Promise<Finding[]> {
  try {
    const found = await stat(path).catch(() => null);
    if (found && !found.isDirectory()) return [error(what, `${path} is not a directory; name another one.`)];
    const place = await placeOf(path);
    await access(place.directory, constants.W_OK | constants.X_OK);
    const state = place.directory === path ? 'is writable' : 'will be created at the start';
    return [ok(what, `${path} ${state}`), ...judgeKind(what, path, place)];
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'EACCES' || code === 'EPERM')
      return [error(what, `${path} cannot be written by this user; change its owner or permissions.`)];
    if (code === 'EROFS')
      return [error(what, `${path} is on a file system that is mounted read-only; mount it for writing.`)];
    return [error(what, `${path} cannot be used: ${message}.`)];
  }
}

/** What the guarantees are worth on this file system. */
export function judgeKind(what: string, path: string, place: Pick<Place, 'type' | 'kind'>): Finding[] {
  const on = `${path} is on ${place.type}`;
  switch (place.kind) {
    case 'journaling':
      return [];
    case 'network':
      return [
        error(what, `${on}, which is no local file system: "exactly once" is not promised there. Use a local disk.`),
      ];
    case 'memory':
      return [warning(what, `${on}, in memory: everything is gone after a restart of the machine. Use a local disk.`)];
    case 'layered':
      return [warning(what, `${on}: everything is gone with this container. Mount a volume there.`)];
    case 'plain':
      return [
        error(
          what,
          `${on}, which keeps no journal: "exactly once" is not promised there. Use ext4, xfs, btrfs or zfs.`,
        ),
      ];
    case 'unknown':
      return [
        warning(what, `${on}, which we do not know: "exactly once" is promised on local journaling file systems only.`),
      ];
  }
}

function room(place: Place, minFree: number): Finding {
  const megabytes = (bytes: number) => `${Math.floor(bytes / 1e6).toLocaleString('en')} MB`;
  const text = `${megabytes(place.free)} free where the database is; store.minFree is ${megabytes(minFree)}`;
  if (place.free >= minFree) return ok('disk', text);
  return error('disk', `${text}, so new messages would get 503. Free some space or lower store.minFree.`);
}
