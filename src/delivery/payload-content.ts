import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { gunzip } from '../ebms/decompress.ts';
import type { StoredPayload } from '../store/types.ts';
import { DeliveryError } from './delivery-error.ts';

/** Up to here a compressed payload becomes one buffer; a larger one is a stream, so that memory stays flat. */
const wholeUpTo = 4 * 1024 * 1024;
const chunkBytes = 256 * 1024;
/** The limits were the receiver's: what it took is delivered. */
const noLimits = { maxBytes: Number.POSITIVE_INFINITY, maxRatio: Number.POSITIVE_INFINITY };

/**
 * The octets of a stored payload, decompressed: in one piece while it is small.
 * @throws {DeliveryError} `message` when the store has them no more; zlib's error or As4Error when they are damaged
 */
export function payloadContent(payload: StoredPayload): Uint8Array | AsyncIterable<Buffer> {
  const { data } = payload;
  if (data === null) throw new DeliveryError('message', `payload ${payload.href} is no longer stored`);
  if (data instanceof Uint8Array) {
    if (!payload.compressed) return data;
    return inflatedSize(data) <= wholeUpTo ? inflate(data) : gunzip(stream([data]), noLimits);
  }
  const content = stream(readFile(data.file));
  return payload.compressed ? gunzip(content, noLimits) : content;
}

function inflate(data: Uint8Array): Uint8Array | AsyncIterable<Buffer> {
  try {
    return gunzipSync(data, { maxOutputLength: wholeUpTo });
  } catch (error) {
    // Several gzip members: the last one's size, which we went by, is not the sum.
    if (!(error instanceof RangeError)) throw error;
    return gunzip(stream([data]), noLimits);
  }
}

/** ISIZE of the last gzip member (RFC 1952 §2.3.1). */
function inflatedSize(data: Uint8Array): number {
  return data.length < 18 ? 0 : Buffer.from(data.buffer, data.byteOffset, data.length).readUInt32LE(data.length - 4);
}

async function* stream(chunks: Iterable<Uint8Array>): AsyncGenerator<Buffer> {
  for (const chunk of chunks) yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
}

function* readFile(path: string): Generator<Buffer> {
  const fd = openContent(path);
  try {
    for (;;) {
      const chunk = Buffer.allocUnsafe(chunkBytes);
      const read = readSync(fd, chunk, 0, chunk.length, null);
      if (read === 0) return;
      yield chunk.subarray(0, read);
    }
  } finally {
    closeSync(fd);
  }
}

/** A content file that is gone is the message's own trouble; a content folder that is gone is everyone's. */
function openContent(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (error) {
    const gone = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (!gone || statSync(dirname(path), { throwIfNoEntry: false }) === undefined) throw error;
    throw new DeliveryError('message', `the content file ${path} is gone`, error);
  }
}
