import { createHash } from 'node:crypto';
import { closeSync, fchmodSync, fchownSync, fdatasyncSync, openSync } from 'node:fs';
import { writeAll } from './fs-sync.ts';

/** Bytes that are gathered before they are written: nearly every file is one write. */
const gather = 256 * 1024;

export interface Ownership {
  readonly mode: number | null;
  readonly gid: number | null;
  /** umask of the process: a mode that it leaves whole needs no chmod. */
  readonly umask: number;
}

/** One file of a staged directory: written, hashed and made durable. */
export class StagedFile {
  readonly #fd: number;
  readonly #hash = createHash('sha256');
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #bytes = 0;

  constructor(path: string, own: Ownership) {
    const mode = own.mode === null ? 0o666 : own.mode & 0o666;
    this.#fd = openSync(path, 'wx', mode);
    if (own.gid !== null) fchownSync(this.#fd, process.geteuid?.() ?? 0, own.gid);
    if (own.mode !== null && (mode & own.umask) !== 0) fchmodSync(this.#fd, mode);
  }

  /** The chunk must not change afterwards. */
  write(chunk: Uint8Array): void {
    this.#hash.update(chunk);
    this.#bytes += chunk.length;
    this.#waitingBytes += chunk.length;
    this.#waiting.push(chunk);
    if (this.#waitingBytes >= gather) this.#flush();
  }

  #flush(): void {
    const [first] = this.#waiting;
    if (first !== undefined) writeAll(this.#fd, this.#waiting.length === 1 ? first : Buffer.concat(this.#waiting));
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  /** Durable but for the directory's entry, and closed. */
  finish(): { bytes: number; sha256: string } {
    try {
      this.#flush();
      fdatasyncSync(this.#fd);
    } finally {
      closeSync(this.#fd);
    }
    return { bytes: this.#bytes, sha256: this.#hash.digest('hex') };
  }

  /** Closes a file that is given up. */
  abandon(): void {
    closeSync(this.#fd);
  }
}
