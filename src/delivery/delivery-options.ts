import type { Outbox } from '../store/types.ts';
import type { DeliveryLog } from './log.ts';

export interface FolderDeliveryOptions {
  readonly outbox: Outbox;
  readonly inbox: string;
  readonly staging: string;
  /** `<database>.delivery-lock`. */
  readonly lockFile: string;
  /** Permissions of a directory in the inbox, e.g. 0o770. */
  readonly mode?: number;
  /** Name or number of the group that gets it; empty: left as it is. */
  readonly group?: string;
  readonly afterPowerLoss?: 'deliver' | 'review';
  /** The operator says that this database is a restored copy. */
  readonly restored?: boolean;
  readonly newId: () => string;
  readonly now?: () => number;
  readonly bootId?: string;
  readonly log?: DeliveryLog;
  /** QUITTANCE_CRASH_AT, in the test environment only. */
  readonly crashAt?: string | undefined;
  readonly timing?: Partial<DeliveryTiming>;
}

/** Milliseconds. */
export interface DeliveryTiming {
  /** How often the outbox is looked at when nobody wakes us: other processes receive too. */
  readonly poll: number;
  /**
   * How long messages are gathered before the outbox is looked at again, unless it filled a batch: each batch costs two commits and
   * four fsyncs, and no backend polls so often that it would notice.
   */
  readonly gather: number;
  readonly lockRetry: number;
  /** First wait after a failure, and the longest: doubled each time. */
  readonly retry: number;
  readonly retryMost: number;
  /** Without progress for this long, the inbox is hung. */
  readonly hang: number;
  /** How long start() waits for the folder, and stop() for the batch in hand. */
  readonly patience: number;
}

export const usualTiming: DeliveryTiming = {
  poll: 1000,
  gather: 50,
  lockRetry: 1000,
  retry: 1000,
  retryMost: 60_000,
  hang: 15_000,
  patience: 3000,
};
/** Messages that share their fsyncs at most (architecture §4). */
export const batchSize = 64;
/** Says nothing. */
export const silent: DeliveryLog = { info() {}, warn() {}, error() {} };
