import { storeError } from './database.ts';
import type { BlobAt, WireBatch, WireCall, WireReply } from './protocol.ts';
import { StoreError } from './types.ts';

/** The byte strings of one call. */
export function blobsOf(batch: WireBatch, call: WireCall): BlobAt {
  return (index) => {
    const at = batch.offsets[call.firstBlob + index]!;
    return Buffer.from(batch.bytes, at, batch.offsets[call.firstBlob + index + 1]! - at);
  };
}

/** A call that failed, and stored nothing. */
export function failure(error: unknown): WireReply {
  const { code, message } = error instanceof StoreError ? error : storeError(error);
  return { error: { code, message } };
}

/**
 * The COMMIT failed and nobody could look what it left. Never `busy` or `full`, whatever the reason: those say that nothing was stored,
 * and the caller deletes the payload's files on them.
 */
export function undecided({ code, message }: StoreError): WireReply {
  return { error: { code: code === 'fatal' ? code : 'io', message } };
}
