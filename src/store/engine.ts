import type { Checkpoint } from '../checkpoint.ts';
import { noCheckpoint } from '../checkpoint.ts';
import { type Db, isBusy, openDatabase, storeError } from './database.ts';
import { type OperationOptions, prepareOperations } from './operations.ts';
import type { Operation, OperationName, WireBatch, WireCall, WireMessage, WireReply } from './protocol.ts';
import { blobsOf, failure, undecided } from './replies.ts';
import type { StoreError } from './types.ts';

export interface EngineOptions extends OperationOptions {
  readonly path: string;
  readonly checkpoint?: Checkpoint;
  /** What runs COMMIT; tests let it fail. */
  readonly commit?: (commit: () => void) => void;
}

type Replies = (WireReply | undefined)[];

/** Written bytes after which the WAL is copied into the database: often enough to stay small, rarely enough to write hot pages once. */
const checkpointBytes = 8 * 1024 * 1024;
/** Pages of WAL beyond which passive checkpoints were not enough (a busy neighbour) and the WAL is started anew. */
const restartPages = 32_768;
const bytesPerWrite = 16 * 1024;

/**
 * One connection and its transactions: a batch of calls is one `BEGIN IMMEDIATE … COMMIT`, each writing call a savepoint in it
 * (architecture §2.10). Synchronous; it belongs into a thread of its own.
 */
export class Engine {
  readonly #options: EngineOptions;
  readonly #checkpoint: Checkpoint;
  #db: Db;
  #operations: ReturnType<typeof prepareOperations>;
  #control: ReturnType<typeof prepareControl>;
  #unchecked = 0;
  /** Transactions committed, for tests of the grouping. */
  commits = 0;

  /** @throws StoreError as `openDatabase` */
  constructor(options: EngineOptions) {
    this.#options = options;
    this.#checkpoint = options.checkpoint ?? noCheckpoint;
    this.#db = openDatabase(options.path);
    this.#operations = prepareOperations(this.#db, options);
    this.#control = prepareControl(this.#db);
  }

