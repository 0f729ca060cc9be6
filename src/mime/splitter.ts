import { Dicer } from '@fastify/busboy';
import { MimeError } from './mime-error.ts';
import { bareLineFeed, parsePartHeaders } from './part-headers.ts';

export interface MultipartLimits {
  /** Parts of one body. */
  readonly maxParts: number;
  /** Bytes of one part's header block; what stands before the first part, its boundary included, may have as many. */
  readonly maxHeaderBytes: number;
}

/** A part while it is being read; its content is still transfer-encoded. */
export interface RawPart {
  readonly headers: ReadonlyMap<string, string>;
  /** What has arrived and was not taken yet. */
  readonly chunks: Buffer[];
  /** The delimiter after the part has been seen. */
  complete: boolean;
}

interface DicerPart extends NodeJS.EventEmitter {
  push(chunk: Buffer | null): boolean;
}

interface HeaderFeed {
  push(data: Buffer): number | undefined;
}

const blankLine = Buffer.from('\r\n\r\n');

/**
 * Splits a multipart body with Dicer. Dicer finds the delimiters; three things are taken out of its hands:
 *
 * - Headers. Its reader cuts long blocks and drops what it does not understand without a word, so the raw block is recorded on the way in
 *   and read by `parsePartHeaders`.
 * - Part streams. Their data and 'end' come ticks later, and what is wrong with a part arrives as events from two emitters. `push` of the part
 *   is replaced, so that a chunk is split completely when `push` here returns, and back-pressure is the caller's pace.
 * - The delimiter, which it matches by prefix only: other text on that line is refused by `parsePartHeaders`.
 *
 * Both readers (stream and buffer) use this class, so that they cannot disagree.
 */
export class MultipartSplitter {
  /** Parts whose headers are complete and that nobody took yet, in order. */
  readonly parts: RawPart[] = [];
  readonly #dicer: Dicer;
  readonly #limits: MultipartLimits;
  #count = 0;
  #finished = false;
  #failure: MimeError | null = null;
  #inHeaders = false;
  #header: Buffer | null = null;
  #headerBytes = 0;
  #preambleBytes = 0;
  #scratch: Buffer | null = null;

