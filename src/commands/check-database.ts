import { accessSync, constants, existsSync } from 'node:fs';
import Database from 'better-sqlite3';
import type { Config } from '../config/schema.ts';
import { migrations } from '../store/migrations.ts';
import { error, type Finding, ok } from './finding.ts';

/** Opens the database without creating or migrating it, and takes the write lock for a moment. */
export async function checkDatabase(config: Config): Promise<Finding> {
  const path = config.store.url.slice('sqlite:'.length);
  if (!existsSync(path)) return ok('database', `${path} will be created at the start`);
  let db: Database.Database | null = null;
  try {
    // SQLite opens what it may not write for reading, and lets BEGIN IMMEDIATE pass there.
    accessSync(path, constants.W_OK);
    // Long enough for a receiver that is writing.
    db = new Database(path, { fileMustExist: true, timeout: 5000 });
    const version = db.pragma('user_version', { simple: true }) as number;
    if (version > migrations.length) {
      return error(
        'database',
        `${path} was written by a newer program (schema ${version}, we know ${migrations.length}); run that one.`,
      );
    }
    db.exec('BEGIN IMMEDIATE; ROLLBACK');
    const upgrade =
      version < migrations.length ? `; the start will migrate it from schema ${version} to ${migrations.length}` : '';
    return ok('database', `${path} is writable${upgrade}`);
  } catch (cause) {
    const { code, message } = cause as { code?: string; message: string };
    if (code?.startsWith('SQLITE_BUSY'))
      return error('database', `${path} is locked by another program; find out which, and stop it.`);
    if (code === 'EROFS')
      return error('database', `${path} is on a file system that is mounted read-only; mount it for writing.`);
    if (code === 'EACCES' || code === 'EPERM' || code?.startsWith('SQLITE_READONLY'))
      return error('database', `${path} is not writable by this user; change its owner or permissions.`);
    if (code === 'SQLITE_NOTADB')
      return error('database', `${path} is not an SQLite database; name another file in store.url.`);
    return error('database', `${path} cannot be opened: ${message}.`);
  } finally {
    db?.close();
  }
}
