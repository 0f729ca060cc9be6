/**
 * - `restored`: the folder knows a higher hand-over number than the database: it is a copy from before. `serve` refuses.
 * - `file-systems`: inbox and staging are not on one file system, so a rename could not be complete at once. `serve` refuses.
 * - `held`: the folder is not the one this database delivers to (no marker, or another one). Deliveries wait.
 * - `trouble`: the folder cannot be written now: full, read-only, gone, no permission. Deliveries wait.
 * - `message`: one message cannot be written, whatever the folder does.
 * - `worker`: the thread that works on the files ended.
 * - `stopped`: the delivery was stopped meanwhile.
 */
export type DeliveryErrorCode = 'restored' | 'file-systems' | 'held' | 'trouble' | 'message' | 'worker' | 'stopped';

/** Why nothing was delivered, as a sentence that says what to do. */
export class DeliveryError extends Error {
  override readonly name = 'DeliveryError';
  readonly code: DeliveryErrorCode;

  constructor(code: DeliveryErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}
