import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { inboxMarker } from '../delivery/markers.ts';
import type { Metadata } from '../delivery/metadata.ts';

/** A directory of the inbox that was found complete. */
export interface InboxEntry {
  readonly directory: string;
  readonly metadata: Metadata;
}

/** The inbox as a backend sees it. */
export class InboxReader {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Names of the directories, oldest first; what is hidden is not the backend's. */
  names(): string[] {
    try {
      return readdirSync(this.path)
        .filter((name) => !name.startsWith('.'))
        .sort();
    } catch (error) {
      // Before the first start there is none.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  }

  get marker(): string {
    return join(this.path, inboxMarker);
  }

  /** Everything that is there. @throws when a directory is not complete: its appearance must mean that it is */
  entries(): InboxEntry[] {
    return this.names().map((name) => readEntry(this.path, name));
  }

  /** Takes every directory away, as a backend does, after a look at each. */
  consume(to: string): InboxEntry[] {
    mkdirSync(to, { recursive: true });
    return this.names().map((name) => {
      const entry = readEntry(this.path, name);
      renameSync(join(this.path, name), join(to, name));
      return entry;
    });
  }

  file(entry: InboxEntry, name: string): Buffer {
    return readFileSync(join(this.path, entry.directory, name));
  }
}

function readEntry(inbox: string, directory: string): InboxEntry {
  const path = join(inbox, directory);
  const metadata = JSON.parse(readFileSync(join(path, 'metadata.json'), 'utf8')) as Metadata;
  const found = readdirSync(path).sort();
  const expected = ['metadata.json', ...metadata.files.map(({ name }) => name)].sort();
  if (JSON.stringify(found) !== JSON.stringify(expected)) {
    throw new Error(`${directory} holds ${found}, and its metadata.json names ${expected}`);
  }
  for (const { name, bytes, sha256 } of metadata.files) {
    const content = readFileSync(join(path, name));
    const digest = createHash('sha256').update(content).digest('hex');
    if (content.length !== bytes || digest !== sha256) throw new Error(`${directory}/${name} is not what it should be`);
  }
  return { directory, metadata };
}
