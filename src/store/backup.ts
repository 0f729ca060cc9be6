import { constants } from 'node:fs';
import { copyFile, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { storeError } from './database.ts';
import type { BackupReport } from './operator-types.ts';
import { StoreError } from './types.ts';

/** Pages a step: the event loop goes on in between. */
const pagesPerStep = 1000;

/**
 * Copies the database to `file` and its payload files to `file` + `.content`, while others write. The source's read transaction
 * stays open: what is copied is the state of one moment, however long it takes. Both appear under their names only when they are whole.
 * @throws StoreError `io` when `file` is there already, or cannot be written
 */
export async function backup(path: string, contentDir: string, file: string): Promise<BackupReport> {
  const target = resolve(file);
  const content = `${target}.content`;
  for (const taken of [target, content]) {
    if (await there(taken))
      throw new StoreError('io', `${taken} is there already: name a file that is not, or move it away.`);
  }
  const part = `${target}.part`;
  const contentPart = `${content}.part`;
  try {
    await rm(part, { force: true });
    await rm(contentPart, { recursive: true, force: true });
    await copyDatabase(path, part);
    await mkdir(contentPart, { mode: 0o700 });
    const { files, missing } = await copyContent(part, contentDir, contentPart);
    for (const name of [part, contentPart]) await sync(name);
    await rename(contentPart, content);
    await rename(part, target);
    await sync(dirname(target));
    return { bytes: (await stat(target)).size, files, missing };
  } catch (error) {
    await rm(part, { force: true });
    await rm(contentPart, { recursive: true, force: true });
    throw storeError(error);
  }
}

async function copyDatabase(path: string, part: string): Promise<void> {
  const source = new Database(path, { readonly: true, fileMustExist: true, timeout: 15_000 });
  try {
    source.exec('BEGIN');
    source.prepare('SELECT max(id) FROM message').get();
    await source.backup(part, { progress: () => pagesPerStep });
    source.exec('COMMIT');
  } finally {
    source.close();
  }
}

/** The files that the copy names; one that purge took away meanwhile is noted in the copy as purged. */
async function copyContent(part: string, from: string, to: string): Promise<{ files: number; missing: number }> {
  const copy = new Database(part);
  try {
    const names = copy
      .prepare(
        'SELECT file FROM payload WHERE file IS NOT NULL UNION SELECT file FROM held_payload WHERE file IS NOT NULL',
      )
      .pluck()
      .all() as string[];
    const forget = [
      copy.prepare('UPDATE payload SET file = NULL, purged_at = at WHERE file = ?'),
      copy.prepare('UPDATE held_payload SET file = NULL WHERE file = ?'),
    ];
    let missing = 0;
    for (const name of names) {
      const own = basename(name);
      try {
        await copyFile(join(from, own), join(to, own), constants.COPYFILE_FICLONE);
        await sync(join(to, own));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
        missing++;
        for (const statement of forget) statement.run(name);
      }
    }
    // Back to one file: a WAL beside it would be lost when the copy is moved.
    copy.pragma('journal_mode = DELETE');
    return { files: names.length - missing, missing };
  } finally {
    copy.close();
  }
}

async function there(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
