import { writeSync } from 'node:fs';

/** Writes all of a chunk: a write to a full disk or by a signal may be short. */
export function writeAll(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, bytes.length - at);
}
