import { Base64Decoder } from './base64.ts';
import { parseContentId } from './content-id.ts';
import { type ContentType, parseContentType } from './content-type.ts';
import { MimeError } from './mime-error.ts';
import { type MultipartLimits, MultipartSplitter, type RawPart } from './splitter.ts';

export { MimeError, type MultipartLimits };

interface PartHead {
  /** Lower-case names, unfolded values. */
  readonly headers: ReadonlyMap<string, string>;
  /** Without angle brackets; null when the part has none (the root part may). */
  readonly contentId: string | null;
  readonly contentType: ContentType | null;
}

export interface MimePart extends PartHead {
  /** Transfer-decoded, once. What is not read when the next part is asked for is thrown away. */
  readonly body: AsyncIterable<Buffer>;
  /** Reads the rest of the part and throws it away. */
  discard(): Promise<void>;
}

export interface BufferedPart extends PartHead {
  /** Transfer-decoded; a view of the given body where nothing had to be decoded. */
  readonly body: Buffer;
}

/**
 * The parts of a multipart/related body in their order, as a stream: the source is read only when the consumer wants more, and to its
 * end (epilogue included) after the last part.
 * @throws {MimeError} while iterating parts or a part's body; parts before the fault are delivered first. Errors of `source` pass through.
 */
export async function* readMultipart(
  source: AsyncIterable<Uint8Array>,
  boundary: string,
  limits: MultipartLimits,
): AsyncGenerator<MimePart, void, undefined> {
  const splitter = new MultipartSplitter(boundary, limits);
  const heads = new PartHeads();
  const iterator = source[Symbol.asyncIterator]();
  let ended = false;
  const more = async (): Promise<void> => {
    const { done, value } = await iterator.next();
    ended = done === true;
    if (ended) splitter.end();
    else splitter.push(value as Uint8Array);
  };
  try {
    for (;;) {
      const raw = splitter.parts.shift();
      if (raw !== undefined) {
        const part = new StreamedPart(heads.read(raw), raw, splitter, more);
        yield part;
        await part.discard();
      } else if (splitter.failure !== null) throw splitter.failure;
      else if (ended) return;
      else await more();
    }
  } finally {
    if (!ended) await iterator.return?.();
  }
}

/** The same for a body that is in memory as a whole: the same splitter, so the same bodies are accepted and refused. */
export function readMultipartBuffer(body: Buffer, boundary: string, limits: MultipartLimits): BufferedPart[] {
  const splitter = new MultipartSplitter(boundary, limits);
  splitter.push(body);
  splitter.end();
  const heads = new PartHeads();
  const parts = splitter.parts.map((raw) => {
    const head = heads.read(raw);
    const { chunks } = raw;
    const content = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    if (!head.base64) return { ...head, body: content };
    const decoder = new Base64Decoder();
    const decoded = decoder.push(content);
    if (!raw.complete) throw splitter.failure; // before end(): an unfinished group at the cut is no base64 error
    decoder.end();
    return { ...head, body: decoded };
  });
  if (splitter.failure !== null) throw splitter.failure;
  return parts;
}

class StreamedPart implements MimePart {
  readonly headers: ReadonlyMap<string, string>;
  readonly contentId: string | null;
  readonly contentType: ContentType | null;
  readonly body: AsyncIterable<Buffer>;
  readonly #raw: RawPart;
  readonly #splitter: MultipartSplitter;
  readonly #more: () => Promise<void>;
  readonly #decoder: Base64Decoder | null;

  constructor(
    head: PartHead & { readonly base64: boolean },
    raw: RawPart,
    splitter: MultipartSplitter,
    more: () => Promise<void>,
  ) {
    this.headers = head.headers;
    this.contentId = head.contentId;
    this.contentType = head.contentType;
    this.#decoder = head.base64 ? new Base64Decoder() : null;
    this.#raw = raw;
    this.#splitter = splitter;
    this.#more = more;
    this.body = this.#read();
  }

  /** Decodes what it throws away, so that a broken part is refused whether somebody reads it or not. */
  async discard(): Promise<void> {
    while ((await this.#next()) !== null);
  }

  async *#read(): AsyncGenerator<Buffer, void, undefined> {
    for (let chunk = await this.#next(); chunk !== null; chunk = await this.#next()) yield chunk;
  }

  async #next(): Promise<Buffer | null> {
    for (;;) {
      const chunk = this.#raw.chunks.shift();
      if (chunk !== undefined) {
        const bytes = this.#decoder === null ? chunk : this.#decoder.push(chunk);
        if (bytes.length > 0) return bytes;
      } else if (this.#raw.complete) {
        this.#decoder?.end();
        return null;
      } else if (this.#splitter.failure !== null) throw this.#splitter.failure;
      else await this.#more();
    }
  }
}

/** Reads what the headers of a part mean; knows the Content-IDs so far, because a reference to a doubled one is ambiguous. */
class PartHeads {
  readonly #ids = new Set<string>();

  read(raw: RawPart): PartHead & { readonly base64: boolean } {
    const { headers } = raw;
    const contentId = parseContentId(headers.get('content-id'));
    if (contentId !== null) {
      if (this.#ids.has(contentId)) {
        throw new MimeError('duplicate-content-id', 'Two parts have the same Content-ID.');
      }
      this.#ids.add(contentId);
    }
    const encoding = headers.get('content-transfer-encoding')?.toLowerCase() ?? 'binary';
    const base64 = encoding === 'base64';
    if (!base64 && encoding !== 'binary' && encoding !== '8bit' && encoding !== '7bit') {
      throw new MimeError(
        'unsupported-transfer-encoding',
        'Content-Transfer-Encoding must be binary, 8bit, 7bit or base64.',
      );
    }
    return { headers, contentId, contentType: parseContentType(headers.get('content-type')), base64 };
  }
}
