import type { HandOver } from '../store/types.ts';
import type { DeliveryErrorCode } from './delivery-error.ts';

/** Ids of the two marker files that belong to a database. */
export interface MarkerIds {
  readonly inbox: string;
  readonly staging: string;
}

/** What the worker finds where inbox and staging should be. */
export type FolderState =
  /** Both markers are this database's. `highest`: the highest hand-over number that was ever handed over. */
  | { readonly kind: 'right'; readonly highest: number }
  /** The database has no markers yet, and the folders are empty or not there. `highest`: of an older marker in staging, else 0. */
  | { readonly kind: 'new'; readonly highest: number }
  | { readonly kind: 'wrong'; readonly what: string };

export interface StageJob {
  readonly directory: string;
  readonly handOver: HandOver;
}

/** `error` is the message's own: the others of the batch are staged all the same. */
export interface StageOutcome {
  readonly number: number;
  readonly error: string | null;
}

/** `missing`: the staged directory vanished before the rename. `occupied`: the inbox has something of that name already. */
export type RenameOutcome = 'renamed' | 'missing' | 'occupied';

/**
 * A sentence when the disk refused to make renames durable, null when they are. Asking again proves nothing: the kernel reports a failed
 * write once and may have dropped it.
 */
export type Unsynced = string | null;

export interface Renames {
  readonly outcomes: readonly RenameOutcome[];
  readonly unsynced: Unsynced;
}

/** Requests to the worker and what it answers; one at a time. */
export interface Operations {
  /** `known`: the database's highest hand-over number, for what the operator is told. */
  inspect: {
    readonly request: { readonly ids: MarkerIds | null; readonly known: number };
    readonly answer: FolderState;
  };
  mark: { readonly request: { readonly ids: MarkerIds; readonly highest: number }; readonly answer: null };
  /**
   * Checks that a rename works, removes what a crash left in staging and names the directories of `keep` that are there. `unsynced` is
   * about the renames of the process before.
   */
  prepare: {
    readonly request: { readonly keep: readonly string[] };
    readonly answer: { readonly found: readonly string[]; readonly unsynced: Unsynced };
  };
  /** Complete and fsynced, and the marker in staging says `highest`, when answered. */
  stage: {
    readonly request: { readonly ids: MarkerIds; readonly highest: number; readonly jobs: readonly StageJob[] };
    readonly answer: readonly StageOutcome[];
  };
  discard: { readonly request: { readonly directories: readonly string[] }; readonly answer: null };
  handOver: {
    readonly request: { readonly directories: readonly string[] };
    readonly answer: Renames;
  };
}
export type Operation = keyof Operations;

export interface WorkerSettings {
  readonly inbox: string;
  readonly staging: string;
  /** Permissions of what is made, e.g. 0o770; files get them without the x bits. Null: what umask leaves. */
  readonly mode: number | null;
  /** Group of what is made. */
  readonly gid: number | null;
  readonly crashAt: string | undefined;
  /** One Int32, counted up with every step, so that a slow disk can be told from one that hangs. */
  readonly progress: SharedArrayBuffer;
}

export interface WorkerReply {
  readonly answer?: unknown;
  readonly error?: { readonly code: DeliveryErrorCode; readonly message: string };
}
