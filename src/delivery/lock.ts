import Database from 'better-sqlite3';

/**
 * Who delivers: an exclusive transaction held open on a database file of its own, so that the operating system releases the lock
 * with the process, however that ends (architecture §4). One process may hold it once. Nothing else may open the file in the same
 * process: closing any descriptor of it would drop a POSIX lock.
 */
export class DeliveryLock {
  readonly #file: string;
  #database: Database.Database | null = null;
  #held = false;

  /** @param file `<database>.delivery-lock`; made when it is not there */
  constructor(file: string) {
    this.#file = file;
  }

  get held(): boolean {
    return this.#held;
  }

  /** Never waits. True when this process holds the lock now. Throws what SQLite throws when the file cannot be used at all. */
  acquire(): boolean {
    if (this.#held) return true;
    this.#database ??= new Database(this.#file, { timeout: 0 });
    try {
      this.#database.exec('BEGIN EXCLUSIVE');
      this.#held = true;
    } catch (error) {
      if (!(error instanceof Database.SqliteError) || !error.code.startsWith('SQLITE_BUSY')) throw error;
    }
    return this.#held;
  }

  release(): void {
    this.#held = false;
    this.#database?.close();
    this.#database = null;
  }
}
