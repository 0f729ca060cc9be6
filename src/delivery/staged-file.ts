import { createHash } from 'node:crypto';
import { closeSync, fchmodSync, fchownSync, fdatasyncSync, openSync, renameSync } from 'node:fs';
import { writeAll } from './write-all.ts';

/** Bytes that are gathered before they are written: nearly every file is one write. */
const gather = 256 * 1024;

export interface Ownership {
  readonly mode: number | null;
  readonly gid: number | null;
  /** umask of the process: a mode that it leaves whole needs no chmod. */
  readonly umask: number;
}

/**
 * One file of a staged directory: written, hashed and made durable. It is made when there is enough to write, or at its end, so that a
 * small file whose name depends on its content needs no rename.
 */
export class StagedFile {
  readonly #path: string;
  readonly #own: Ownership;
  readonly #hash = createHash('sha256');
  #fd: number | null = null;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #bytes = 0;

  /** @param path where the file is until `finish` says otherwise */
  constructor(path: string, own: Ownership) {
    this.#path = path;
    this.#own = own;
  }

  /** The chunk must not change afterwards. */
  write(chunk: Uint8Array): void {
    this.#hash.update(chunk);
    this.#bytes += chunk.length;
    this.#waitingBytes += chunk.length;
    this.#waiting.push(chunk);
    if (this.#waitingBytes < gather) return;
    this.#fd ??= this.#make(this.#path);
    this.#flush(this.#fd);
  }

  #make(path: string): number {
    const { mode, gid, umask } = this.#own;
    const bits = mode === null ? 0o666 : mode & 0o666;
    const fd = openSync(path, 'wx', bits);
    if (gid !== null) fchownSync(fd, process.geteuid?.() ?? 0, gid);
    if (mode !== null && (bits & umask) !== 0) fchmodSync(fd, bits);
    return fd;
  }

  #flush(fd: number): void {
    const [first] = this.#waiting;
    if (first !== undefined) writeAll(fd, this.#waiting.length === 1 ? first : Buffer.concat(this.#waiting));
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  /**
   * Durable but for the directory's entry, and closed.
   * @param path its name, if that is another than it had until now
   */
  finish(path = this.#path): { bytes: number; sha256: string } {
    const made = this.#fd;
    const fd = made ?? this.#make(path);
    this.#fd = fd;
    try {
      this.#flush(fd);
      fdatasyncSync(fd);
    } finally {
      this.abandon();
    }
    if (made !== null && path !== this.#path) renameSync(this.#path, path);
    return { bytes: this.#bytes, sha256: this.#hash.digest('hex') };
  }

  /** Closes a file that is given up. */
  abandon(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }
}
