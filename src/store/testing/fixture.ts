import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach } from 'vitest';
import { openSqliteStore, type SqliteStoreOptions } from '../sqlite.ts';
import type { Store } from '../types.ts';

export interface StoreFixture {
  readonly directory: string;
  readonly path: string;
  open(options?: Partial<SqliteStoreOptions>): Promise<Store>;
  /** One value out of the database, by a connection of its own. */
  value(sql: string): unknown;
  rows(sql: string): Record<string, unknown>[];
  /** Statements, by a connection of its own. */
  run(sql: string): void;
}

/** A fresh directory for each test; stores opened through it are closed afterwards. */
export function storeFixture(): StoreFixture {
  let directory = '';
  let opened: Store[] = [];
  const path = () => join(directory, 'quittance.db');
  const query = <T>(ask: (db: Database.Database) => T): T => {
    const db = new Database(path(), { timeout: 2000 });
    try {
      return ask(db);
    } finally {
      db.close();
    }
  };
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'quittance-store-'));
    opened = [];
  });
  afterEach(async () => {
    await Promise.all(opened.map((store) => store.close()));
    await rm(directory, { recursive: true, force: true });
  });
  return {
    get directory() {
      return directory;
    },
    get path() {
      return path();
    },
    async open(options = {}) {
      const store = await openSqliteStore({ url: `sqlite:${path()}`, heartbeat: false, ...options });
      opened.push(store);
      return store;
    },
    value: (sql) => query((db) => db.prepare(sql).pluck().get()),
    run: (sql) => query((db) => void db.exec(sql)),
    rows: (sql) => query((db) => db.prepare(sql).all() as Record<string, unknown>[]),
  };
}
