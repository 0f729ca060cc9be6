import { join } from 'node:path';
import type { Site } from './site.ts';
import type { Traffic } from './traffic.ts';

/** Takes directories out of the inbox as a backend does, and knows what it has had. */
export class Backend {
  readonly had = new Map<string, number>();
  readonly faults: string[] = [];
  readonly #site: Site;
  readonly #traffic: Traffic;

  constructor(site: Site, traffic: Traffic) {
    this.#site = site;
    this.#traffic = traffic;
  }

  /** @throws when a directory is there that is not complete */
  poll(): void {
    const contents = new Map(this.#traffic.correspondences.map((one) => [one.messageId, one.payloadSha256]));
    for (const { metadata } of this.#site.inbox.consume(join(this.#site.directory, 'consumed'))) {
      const { messageId, files, possibleDuplicate } = metadata;
      this.had.set(messageId, (this.had.get(messageId) ?? 0) + 1);
      if (this.had.get(messageId) !== 1) this.faults.push(`${messageId} was delivered again`);
      if (possibleDuplicate) this.faults.push(`${messageId} is called a possible duplicate`);
      const payload = files.find(({ role }) => role === 'payload');
      if (payload?.sha256 !== contents.get(messageId)) this.faults.push(`${messageId} has another content`);
    }
  }
}
