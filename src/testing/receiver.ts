import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { createQuittance, type Quittance } from '../app.ts';
import { loadConfig, PACKAGE_ROOT } from '../config/load.ts';
import { inboxMarker } from '../delivery/markers.ts';

/** A receiver in this process, on a free port, with a directory of its own. */
export interface TestReceiver {
  readonly url: string;
  readonly origin: string;
  readonly directory: string;
  readonly quittance: Quittance;
  /** Names of the directories in the inbox, once nothing waits to be delivered. */
  inbox(): Promise<string[]>;
  file(entry: string, name: string): Buffer;
  metadata(entry: string): Record<string, unknown>;
  /** Stops it; the directory stays, so that another one can be started on it. */
  stop(): Promise<void>;
}

export interface TestReceiverOptions {
  /** As QUITTANCE_… variables, by key: `{ 'http.inFlight': '4' }`. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly directory?: string;
  readonly now?: () => number;
}

/** Settings as environment variables, as an operator would give them. */
export function environmentOf(directory: string, settings: Readonly<Record<string, string>>): Record<string, string> {
  const all: Record<string, string> = {
    'http.port': '0',
    'store.url': `sqlite:${join(directory, 'quittance.db')}`,
    'store.minFree': '1MB',
    'delivery.inbox': join(directory, 'inbox'),
    'delivery.staging': join(directory, 'staging'),
    'log.level': 'silent',
    ...settings,
  };
  return Object.fromEntries(
    Object.entries(all).map(([key, value]) => [
      `QUITTANCE_${key
        .split('.')
        .map((part) => part.replace(/[A-Z]/g, (c) => `_${c}`).toUpperCase())
        .join('__')}`,
      value,
    ]),
  );
}

export async function startReceiver(o: TestReceiverOptions = {}): Promise<TestReceiver> {
  const directory = o.directory ?? mkdtempSync(join(tmpdir(), 'quittance-'));
  const env = environmentOf(directory, o.settings ?? {});
  const { config } = await loadConfig({ file: null, env, cwd: directory });
  const log = pino({ level: config.log.level });
  const quittance = await createQuittance({ config, log, env, ...(o.now ? { now: o.now } : {}) });
  const url = await quittance.listen();
  const inbox = join(directory, 'inbox');
  return {
    url,
    origin: new URL(url).origin,
    directory,
    quittance,
    async inbox() {
      await quittance.idle();
      return readdirSync(inbox).filter((name) => name !== inboxMarker);
    },
    file: (entry, name) => readFileSync(join(inbox, entry, name)),
    metadata: (entry) => JSON.parse(readFileSync(join(inbox, entry, 'metadata.json'), 'utf8')),
    async stop() {
      await quittance.close();
    },
  };
}

export function removeDirectory(receiver: TestReceiver): void {
  rmSync(receiver.directory, { recursive: true, force: true });
}

/** Where samples of other products lie, when they do; they are not part of the project. */
export const SHARED = join(PACKAGE_ROOT, '../shared');
