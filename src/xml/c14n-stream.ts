import type { SaxesAttributeNS, SaxesTagNS } from 'saxes';
import { ExclusiveWriter } from './c14n.ts';
import type { Decode } from './encoding.ts';
import { decoderFor, HEAD_BYTES } from './encoding.ts';
import { escapeText } from './escape.ts';
import { strictParser } from './strict-parser.ts';
import { XmlError } from './xml-error.ts';

export interface StreamOptions {
  /** Octets taken before `too-large`. */
  readonly maxBytes: number;
  /** The charset parameter of the media type, when it has one. */
  readonly charset?: string;
  /** Depth of nesting; 256 unless given. */
  readonly maxDepth?: number;
}

/** Octets that are decoded at a time: what is wrong with a document is found before all of it has been. */
const PIECE = 16 * 1024;

/**
 * Exclusive C14N without comments of a whole document, as SwA §5.4.2 wants it for attachments of an XML media type. Processing
 * instructions are content and stay. Memory is bounded by the longest text node, not by the document.
 * @returns the canonical form in pieces, to be encoded as UTF-8
 * @throws XmlError; errors of `source` pass through unchanged
 */
export async function* canonicalizeStream(
  source: AsyncIterable<Uint8Array>,
  options: StreamOptions,
): AsyncGenerator<string, void, undefined> {
  const { charset, maxBytes, maxDepth = 256 } = options;
  const writer = new DocumentWriter(maxDepth);
  let decode: Decode | null = null;
  let head: Uint8Array = new Uint8Array(0);
  let total = 0;
  for await (const chunk of inPieces(source)) {
    total += chunk.byteLength;
    if (total > maxBytes) throw new XmlError('too-large', `The XML is larger than ${maxBytes} bytes.`);
    let octets = chunk;
    if (decode === null) {
      head = head.byteLength === 0 ? chunk : Buffer.concat([head, chunk]);
      if (head.byteLength < HEAD_BYTES) continue;
      decode = decoderFor(head.subarray(0, HEAD_BYTES), charset);
      octets = head;
      head = new Uint8Array(0);
    }
    const out = writer.write(decode(octets, false));
    if (out !== '') yield out;
  }
  decode ??= decoderFor(head, charset);
  const out = writer.write(decode(head, true)) + writer.end();
  if (out !== '') yield out;
}

async function* inPieces(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    for (let at = 0; at < chunk.byteLength; at += PIECE) yield chunk.subarray(at, at + PIECE);
  }
}

/** Parser events to canonical text. */
class DocumentWriter {
  readonly #exclusive = new ExclusiveWriter([]);
  readonly #parser;
  readonly #marks: number[] = [];
  #afterRoot = false;
  #out = '';

  constructor(maxDepth: number) {
    this.#parser = strictParser(
      {
        open: (tag, attributes) => this.#open(tag, attributes),
        close: (tag) => {
          this.#out += `</${tag.name}>`;
          this.#exclusive.reset(this.#marks.pop()!);
          if (this.#marks.length === 0) this.#afterRoot = true;
        },
        text: (characters) => {
          // White space between top-level nodes is no node of the document.
          if (this.#marks.length > 0) this.#out += escapeText(characters);
        },
        processingInstruction: (target, body) => this.#processingInstruction(target, body),
        declaration: () => undefined,
      },
      { maxDepth, maxAttributes: 10_000 },
    );
  }

  /** @returns what became canonical text with these characters */
  write(characters: string): string {
    if (characters !== '') this.#parser.write(characters);
    return this.#take();
  }

  end(): string {
    this.#parser.end();
    return this.#take();
  }

  #take(): string {
    const out = this.#out;
    this.#out = '';
    return out;
  }

  #open(tag: SaxesTagNS, attributes: readonly SaxesAttributeNS[]): void {
    this.#marks.push(this.#exclusive.mark());
    this.#out += this.#exclusive.startTag(
      {
        name: tag.name,
        prefix: tag.prefix,
        uri: tag.uri,
        attributes: attributes.filter((a) => a.prefix !== 'xmlns' && a.name !== 'xmlns'),
        declarations: null,
      },
      null,
    );
  }

  /** Canonical XML 1.0 §2.3: outside the root a line feed keeps it apart, before the root behind it, after the root before it. */
  #processingInstruction(target: string, body: string): void {
    const pi = body === '' ? `<?${target}?>` : `<?${target} ${body}?>`;
    if (this.#marks.length > 0) this.#out += pi;
    else this.#out += this.#afterRoot ? `\n${pi}` : `${pi}\n`;
  }
}
