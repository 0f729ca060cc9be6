import { createHash } from 'node:crypto';
import { As4Error, TransportRefusal } from '../as4-error.ts';
import type { IncomingRequest } from '../exchange.ts';
import { type BufferBudget, bufferUpTo } from '../mime/buffer.ts';
import { parseContentId } from '../mime/content-id.ts';
import { type ContentType, parseContentType } from '../mime/content-type.ts';
import { MimeError } from '../mime/mime-error.ts';
import { type BufferedPart, type MimePart, readMultipart, readMultipartBuffer } from '../mime/multipart.ts';

const SOAP = 'application/soap+xml';

export type AnyPart = BufferedPart | MimePart;

/** The envelope, and the parts behind it: all there, or still on their way. */
export interface Packaging {
  readonly envelope: Buffer;
  /** In their order; each must be read or left before the next one is asked for. */
  readonly parts: AsyncIterable<AnyPart> | Iterable<AnyPart>;
}

export interface BodyLimits {
  /** Bytes up to which a body is taken into memory. */
  readonly buffer: number;
  readonly envelope: number;
  readonly parts: number;
  readonly partHeaders: number;
}

/** A body in memory, or one that can only be read once. */
export type Body =
  | { readonly whole: Buffer; readonly digest: Buffer; readonly release: () => void }
  | { readonly stream: AsyncIterable<Buffer>; readonly digest: null; readonly release: () => void };

/** Takes the body into memory when it is small (architecture §2.2), and names its bytes as the shortcut looks them up. @throws TransportRefusal 503 */
export async function takeBody(request: IncomingRequest, limits: BodyLimits, budget: BufferBudget): Promise<Body> {
  // Without parts there is nothing to keep beyond an envelope.
  const bare = parseContentType(request.contentType)?.type === SOAP;
  const taken = await bufferUpTo(request.body, bare ? Math.min(limits.buffer, limits.envelope) : limits.buffer, budget);
  if (!('whole' in taken)) {
    // To a stranger's stream nobody listens until its envelope is here: too many of them would be a memory without a limit.
    if (taken.exhausted && request.stranger === true) {
      taken.release();
      throw new TransportRefusal(503, 'The receiver is busy; send the message again.', { reason: 'memory' });
    }
    return { stream: taken.stream, release: taken.release, digest: null };
  }
  const type = Buffer.from(request.contentType ?? '', 'latin1');
  const length = Buffer.alloc(4);
  length.writeUInt32BE(type.length);
  const digest = createHash('sha256').update(length).update(type).update(taken.whole).digest();
  return { ...taken, digest };
}

/**
 * Splits a body into its SOAP envelope and what follows it (AS4 §2.1, facts §1.2).
 * @throws MimeError; TransportRefusal 415 for a media type that is neither; As4Error 0004 (413) for an envelope over its limit
 */
export async function unpack(body: Body, contentType: string | undefined, limits: BodyLimits): Promise<Packaging> {
  const type = parseContentType(contentType);
  if (type?.type === SOAP) {
    return { envelope: 'whole' in body ? limited(body.whole, limits) : await collect(body.stream, limits), parts: [] };
  }
  const boundary = type?.parameters.boundary;
  if (type?.type !== 'multipart/related' || boundary === undefined) {
    throw new TransportRefusal(
      415,
      'Content-Type must be application/soap+xml, or multipart/related with a boundary.\n',
      { reason: 'media-type' },
    );
  }
  if (!('whole' in body)) return fromStream(body.stream, type, boundary, limits);
  try {
    return fromMemory(body.whole, type, boundary, limits);
  } catch (error) {
    if (!(error instanceof MimeError)) throw error;
    // Read again as a stream, which hands out what comes before the fault: the sender then learns which message was broken.
    return fromStream(once(body.whole), type, boundary, limits);
  }
}

async function* once(whole: Buffer): AsyncGenerator<Buffer> {
  yield whole;
}

function fromMemory(whole: Buffer, type: ContentType, boundary: string, limits: BodyLimits): Packaging {
  const [root, ...parts] = readMultipartBuffer(whole, boundary, {
    maxParts: limits.parts,
    maxHeaderBytes: limits.partHeaders,
  });
  checkRoot(root, type);
  return { envelope: limited(root.body, limits), parts };
}

async function fromStream(
  stream: AsyncIterable<Buffer>,
  type: ContentType,
  boundary: string,
  limits: BodyLimits,
): Promise<Packaging> {
  const parts = readMultipart(stream, boundary, { maxParts: limits.parts, maxHeaderBytes: limits.partHeaders });
  const first = await parts.next();
  const root = first.done === true ? undefined : first.value;
  checkRoot(root, type);
  return { envelope: await collect(root.body, limits), parts };
}

/** The root must come first: the keys to everything else are in it. `start` is optional (RFC 2387), but must not name another part. */
function checkRoot<P extends AnyPart>(root: P | undefined, type: ContentType): asserts root is P {
  if (root === undefined)
    throw new As4Error('EBMS:0007', 'The multipart body has no part', { status: 400, reason: 'no-part' });
  const media = root.contentType?.type;
  if (media !== undefined && media !== SOAP) {
    throw new As4Error('EBMS:0007', 'The first MIME part is not application/soap+xml', {
      status: 400,
      reason: 'root-type',
    });
  }
  const start = parseContentId(type.parameters.start);
  // Products disagree on the brackets, and some name a root that carries no Content-ID; only a contradiction is refused.
  if (start !== null && root.contentId !== null && start !== root.contentId) {
    throw new As4Error('EBMS:0007', 'The start parameter names another part than the first one', {
      status: 400,
      reason: 'start-not-first',
    });
  }
}

function limited(envelope: Buffer, limits: BodyLimits): Buffer {
  if (envelope.length > limits.envelope) throw tooLarge(limits);
  return envelope;
}

async function collect(source: AsyncIterable<Buffer>, limits: BodyLimits): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // By hand: `for await` would close the source, and with it the parts that follow, on the way out.
  const iterator = source[Symbol.asyncIterator]();
  for (let step = await iterator.next(); step.done !== true; step = await iterator.next()) {
    bytes += step.value.length;
    if (bytes > limits.envelope) throw tooLarge(limits);
    chunks.push(step.value);
  }
  return Buffer.concat(chunks, bytes);
}

function tooLarge(limits: BodyLimits): As4Error {
  return new As4Error('EBMS:0004', `The SOAP envelope is larger than ${limits.envelope} bytes`, {
    status: 413,
    reason: 'envelope-too-large',
  });
}
