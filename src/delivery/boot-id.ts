import { readFileSync } from 'node:fs';

/** Identifies this run of the machine's kernel: another one means that what was not fsynced may be lost (architecture §4). */
export function readBootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}
