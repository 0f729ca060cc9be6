import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { As4Error } from '../as4-error.ts';
import { InterchangeReader } from '../dedup/interchange-reader.ts';
import type { InterchangeFinding } from '../dedup/open-interchange.ts';
import { type PayloadKind, payloadKind } from '../dedup/payload-kind.ts';
import { gunzip, gunzipWhole } from '../ebms/decompress.ts';
import { type Sbd, SbdReader } from '../peppol/sbd.ts';
import type { OpenedPayload } from './open-payloads.ts';

export interface BusinessLimits {
  /** Bytes of one payload after decompression. */
  readonly payload: number;
  readonly ratio: number;
}

/** What the leading payload holds. */
export interface BusinessDocument extends Sbd {
  readonly payloadKind: PayloadKind;
  /** EDIFACT and X12 interchanges of a TextContent or BinaryContent, in order. */
  readonly interchanges: readonly InterchangeFinding[];
  /** How many more there were than are recorded. */
  readonly unrecordedInterchanges: number;
}

/** Below this a payload is decompressed in one call on the event loop; above it streams, so that nobody else waits long. */
const WHOLE = 64 * 1024;

/**
 * Decompresses the leading payload and reads the StandardBusinessDocument in it (architecture §2.8), in a stream: the document
 * itself is hashed and searched for interchanges, never held.
 * @throws As4Error EBMS:0303 for the compression, 0004 for the envelope
 */
export async function readBusinessDocument(
  payload: OpenedPayload,
  mode: 'strict' | 'report',
  limits: BusinessLimits,
): Promise<BusinessDocument> {
  const charset = payload.part.characterSet;
  // A document that is XML begins with "<", which is all that the reader of interchanges looks at then.
  const interchanges = new InterchangeReader();
  const onDocument = (chunk: Buffer) => interchanges.push(chunk);
  const reader = new SbdReader({ mode, onDocument, ...(charset === null ? {} : { charset }) });
  await eachChunk(payload, limits, (chunk) => reader.push(chunk));
  const sbd = reader.end();
  const found = interchanges.end();
  const kind = payloadKind(sbd.document.kind, interchanges.look);
  return { ...sbd, payloadKind: kind, interchanges: found, unrecordedInterchanges: interchanges.unrecorded };
}

/** What a further payload holds, which stands for itself: only the leading one is an SBD. */
export interface FurtherPayload {
  /** Decompressed. */
  readonly sha256: Buffer;
  readonly interchanges: readonly InterchangeFinding[];
  readonly unrecordedInterchanges: number;
}

/** Decompresses, hashes and searches a further payload. @throws As4Error EBMS:0303 */
export async function readFurtherPayload(payload: OpenedPayload, limits: BusinessLimits): Promise<FurtherPayload> {
  const hash = payload.part.compressed ? createHash('sha256') : null;
  const reader = new InterchangeReader();
  await eachChunk(payload, limits, (chunk) => {
    hash?.update(chunk);
    reader.push(chunk);
  });
  const interchanges = reader.end();
  return { sha256: hash?.digest() ?? payload.sha256, interchanges, unrecordedInterchanges: reader.unrecorded };
}

/** SHA-256 of a further payload, decompressed: only the leading one is an SBD. */
export async function decompressedDigest(payload: OpenedPayload, limits: BusinessLimits): Promise<Buffer> {
  if (!payload.part.compressed) return payload.sha256;
  const hash = createHash('sha256');
  await eachChunk(payload, limits, (chunk) => hash.update(chunk));
  return hash.digest();
}

async function eachChunk(payload: OpenedPayload, limits: BusinessLimits, take: (chunk: Buffer) => void): Promise<void> {
  const { data, part } = payload;
  if (Buffer.isBuffer(data)) {
    const whole = part.compressed ? decompressedAtOnce(data, limits) : data;
    if (whole !== null) return take(whole);
  }
  const source = Buffer.isBuffer(data) ? one(data) : createReadStream(data.file, { highWaterMark: 256 * 1024 });
  const octets = part.compressed ? gunzip(source, { maxBytes: limits.payload, maxRatio: limits.ratio }) : source;
  for await (const chunk of octets) take(chunk as Buffer);
}

/** Null when it is, or turns out to be, too large for one blocking call. */
function decompressedAtOnce(data: Buffer, limits: BusinessLimits): Buffer | null {
  if (data.length > WHOLE) return null;
  try {
    return gunzipWhole(data, { maxBytes: Math.min(limits.payload, 16 * WHOLE), maxRatio: limits.ratio });
  } catch (error) {
    if (error instanceof As4Error && error.reason === 'gzip-over-limit') return null;
    throw error;
  }
}

async function* one(data: Buffer): AsyncGenerator<Buffer> {
  yield data;
}
