import { randomBytes } from 'node:crypto';
import { copyFile, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDirectory } from './durable-directory.ts';

/** Files that no row names are only called orphans at this age: a younger one may belong to a commit under way. */
const orphanAgeMs = 24 * 3_600_000;

/**
 * Payloads too large for a row, one file each under a random name. The file work runs in the thread pool of the main side, so that
 * writing out 100 MB does not hold up the commits of small messages.
 */
export class ContentFiles {
  readonly directory: string;

  private constructor(directory: string) {
    this.directory = directory;
  }

  static async open(directory: string): Promise<ContentFiles> {
    makeDirectory(directory, 0o700);
    return new ContentFiles(directory);
  }

  /** Moves a spooled file in, durably, and gives its name here. The spooled file is gone afterwards, also when this fails. */
  async adopt(spooled: string): Promise<string> {
    const name = randomBytes(16).toString('hex');
    const target = join(this.directory, name);
    try {
      await sync(spooled);
      try {
        await rename(spooled, target);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
        await copyFile(spooled, target);
        await sync(target);
      }
      await sync(this.directory);
      return name;
    } catch (error) {
      await this.remove([name]);
      throw error;
    } finally {
      await rm(spooled, { force: true });
    }
  }

  /** Gives how many are gone. One that cannot be deleted is an orphan, and purge tries again. */
  async remove(names: readonly string[]): Promise<number> {
    const done = await Promise.allSettled(names.map((name) => rm(join(this.directory, name), { force: true })));
    return done.filter((d) => d.status === 'fulfilled').length;
  }

  /** Names of files older than a day. */
  async old(now: number): Promise<string[]> {
    const names: string[] = [];
    for (const name of await readdir(this.directory)) {
      const info = await stat(join(this.directory, name)).catch(() => null);
      if (info?.isFile() && Math.max(info.mtimeMs, info.ctimeMs) < now - orphanAgeMs) names.push(name);
    }
    return names;
  }
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
