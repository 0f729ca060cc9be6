import {
  chmodSync,
  chownSync,
  closeSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { makeDirectory, syncDirectory } from '../store/durable-directory.ts';
import { DeliveryError } from './delivery-error.ts';
import { sameFileSystem } from './file-systems.ts';
import { inboxMarker, type Marker, markerText, readMarker, stagingMarker, writeMarkers } from './markers.ts';
import { isDirectoryName } from './names.ts';
import type {
  FolderState,
  MarkerIds,
  Operations,
  RenameOutcome,
  Renames,
  Unsynced,
  WorkerSettings,
} from './protocol.ts';

const probe = '.quittance-probe';

/** Inbox and staging as the worker sees them (architecture §4). Every method works synchronously: the worker has nothing else to do. */
export class Folder {
  readonly #o: WorkerSettings;

  constructor(settings: WorkerSettings) {
    this.#o = settings;
  }

  inspect(ids: MarkerIds | null, known: number): FolderState {
    const staging = readMarker(join(this.#o.staging, stagingMarker));
    const inbox = readMarker(join(this.#o.inbox, inboxMarker));
    if (ids === null) return this.#inspectNew(staging);
    const wrong =
      complaint('staging', this.#o.staging, staging, { id: ids.staging, highest: known }) ??
      complaint('inbox', this.#o.inbox, inbox, { id: ids.inbox, highest: 0 });
    if (wrong !== null) return { kind: 'wrong', what: wrong };
    this.#demandOneFileSystem();
    return { kind: 'right', highest: highestOf(staging) };
  }

  #inspectNew(staging: Marker | null | 'unreadable'): FolderState {
    for (const folder of [this.#o.staging, this.#o.inbox]) {
      if (strangers(folder).length === 0) continue;
      const what = `${folder} is not empty, and this database never delivered to it; name an empty folder, or empty this one`;
      return { kind: 'wrong', what };
    }
    this.#demandOneFileSystem();
    return { kind: 'new', highest: highestOf(staging) };
  }

  #demandOneFileSystem(): void {
    if (!sameFileSystem(this.#o.staging, this.#o.inbox)) throw apart(this.#o);
  }

  /** Makes the folders where they are missing, and both markers. */
  mark(ids: MarkerIds, highest: number): void {
    for (const folder of [this.#o.staging, this.#o.inbox]) makeDirectory(folder);
    this.permit();
    writeMarkers(this.#o, ids, highest);
  }

  /** The backend of another user must be able to take a directory out of the inbox. */
  permit(): void {
    const { inbox, mode, gid } = this.#o;
    const found = statSync(inbox);
    // In this order: changing the group may take away bits.
    if (gid !== null && found.gid !== gid) chownSync(inbox, found.uid, gid);
    if (mode !== null && (found.mode & mode) !== mode) chmodSync(inbox, (found.mode & 0o7777) | mode);
  }

  /** What a crash left in staging goes, but for `keep`; the names of those that are there are the answer. */
  prepare(keep: readonly string[]): Operations['prepare']['answer'] {
    const { staging } = this.#o;
    this.permit();
    this.#proveRename();
    const wanted = new Set(keep);
    const found: string[] = [];
    for (const name of readdirSync(staging)) {
      if (wanted.has(name)) found.push(name);
      else if (isDirectoryName(name)) rmSync(join(staging, name), { recursive: true, force: true });
    }
    // Also makes the renames of the process before us durable, before anyone calls them delivered.
    return { found, unsynced: this.#syncRenames() };
  }

  /** Only what fsync itself says is about the renames: a folder that cannot be opened is thrown, and asked again. */
  #syncRenames(): Unsynced {
    for (const folder of [this.#o.inbox, this.#o.staging]) {
      try {
        syncDirectory(folder);
      } catch (error) {
        if (!(error instanceof Error && 'syscall' in error && error.syscall === 'fsync')) throw error;
        const fate =
          'whether what was just handed over will stay is unknown; look at the kernel log, then at the reviews';
        return `${folder} could not be written through to the disk (${error.message}): ${fate}`;
      }
    }
    return null;
  }

  /** st_dev alone does not tell a bind mount: only a rename shows that renames work. */
  #proveRename(): void {
    const from = join(this.#o.staging, probe);
    const to = join(this.#o.inbox, probe);
    closeSync(openSync(from, 'w'));
    try {
      renameSync(from, to);
    } catch (error) {
      unlinkSync(from);
      if (!(error instanceof Error && 'code' in error && error.code === 'EXDEV')) throw error;
      throw apart(this.#o, error);
    }
    unlinkSync(to);
  }

  /** Throws `held` unless the inbox, and staging too if asked, is still the one that was inspected. */
  confirm(ids: MarkerIds, which: 'both' | 'inbox'): void {
    const { inbox } = this.#o;
    const wrong =
      complaint('inbox', inbox, readMarker(join(inbox, inboxMarker)), { id: ids.inbox, highest: 0 }) ??
      (which === 'both' ? this.#missesStaging(ids) : null);
    if (wrong !== null) throw new DeliveryError('held', wrong);
  }

  #missesStaging(ids: MarkerIds): string | null {
    const found = readMarker(join(this.#o.staging, stagingMarker));
    return complaint('staging', this.#o.staging, found, { id: ids.staging, highest: highestOf(found) });
  }

  discard(directories: readonly string[]): void {
    for (const name of directories) rmSync(join(this.#o.staging, name), { recursive: true, force: true });
  }

  /** Renames, and asks the disk to make that durable. Throws the folder's own troubles half-way; reconciliation sees what was done. */
  handOver(directories: readonly string[], renamed: () => void): Renames {
    const outcomes = directories.map((name) => {
      const outcome = this.#rename(name);
      if (outcome === 'renamed') renamed();
      return outcome;
    });
    return { outcomes, unsynced: this.#syncRenames() };
  }

  #rename(name: string): RenameOutcome {
    const from = join(this.#o.staging, name);
    try {
      renameSync(from, join(this.#o.inbox, name));
      return 'renamed';
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      const occupied = code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'ENOTDIR';
      if (occupied && exists(join(this.#o.inbox, name))) return 'occupied';
      if (code === 'ENOENT' && !exists(from)) return 'missing';
      throw error;
    }
  }
}

function apart(o: { inbox: string; staging: string }, cause?: unknown): DeliveryError {
  const text = `${o.staging} and ${o.inbox} must be on the same file system; set delivery.staging to a folder beside the inbox`;
  return new DeliveryError('file-systems', text, cause);
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function highestOf(marker: Marker | null | 'unreadable'): number {
  return marker === null || marker === 'unreadable' ? 0 : marker.highest;
}

function complaint(
  kind: 'inbox' | 'staging',
  folder: string,
  found: Marker | null | 'unreadable',
  expected: Marker,
): string | null {
  if (found !== null && found !== 'unreadable' && found.id === expected.id) return null;
  const file = join(folder, kind === 'inbox' ? inboxMarker : stagingMarker);
  const what = found === null ? 'is missing' : found === 'unreadable' ? 'is not ours' : 'belongs to another database';
  const remedy = `mount the right folder, or, if this is the right one, put there: ${markerText(kind, expected).trim()}`;
  return `deliveries are held back: ${file} ${what}; ${remedy}`;
}

/** What an operator may have put there: everything but dot files and what mkfs makes. */
function strangers(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => !name.startsWith('.') && name !== 'lost+found');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}
