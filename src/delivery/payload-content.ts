import { accessSync, closeSync, constants, openSync, readSync, statSync } from 'node:fs';
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
 * @throws {DeliveryError} `message` when the store has them no more or they cannot be read, `trouble` when none can; zlib's error or
 *   As4Error when they are damaged
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
  const fd = reading(path, () => openSync(path, 'r'));
  try {
    for (;;) {
      const chunk = Buffer.allocUnsafe(chunkBytes);
      const read = reading(path, () => readSync(fd, chunk, 0, chunk.length, null));
      if (read === 0) return;
      yield chunk.subarray(0, read);
    }
  } finally {
    closeSync(fd);
  }
}

/** Of this process or machine, not of the file: it passes. */
const passing = new Set(['EMFILE', 'ENFILE', 'ENOMEM']);

/**
 * A content file that cannot be read is the message's own trouble: the others wait for nothing. A content folder that is not there is
 * everyone's.
 */
function reading<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const folder = dirname(path);
    const wrong = whatIsWrongWith(folder);
    if (wrong !== null) {
      const text = `payloads cannot be read: ${wrong} (${folder}); mount it, bring it back from a backup or let this user read it`;
      throw new DeliveryError('trouble', text, error);
    }
    if ('code' in error && typeof error.code === 'string' && passing.has(error.code)) {
      throw new DeliveryError('trouble', `payloads cannot be read: ${error.message}`, error);
    }
    throw new DeliveryError('message', `the content file ${path} cannot be read: ${error.message}`, error);
  }
}

/** Null when the files in it can be reached. */
function whatIsWrongWith(folder: string): string | null {
  try {
    accessSync(folder, constants.R_OK | constants.X_OK);
    return statSync(folder).isDirectory() ? null : 'their folder is no directory';
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT'
      ? 'their folder is not there'
      : `their folder cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  }
}
