import { closeSync, fsyncSync, openSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { syncDirectory } from '../store/durable-directory.ts';
import { writeAll } from './write-all.ts';

/** Name of the marker file in the inbox. Pollers ignore names that begin with a dot. */
export const inboxMarker = '.quittance-inbox.json';
/** Name of the marker file in staging, which also holds the highest hand-over number. */
export const stagingMarker = '.quittance-staging.json';

export interface Marker {
  readonly id: string;
  /** 0 in the inbox's. */
  readonly highest: number;
}

/**
 * Reads a marker file.
 * @returns null when it is not there (also when its folder is not); `unreadable` when it is not what we write
 * @throws what the file system says otherwise: a disk that fails tells nothing about the marker
 */
export function readMarker(file: string): Marker | null | 'unreadable' {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error;
  }
  return parse(text) ?? 'unreadable';
}

function parse(text: string): Marker | null {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || !('id' in value) || typeof value.id !== 'string') return null;
    const highest = 'highest' in value ? value.highest : 0;
    return Number.isSafeInteger(highest) ? { id: value.id, highest: Number(highest) } : null;
  } catch {
    // Not JSON is the answer, not a fault: somebody else's file.
    return null;
  }
}

/** Text of a marker file, also for the sentence that tells an operator how to make one by hand. */
export function markerText(kind: 'inbox' | 'staging', marker: Marker): string {
  return `${JSON.stringify({ quittance: kind, id: marker.id, ...(kind === 'staging' ? { highest: marker.highest } : {}) })}\n`;
}

/** Replaces a marker as a whole. Durable once the folder is fsynced, which the caller may share with other work. */
export function writeMarker(folder: string, kind: 'inbox' | 'staging', marker: Marker): void {
  const file = join(folder, kind === 'inbox' ? inboxMarker : stagingMarker);
  const fd = openSync(`${file}.new`, 'w', 0o644);
  try {
    writeAll(fd, Buffer.from(markerText(kind, marker)));
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(`${file}.new`, file);
}

/** Both markers, durable. Staging first: while the inbox has none, nothing is handed over. */
export function writeMarkers(
  o: { inbox: string; staging: string },
  ids: { inbox: string; staging: string },
  highest: number,
): void {
  writeMarker(o.staging, 'staging', { id: ids.staging, highest });
  syncDirectory(o.staging);
  writeMarker(o.inbox, 'inbox', { id: ids.inbox, highest: 0 });
  syncDirectory(o.inbox);
}
