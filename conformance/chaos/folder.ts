import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256Of } from '../runner/inbox.ts';
import type { Delivery } from './balance.ts';

/** Reads what a receiver has handed over: a directory for each message; what is hidden is not for the backend. */
export function readFolder(directory: string): Delivery[] {
  return visible(directory).map((name) => ({
    name,
    files: new Set(visible(join(directory, name)).map((file) => sha256Of(readFileSync(join(directory, name, file))))),
  }));
}

function visible(directory: string): string[] {
  return readdirSync(directory).filter((name) => !name.startsWith('.'));
}
