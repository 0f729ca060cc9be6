import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { As4Error } from '../as4-error.ts';
import type { FoundInterchanges } from '../dedup/interchange-keys.ts';
import { InterchangeReader } from '../dedup/interchange-reader.ts';
import { type PayloadKind, payloadKind } from '../dedup/payload-kind.ts';
import { gunzip, gunzipWhole, MOST, sizeHint } from '../ebms/decompress.ts';
import { type Sbd, SbdReader } from '../peppol/sbd.ts';
import type { OpenedPayload } from './open-payloads.ts';

export interface BusinessLimits {
  /** Bytes of one payload after decompression. */
  readonly payload: number;
  readonly ratio: number;
}

/** What the leading payload holds; EDIFACT and X12 interchanges are those of a TextContent or BinaryContent. */
export interface BusinessDocument extends Sbd, FoundInterchanges {
  readonly payloadKind: PayloadKind;
}

/** Interchanges that are recorded of a message, over all its payloads: each is compared with what is stored. */
const INTERCHANGES = 1000;

/** Below this a payload is decompressed in one call on the event loop; above it streams, so that nobody else waits long. */
const WHOLE = 64 * 1024;
const WHOLE_UNFOLDED = 16 * WHOLE;
const PIECE = 32 * 1024;
/** Bytes of a payload in memory that are worked on before others have their turn. */
const TURN = 256 * 1024;

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
  const interchanges = new InterchangeReader({ interchanges: INTERCHANGES });
  const onDocument = (chunk: Buffer) => interchanges.push(chunk);
  const reader = new SbdReader({ mode, onDocument, ...(charset === null ? {} : { charset }) });
  await eachChunk(payload, limits, (chunk) => {
    reader.push(chunk);
    return true;
  });
  const sbd = reader.end();
  const found = foundBy(interchanges);
  return { ...sbd, payloadKind: payloadKind(sbd.document.kind, interchanges.look), ...found };
}

/** What a further payload holds, which stands for itself: only the leading one is an SBD. */
export interface FurtherPayload extends FoundInterchanges {
  /** PartInfo/@href as written. */
  readonly href: string;
  /** Decompressed. */
  readonly sha256: Buffer;
}

/** Decompresses, hashes and searches the payloads behind the leading one, in their order. @throws As4Error EBMS:0303 */
export async function readFurtherPayloads(
  payloads: readonly OpenedPayload[],
  leading: Pick<BusinessDocument, 'interchanges'>,
  limits: BusinessLimits,
): Promise<FurtherPayload[]> {
  const further: FurtherPayload[] = [];
  let left = INTERCHANGES - leading.interchanges.length;
  for (const payload of payloads) {
    const found = await readFurtherPayload(payload, left, limits);
    left -= found.interchanges.length;
    further.push(found);
  }
  return further;
}

async function readFurtherPayload(
  payload: OpenedPayload,
  interchanges: number,
  limits: BusinessLimits,
): Promise<FurtherPayload> {
  const { href, compressed } = payload.part;
  const hash = compressed ? createHash('sha256') : null;
  const reader = new InterchangeReader({ interchanges });
  await eachChunk(payload, limits, (chunk) => {
    hash?.update(chunk);
    reader.push(chunk);
    // As it was sent its digest is known already.
    return hash !== null || !reader.finished;
  });
  return { href, sha256: hash?.digest() ?? payload.sha256, ...foundBy(reader) };
}

function foundBy(reader: InterchangeReader): FoundInterchanges {
  const interchanges = reader.end();
  return { interchanges, unrecordedInterchanges: reader.unrecorded, besideInterchanges: reader.beside };
}

/** @param take gives false when it wants no more */
async function eachChunk(
  payload: OpenedPayload,
  limits: BusinessLimits,
  take: (chunk: Buffer) => boolean,
): Promise<void> {
  const { data, part } = payload;
  if (Buffer.isBuffer(data)) {
    const whole = part.compressed ? decompressedAtOnce(data, limits) : data.length > TURN ? null : data;
    if (whole !== null) {
      // A piece at a time: what is wrong at its beginning is found before all of it has been looked at.
      for (let at = 0; at < whole.length && take(whole.subarray(at, at + PIECE)); at += PIECE);
      return;
    }
  }
  const source = Buffer.isBuffer(data) ? inTurns(data) : createReadStream(data.file, { highWaterMark: 256 * 1024 });
  const octets = part.compressed
    ? gunzip(source, { maxBytes: limits.payload, maxRatio: limits.ratio, length: payload.bytes })
    : source;
  for await (const chunk of octets) if (!take(chunk as Buffer)) break;
}

/** Null when it is, or turns out to be, too large for one blocking call. */
function decompressedAtOnce(data: Buffer, limits: BusinessLimits): Buffer | null {
  if (data.length > WHOLE) return null;
  // Not to try it in vain; of a damaged stream the hint is noise, and mostly one that cannot be.
  const hint = sizeHint(data);
  if (hint > WHOLE_UNFOLDED && hint <= MOST * data.length) return null;
  try {
    return gunzipWhole(data, { maxBytes: Math.min(limits.payload, WHOLE_UNFOLDED), maxRatio: limits.ratio });
  } catch (error) {
    if (error instanceof As4Error && error.reason === 'gzip-over-limit') return null;
    throw error;
  }
}

async function* inTurns(data: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < data.length; at += TURN) {
    if (at > 0) await setImmediate();
    yield data.subarray(at, at + TURN);
  }
}
