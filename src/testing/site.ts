import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { InboxReader } from './inbox-reader.ts';
import { environmentOf } from './receiver.ts';
import { type ServerProcess, spawnServer } from './server-process.ts';

export interface ServeOptions {
  /** By key: `{ 'http.inFlight': '4' }`; added to those of the site. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly arguments?: readonly string[];
  readonly nodeArguments?: readonly string[];
  /** Value of QUITTANCE_CRASH_AT. */
  readonly crashAt?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** One directory with a database, a staging folder and an inbox, and the server processes that work on it. */
export class Site {
  readonly directory = mkdtempSync(join(tmpdir(), 'quittance-site-'));
  readonly inbox = new InboxReader(join(this.directory, 'inbox'));
  readonly database = join(this.directory, 'quittance.db');
  readonly staging = join(this.directory, 'staging');
  readonly #settings: Readonly<Record<string, string>>;
  readonly #processes: ServerProcess[] = [];

  constructor(settings: Readonly<Record<string, string>> = {}) {
    this.#settings = settings;
  }

  /** A process that has only just been started, and may end before it listens. */
  spawn(o: ServeOptions = {}): ServerProcess {
    const env = {
      ...environmentOf(this.directory, { 'log.level': 'info', ...this.#settings, ...o.settings }),
      ...(o.crashAt === undefined ? {} : { QUITTANCE_CRASH_AT: o.crashAt }),
      ...o.env,
    };
    const server = spawnServer({
      cwd: this.directory,
      env,
      arguments: o.arguments ?? [],
      nodeArguments: o.nodeArguments ?? [],
    });
    this.#processes.push(server);
    return server;
  }

  /** A process that listens. */
  async serve(o: ServeOptions = {}): Promise<ServerProcess> {
    const server = this.spawn(o);
    await server.listening;
    return server;
  }

  /** Rows of the database, read beside whoever works on it. */
  rows<T>(sql: string): T[] {
    const db = new Database(this.database, { readonly: true });
    try {
      return db.prepare(sql).all() as T[];
    } finally {
      db.close();
    }
  }

  /** How many hand-overs there are, by state. */
  handOvers(): Record<string, number> {
    const rows = this.rows<{ state: string; n: number }>('SELECT state, count(*) AS n FROM outbox GROUP BY state');
    return Object.fromEntries(rows.map(({ state, n }) => [state, n]));
  }

  /** Puts a backup in the place of the database, as docs/operator.md says; nobody may be working on it. */
  restore(file: string): void {
    for (const end of ['', '-wal', '-shm', '.content']) rmSync(this.database + end, { recursive: true, force: true });
    for (const end of ['', '.content']) cpSync(file + end, this.database + end, { recursive: true });
  }

  /** Resolves once nothing is waiting to be delivered. */
  async delivered(): Promise<void> {
    await until(() => {
      const { received = 0, handingOver = 0 } = this.handOvers();
      return received + handingOver === 0;
    });
  }

  async remove(): Promise<void> {
    await Promise.all(this.#processes.map((server) => server.kill()));
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Looks again and again; the test's own timeout is the only limit. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20));
}