  /**
   * Runs the calls at these indices. `busy` when another process holds the write lock and nothing was done; otherwise one reply each.
   * A connection that was given up after a failed COMMIT and could not be replaced then is opened again first: a disk that has
   * room again is all it takes.
   */
  run(batch: WireBatch, indices: readonly number[]): Replies | 'busy' {
    const calls = indices.map((i) => batch.calls[i]!);
    if (!this.#db.open) {
      // Nothing of these calls has been tried, so whatever keeps the database closed may be told as it is.
      const error = this.#reopen();
      if (error?.code === 'busy') return 'busy';
      if (error !== null) return calls.map(() => failure(error));
    }
    if (!calls.some((c) => this.#operation(c).writes)) return this.#reads(batch, calls);
    try {
      this.#control.begin.run();
    } catch (error) {
      if (isBusy(error)) return 'busy';
      return calls.map(() => failure(error));
    }
    const replies: Replies = [];
    for (const call of calls) {
      replies.push(this.#one(batch, call));
      // A full disk or an I/O error can roll back everything: nobody in this group has been stored.
      if (!this.#db.inTransaction) return this.#rolledBack(calls, replies);
    }
    const counted = calls.some((c) => this.#operation(c).writes && !this.#operation(c).housekeeping);
    if (counted) this.#checkpoint('before-commit');
    try {
      const commit = () => void this.#control.commit.run();
      if (this.#options.commit) this.#options.commit(commit);
      else commit();
    } catch (error) {
      return this.#commitFailed(batch, calls, error);
    }
    this.commits++;
    this.#unchecked += batch.bytes.byteLength + calls.length * bytesPerWrite;
    if (counted) this.#checkpoint('after-commit');
    return replies;
  }

  /** Which calls only read: they can be answered while another process holds the write lock. */
  isRead(call: WireCall): boolean {
    return !this.#operation(call).writes;
  }

  /**
   * Copies the WAL into the database when enough was written; called after the answers are out.
   * @throws StoreError `fatal` when the disk did not take it; other failures are left to the next time
   */
  tidy(): void {
    if (!this.#db.open || this.#unchecked < checkpointBytes) return;
    this.#unchecked = 0;
    try {
      const [result] = this.#db.pragma('wal_checkpoint(PASSIVE)') as { log: number }[];
      if ((result?.log ?? 0) > restartPages) this.#db.pragma('wal_checkpoint(RESTART)');
    } catch (error) {
      const mapped = storeError(error);
      if (mapped.code === 'fatal') throw mapped;
    }
  }

  close(): void {
    this.#db.close();
  }

  #operation(call: WireCall): Operation<OperationName> {
    return this.#operations[call.name] as unknown as Operation<OperationName>;
  }

  #reads(batch: WireBatch, calls: readonly WireCall[]): Replies | 'busy' {
    const replies: Replies = [];
    for (const call of calls) {
      try {
        replies.push(this.#call(batch, call));
      } catch (error) {
        if (isBusy(error)) return 'busy';
        replies.push(failure(error));
      }
    }
    return replies;
  }

  #call(batch: WireBatch, call: WireCall): WireReply {
    return { value: this.#operation(call).run(call.args as never, blobsOf(batch, call)) };
  }

  #one(batch: WireBatch, call: WireCall): WireReply {
    const { savepoint, release } = this.#control;
    try {
      if (this.isRead(call)) return this.#call(batch, call);
      savepoint.run();
      const reply = this.#call(batch, call);
      release.run();
      return reply;
    } catch (error) {
      this.#operations.forget();
      if (this.#db.inTransaction && !this.isRead(call)) this.#takeBack();
      return failure(error);
    }
  }

  /** Undoes one call; when even that fails, the whole group, so that nothing half-done is ever committed. */
  #takeBack(): void {
    try {
      this.#control.rollback.run();
      this.#control.release.run();
    } catch {
      if (this.#db.inTransaction) this.#db.exec('ROLLBACK');
    }
  }

  #rolledBack(calls: readonly WireCall[], replies: Replies): Replies {
    const cause = replies.at(-1)!;
    return calls.map((call, i) => (this.isRead(call) && i < replies.length - 1 ? replies[i] : cause));
  }

  /** Whether the group is stored is unknown: a fresh connection tells. An fsync that failed is not asked again. */
  #commitFailed(batch: WireBatch, calls: readonly WireCall[], error: unknown): Replies {
    const failed = storeError(error);
    this.#operations.forget();
    if (failed.code === 'fatal') return calls.map(() => failure(failed));
    const again = this.#reopen();
    if (again === null) {
      try {
        return calls.map((call) => this.#answerByWhatIsThere(batch, call, failed));
      } catch (error) {
        return calls.map(() => undecided(storeError(error)));
      }
    }
    return calls.map(() => undecided(again));
  }

  /** Replaces the connection; while that fails it stays closed, and the next batch tries again. Gives why it failed. */
  #reopen(): StoreError | null {
    let db: Db | undefined;
    try {
      this.#db.close();
      db = openDatabase(this.#options.path);
      this.#operations = prepareOperations(db, this.#options);
      this.#control = prepareControl(db);
      this.#db = db;
      return null;
    } catch (error) {
      db?.close();
      return storeError(error);
    }
  }

  #answerByWhatIsThere(batch: WireBatch, call: WireCall, failed: StoreError): WireReply {
    if (this.isRead(call)) return this.#call(batch, call);
    if (call.name !== 'accept') return failure(failed);
    const m = call.args as WireMessage;
    const { sender, messageId, referenceSet, now, window } = m;
    const blob = blobsOf(batch, call);
    const known = this.#operations.find.run({ sender, messageId, referenceSet, now, window }, blob);
    if (!known?.receipt) return failure(failed);
    const { id, receipt } = known;
    const own = known.receivedAt === m.receivedAt && blob(m.body).equals(receipt.body);
    // How exactly it was decided is in the audit; the answer and the hand-over are the same.
    const accepted = { kind: 'accepted', id, decision: 'allow', outsideWindow: false, warnings: [], supersedes: null };
    return { value: own ? accepted : { kind: 'duplicate', id, answer: receipt } };
  }
}

function prepareControl(db: Db) {
  return {
    begin: db.prepare('BEGIN IMMEDIATE'),
    commit: db.prepare('COMMIT'),
    savepoint: db.prepare('SAVEPOINT one'),
    release: db.prepare('RELEASE one'),
    rollback: db.prepare('ROLLBACK TO one'),
  };
}
