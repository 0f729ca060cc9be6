import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Crl } from './crl.ts';
import type { CrlReader } from './crl-memory.ts';
import { PkiError } from './errors.ts';

/** File of the fetched list of one CA, by the CA's fingerprint. */
const NAME = /^[0-9a-f]{64}\.crl$/;

/**
 * Where fetched CRLs outlive a restart: one file a CA. What is found there is judged like any other list (its signature
 * above all), so a file that cannot be read costs only itself.
 */
export class CrlDirectory {
  readonly #path: string;
  #writes = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** The lists that can be read, and a sentence about each file that cannot. A directory that does not exist is empty. */
  async read(readCrl: CrlReader): Promise<{ readonly crls: readonly Crl[]; readonly faults: readonly string[] }> {
    const crls: Crl[] = [];
    const faults: string[] = [];
    for (const name of await this.#names(faults)) {
      const file = join(this.#path, name);
      try {
        crls.push(readCrl(await readFile(file), file));
      } catch (fault) {
        const code = (fault as NodeJS.ErrnoException).code;
        if (code === 'ENOENT') continue; // removed meanwhile
        if (!(fault instanceof PkiError) && code === undefined) throw fault;
        faults.push(fault instanceof PkiError ? fault.message : `The CRL in ${file} cannot be read (${code})`);
      }
    }
    return { crls, faults };
  }

  /**
   * Keeps the list of the CA with this fingerprint instead of the one before: readers see either the one or the other,
   * also after a power loss. Throws what the file system says.
   * @returns the file
   */
  async write(fingerprint: string, der: Buffer): Promise<string> {
    await mkdir(this.#path, { recursive: true });
    const file = join(this.#path, `${fingerprint}.crl`);
    // Several receivers may share the directory, and two mirrors may give the list at the same time.
    const temporary = `${file}.${process.pid}-${++this.#writes}.tmp`;
    try {
      const handle = await open(temporary, 'w', 0o644);
      try {
        await handle.writeFile(der);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(temporary, file);
    } catch (fault) {
      await rm(temporary, { force: true });
      throw fault;
    }
    const directory = await open(this.#path);
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
    return file;
  }

  async #names(faults: string[]): Promise<string[]> {
    try {
      return (await readdir(this.#path)).filter((name) => NAME.test(name)).sort();
    } catch (fault) {
      const { code } = fault as NodeJS.ErrnoException;
      if (code !== 'ENOENT') faults.push(`The directory ${this.#path} of fetched CRLs cannot be read (${code})`);
      return [];
    }
  }
}
