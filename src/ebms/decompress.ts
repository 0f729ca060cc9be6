import { pipeline } from 'node:stream';
import { createGunzip, type Gunzip, gunzipSync } from 'node:zlib';
import { As4Error } from '../as4-error.ts';

/** How far a compressed payload may grow. */
export interface GunzipLimits {
  /** Bytes after decompression. */
  readonly maxBytes: number;
  /** Bytes out per byte in; looked at only above 128 KiB, where it starts to cost something. Deflate cannot exceed about 1032. */
  readonly maxRatio: number;
  /** Bytes of all that is compressed, where that is known. What an ordinary document of this length unfolds to is never too much. */
  readonly length?: number;
}

/** Bytes out per byte in of XML that has nothing special about it. */
const ORDINARY = 10;

const RATIO_FROM = 128 * 1024;
const CHUNK = 1024 * 1024;

/**
 * Decompresses a gzip stream (RFC 1952, several members allowed) under limits, with back-pressure.
 * @throws {As4Error} EBMS:0303 when it is damaged, truncated, followed by anything else or over a limit; errors of `source` unchanged
 */
export async function* gunzip(source: AsyncIterable<Uint8Array>, limits: GunzipLimits): AsyncGenerator<Buffer> {
  const engine = createGunzip({ chunkSize: 65_536 });
  let taken = 0;
  let complete = false;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      taken += chunk.length;
      yield chunk;
    }
    complete = true;
  }
  let failure: unknown;
  pipeline(counted, engine, (error) => {
    failure = error;
  });
  let produced = 0;
  try {
    for await (const chunk of engine as AsyncIterable<Buffer>) {
      produced += chunk.length;
      // By what it has read, not by what lies ready: otherwise 100 KB buy a hundred megabytes before the first look.
      if (produced > allowance(consumed(engine), limits)) throw overLimit();
      yield chunk;
    }
  } catch (error) {
    throw isZlibError(error) ? damaged(error) : (failure ?? error);
  }
  // zlib takes zeros after the last member for padding and stops reading; the signature covers them, the file would not have them.
  if (!complete || consumed(engine) !== taken) throw damaged();
}

/**
 * {@link gunzip} for a payload that is in memory: one call, no stream. Blocks, so the caller keeps it small.
 * @throws {As4Error} EBMS:0303
 */
export function gunzipWhole(bytes: Uint8Array, limits: GunzipLimits): Buffer {
  const most = Math.floor(allowance(bytes.length, limits));
  let result: { buffer: Buffer; engine: Gunzip };
  try {
    // `info` makes the function return its engine as well; the type declarations do not know.
    result = gunzipSync(bytes, {
      chunkSize: Math.min(Math.max(sizeHint(bytes) + 1, 1024), CHUNK, most + 1),
      maxOutputLength: Math.max(most, 1),
      info: true,
    }) as unknown as typeof result;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw overLimit();
    if (isZlibError(error)) throw damaged(error);
    throw error;
  }
  if (consumed(result.engine) !== bytes.length) throw damaged();
  return result.buffer;
}

function allowance(taken: number, { maxBytes, maxRatio, length = 0 }: GunzipLimits): number {
  return Math.min(maxBytes, Math.max(RATIO_FROM, taken * maxRatio, length * ORDINARY));
}

/** Deflate cannot unfold more, bytes out per byte in. */
export const MOST = 1032;

/** ISIZE of the last member, bytes: what it will unfold to if its sender is honest (RFC 1952 §2.3.1). A hint and nothing more. */
export function sizeHint(bytes: Uint8Array): number {
  if (bytes.length < 18) return 0;
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(bytes.length - 4, true);
}

function consumed(engine: Gunzip): number {
  return engine.bytesWritten;
}

function isZlibError(error: unknown): boolean {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return code?.startsWith('Z_') === true;
}

function damaged(cause?: unknown): As4Error {
  return new As4Error(
    'EBMS:0303',
    'a payload that claims CompressionType application/gzip is not one sound gzip stream',
    {
      reason: 'gzip-damaged',
      cause,
    },
  );
}

function overLimit(): As4Error {
  return new As4Error('EBMS:0303', 'a compressed payload is larger after decompression than this receiver accepts', {
    reason: 'gzip-over-limit',
  });
}
