import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Makes the entries of a directory durable. */
export function syncDirectory(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * Makes a directory, and what is missing above it, so that a power loss cannot take it away again with all that was made durable in it
 * meanwhile: an fsync of a file does not cover the entries above it. Does nothing when it is there.
 */
export function makeDirectory(path: string, mode?: number): void {
  const wanted = resolve(path);
  const first = mkdirSync(wanted, { recursive: true, ...(mode !== undefined && { mode }) });
  if (first === undefined) return;
  for (let made = wanted; made.length >= first.length; made = dirname(made)) syncDirectory(dirname(made));
}
