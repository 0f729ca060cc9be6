import Database from 'better-sqlite3';
import { migrations } from './migrations.ts';
import { StoreError } from './types.ts';

export type Db = Database.Database;

/** `BEGIN IMMEDIATE` polls this long inside SQLite; longer waits are the engine's, which does not block. */
const busyTimeoutMs = 5;
const journalSizeLimit = 64 * 1024 * 1024;

/**
 * Opens (and creates) the database with everything that a promise rests on set explicitly (architecture §3).
 * @throws StoreError `newer-schema` when a later version has migrated it; `busy`, `io`
 */
export function openDatabase(path: string): Db {
  let db: Db | undefined;
  try {
    db = new Database(path, { timeout: 2000 });
    // Only takes effect before the first page is written, and is harmless later.
    db.pragma('auto_vacuum = INCREMENTAL');
    db.pragma('journal_mode = WAL');
    // NORMAL could lose the last commits in a power cut: a receipt would be out and its MessageId forgotten.
    db.pragma('synchronous = FULL');
    db.pragma('foreign_keys = ON');
    db.pragma(`journal_size_limit = ${journalSizeLimit}`);
    db.pragma('cache_size = -32768');
    // The engine checkpoints itself: SQLite's automatic one hides an fsync that failed.
    db.pragma('wal_autocheckpoint = 0');
    migrate(db);
    db.pragma(`busy_timeout = ${busyTimeoutMs}`);
    return db;
  } catch (error) {
    db?.close();
    throw storeError(error);
  }
}

function migrate(db: Db): void {
  if (version(db) === migrations.length) return;
  db.transaction(() => {
    // Read again under the lock: another process may have been first.
    const from = version(db);
    if (from > migrations.length) {
      throw new StoreError(
        'newer-schema',
        `The database ${db.name} has schema version ${from}, this program knows ${migrations.length}: start the newer program that wrote it, or restore a backup from before the upgrade.`,
      );
    }
    for (const sql of migrations.slice(from)) db.exec(sql);
    db.pragma(`user_version = ${migrations.length}`);
  }).immediate();
}

const version = (db: Db): number => db.pragma('user_version', { simple: true }) as number;

export function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY');
}

/** Maps what SQLite says to what the caller can do about it. */
export function storeError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const code = error instanceof Database.SqliteError ? error.code : '';
  const text = error instanceof Error ? error.message : String(error);
  if (code.startsWith('SQLITE_BUSY')) return new StoreError('busy', `The database is locked: ${text}`, error);
  if (code === 'SQLITE_FULL') return new StoreError('full', `The disk of the database is full: ${text}`, error);
  // After a failed fsync the kernel may have dropped the pages and call the next one a success.
  if (code === 'SQLITE_IOERR_FSYNC' || code === 'SQLITE_IOERR_DIR_FSYNC') {
    return new StoreError('fatal', `The database could not be written through to the disk (${code}): ${text}`, error);
  }
  return new StoreError('io', `The database failed (${code || 'internal'}): ${text}`, error);
}
