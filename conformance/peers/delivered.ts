import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** One directory in the folder. */
export interface DeliveredDocument {
  readonly directory: string;
  readonly document: Buffer;
}

const PATIENCE = 30_000;
/** A hand-over follows its receipt within this time, in ms, unless the machine is very busy; the balance at the end looks again. */
const SETTLED = 1000;

/** The folder of our receiver, as `docs/backend.md` tells backends to read it. */
export class Delivered {
  readonly #inbox: string;

  constructor(inbox: string) {
    this.#inbox = inbox;
  }

  /** MessageId of every directory that is there. */
  messageIds(): string[] {
    return this.#directories().map((directory) => this.#metadata(directory).messageId);
  }

  of(messageId: string): DeliveredDocument[] {
    return this.#directories()
      .filter((directory) => this.#metadata(directory).messageId === messageId)
      .map((directory) => ({ directory, document: this.#document(directory) }));
  }

  /** Waits until it is there. */
  async waitFor(messageId: string): Promise<DeliveredDocument[]> {
    for (const end = Date.now() + PATIENCE; ; await sleep(50)) {
      const found = this.of(messageId);
      if (found.length > 0 || Date.now() > end) return found;
    }
  }

  settle(): Promise<void> {
    return sleep(SETTLED);
  }

  #directories(): string[] {
    return readdirSync(this.#inbox, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && existsSync(join(this.#inbox, entry.name, 'metadata.json')))
      .map(({ name }) => join(this.#inbox, name));
  }

  #metadata(directory: string): { readonly messageId: string } {
    return JSON.parse(readFileSync(join(directory, 'metadata.json'), 'utf8')) as { messageId: string };
  }

  #document(directory: string): Buffer {
    const file = readdirSync(directory).find((name) => name.startsWith('document'));
    return file === undefined ? Buffer.alloc(0) : readFileSync(join(directory, file));
  }
}
