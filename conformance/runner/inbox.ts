import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A file that the receiver has handed over. */
interface Found {
  /** Size and time of change: a product may write a file where it lies, and a glance at half of it must not last. */
  readonly version: string;
  readonly sha256: string;
  /** Text of a small JSON file, where products put what they know about a message. */
  readonly json: string | null;
}

/**
 * The folder that a receiver delivers to, whatever its layout: what counts is how many files in it are, octet for octet, the payload
 * that was sent. Every payload of the suite is unique, so each may be found once at most.
 */
export class Inbox {
  readonly directory: string;
  readonly #files = new Map<string, Found>();

  constructor(directory: string) {
    this.directory = directory;
  }

  /** Files with these octets, as paths. */
  copiesOf(sha256: string): string[] {
    return [...this.#files].filter(([, file]) => file.sha256 === sha256).map(([path]) => path);
  }

  /** Whether a file name or a JSON file mentions the MessageId. */
  mentions(messageId: string): boolean {
    if (messageId === '') return false;
    const safe = messageId.replace(/[^A-Za-z0-9._-]/g, '_');
    return [...this.#files].some(
      ([path, { json }]) =>
        path.includes(safe) || path.includes(messageId) || json?.includes(JSON.stringify(messageId)),
    );
  }

  /** `warnings` of a metadata.json beside the file; null when the product writes no such file. */
  warningsBeside(path: string): readonly unknown[] | null {
    const json = this.#files.get(join(dirname(path), 'metadata.json'))?.json;
    if (json === undefined || json === null) return null;
    try {
      const { warnings } = JSON.parse(json) as { warnings?: unknown };
      return Array.isArray(warnings) ? warnings : [];
    } catch {
      return null;
    }
  }

  /** Looks again; files that are as they were are not read again. */
  scan(): void {
    const seen = new Set<string>();
    for (const entry of readdirSync(this.directory, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (!entry.isFile() || entry.name.endsWith('.tmp')) continue;
      try {
        const { size, mtimeMs } = statSync(path);
        const version = `${size} ${mtimeMs}`;
        if (this.#files.get(path)?.version !== version) this.#read(path, version);
        seen.add(path);
      } catch (error) {
        // Renamed or taken away since.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      }
    }
    for (const path of this.#files.keys()) if (!seen.has(path)) this.#files.delete(path);
  }

  #read(path: string, version: string): void {
    const octets = readFileSync(path);
    this.#files.set(path, {
      version,
      sha256: sha256Of(octets),
      json: basename(path).endsWith('.json') && octets.length < 65_536 ? octets.toString('utf8') : null,
    });
  }

  /** Resolves true once the octets are there, false after `timeout` ms. */
  async waitFor(sha256: string, timeout: number): Promise<boolean> {
    for (const end = Date.now() + timeout; ; ) {
      this.scan();
      if (this.copiesOf(sha256).length > 0) return true;
      if (Date.now() > end) return false;
      await sleep(50);
    }
  }
}

export function sha256Of(octets: Uint8Array): string {
  return createHash('sha256').update(octets).digest('hex');
}