  /** @throws {MimeError} bad-boundary */
  constructor(boundary: string, limits: MultipartLimits) {
    // RFC 2046 §5.1.1: 1 to 70 characters, no blank at the end; what is not printable ASCII cannot be meant.
    if (!/^[\x20-\x7e]{0,69}[\x21-\x7e]$/.test(boundary)) {
      throw new MimeError(
        'bad-boundary',
        'The boundary must be 1 to 70 printable ASCII characters and must not end with a blank.',
      );
    }
    this.#limits = limits;
    // Zero pairs: its own header reader has nothing to do.
    this.#dicer = new Dicer({ boundary, maxHeaderPairs: 0, maxHeaderSize: 0 } as Dicer.Config);
    this.#dicer.on('part', (part) => this.#onPart(part as unknown as DicerPart));
    this.#dicer.on('finish', () => {
      this.#finished = true;
    });
    const feed = (this.#dicer as unknown as { readonly _hparser: HeaderFeed })._hparser;
    const push = feed.push;
    feed.push = (data) => {
      const end = this.#recordHeader(data);
      const dicerEnd = push.call(feed, data);
      if (this.#failure === null && dicerEnd !== end) this.#fail('bad-header', 'The end of a part header is unclear.');
      this.#stopIfFailed();
      return dicerEnd;
    };
  }

  /** The final delimiter has been seen; what follows is epilogue. */
  get finished(): boolean {
    return this.#finished;
  }

  /** What is wrong; parts and chunks that came before it are still there to take. */
  get failure(): MimeError | null {
    return this.#failure;
  }

  push(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.length && !this.#finished && this.#failure === null) {
      // Dicer searches all it is given for the next delimiter before it hands out what comes first. Where only little may come it is
      // given little at a time: a header without end is refused before the rest of the body has been searched.
      const { maxHeaderBytes } = this.#limits;
      const most =
        this.#count === 0 ? maxHeaderBytes - this.#preambleBytes : this.#inHeaders ? maxHeaderBytes : Infinity;
      const piece = chunk.subarray(at, at + most);
      at += piece.length;
      this.#feed(piece);
    }
  }

  #feed(piece: Uint8Array): void {
    try {
      this.#dicer.write(piece);
    } catch (error) {
      if (error !== this.#failure) throw error;
    }
    if (this.#count > 0) return;
    // RFC 2046 §5.1.1 has a preamble ignored; real senders write a line there, if anything. Where exactly the line is drawn depends
    // by a few octets on how the body was cut, since Dicer says a little later that a part began.
    this.#preambleBytes += piece.length;
    if (this.#preambleBytes < this.#limits.maxHeaderBytes) return;
    if (this.#beginsWithLineFeed()) this.#failure = bareLineFeed();
    this.#fail('preamble-too-large', 'There is too much before the first line (CRLF) with the boundary.');
  }

  /**
   * Out of Dicer's callbacks and of the rest of the chunk: nothing that follows a failure counts, and a body of nothing but boundaries
   * took 0.14 s when Dicer went on to its end. Dicer is not used again after that.
   */
  #stopIfFailed(): void {
    if (this.#failure !== null) throw this.#failure;
  }

  /** The body has ended. Sets `failure` when the final delimiter has not come. */
  end(): void {
    if (this.#failure !== null) return;
    if (this.#finished) {
      if (this.#count === 0) this.#fail('no-parts', 'The multipart body has no parts.');
      return;
    }
    if (this.#beginsWithLineFeed()) this.#failure = bareLineFeed();
    else if (this.#count === 0) this.#fail('truncated', 'The multipart body has no line (CRLF) with its boundary.');
    else this.#fail('truncated', 'The multipart body ends before its final boundary.');
  }

  #onPart(stream: DicerPart): void {
    this.#count += 1;
    this.#inHeaders = true;
    this.#header = null;
    this.#headerBytes = 0;
    if (this.#count > this.#limits.maxParts) {
      this.#fail('too-many-parts', `The multipart body has more than ${this.#limits.maxParts} parts.`);
    }
    this.#stopIfFailed();
    let part: RawPart | null = null;
    stream.on('header', () => {
      this.#inHeaders = false;
      part = this.#openPart();
    });
    stream.push = (chunk) => {
      if (chunk === null) {
        if (part !== null) part.complete = true;
        else this.#fail('bad-header', 'A part has no blank line after its headers.');
        this.#stopIfFailed();
        stream.emit('end'); // Dicer counts these to know when it is done
      } else if (part !== null && this.#failure === null) {
        // A short chunk may be a view of the search's scratch buffer. It stays true: that buffer only ever holds a prefix of the delimiter.
        part.chunks.push(chunk);
      }
      return true;
    };
  }

  #openPart(): RawPart | null {
    if (this.#failure !== null) return null;
    try {
      const part = { headers: parsePartHeaders(this.#header ?? Buffer.alloc(0)), chunks: [], complete: false };
      this.parts.push(part);
      return part;
    } catch (error) {
      if (!(error instanceof MimeError)) throw error;
      this.#failure = error;
      return null;
    }
  }

  /** @returns how many bytes of `data` belong to the header block with its blank line; undefined while it goes on */
  #recordHeader(data: Buffer): number | undefined {
    if (this.#failure !== null) return undefined;
    const max = this.#limits.maxHeaderBytes;
    if (this.#headerBytes === 0) {
      const at = data.subarray(0, max + blankLine.length).indexOf(blankLine);
      if (at !== -1) {
        this.#header = data.subarray(0, at);
        return at + blankLine.length;
      }
    }
    this.#scratch ??= Buffer.allocUnsafe(max + blankLine.length);
    const before = this.#headerBytes;
    const copied = data.copy(this.#scratch, before);
    this.#headerBytes = before + copied;
    const at = this.#scratch.subarray(0, this.#headerBytes).indexOf(blankLine, Math.max(0, before - 3));
    if (at !== -1) {
      this.#header = this.#scratch.subarray(0, at);
      return at + blankLine.length - before;
    }
    if (this.#headerBytes === this.#scratch.length) {
      if (this.#beginsWithLineFeed()) this.#failure = bareLineFeed();
      this.#fail('headers-too-large', `The headers of a part are larger than ${max} bytes.`);
    }
    return undefined;
  }

  /** A delimiter with LF alone behind it: without CRLF nothing later would end the header block, so this is the fault to name. */
  #beginsWithLineFeed(): boolean {
    if (!this.#inHeaders || this.#scratch === null) return false;
    return /^[ \t]*\n/.test(this.#scratch.toString('latin1', 0, this.#headerBytes));
  }

  #fail(code: MimeError['code'], message: string): void {
    this.#failure ??= new MimeError(code, message);
  }
}
