import { createHash } from 'node:crypto';
import { elements, is, type XmlElement } from '../xml/tree.ts';
import { sbdFault } from './sbd-fault.ts';
import {
  checkRoot,
  describeDocument,
  malformed,
  parseFrame,
  refuseText,
  standaloneTag,
  tagName,
  type UnreadDocument,
} from './sbd-frame.ts';
import { readSbdh, SBDH, type Sbdh } from './sbdh.ts';
import { Utf8Source } from './utf8-source.ts';
import { WrappedContent } from './wrapped-content.ts';
import { XmlScanner } from './xml-scanner.ts';

/** What goes through the strict parser and may therefore not be large: all before the document, and all after it. */
const MAX_FRAME = 64 * 1024;

/** The business document of an SBD. */
export interface SbdDocument {
  /** `text` and `binary`: TextContent and BinaryContent of the Peppol wrapper. */
  readonly kind: 'xml' | 'text' | 'binary';
  /** Of the document's root or the wrapper. */
  readonly namespace: string;
  readonly localName: string;
  /** `@mimeType` and `@encoding` of a wrapper. */
  readonly mimeType: string | null;
  readonly encoding: string | null;
  /** Over the octets from start tag to end tag (as UTF-8 when the SBD is in another encoding), or over the decoded content. */
  readonly sha256: Buffer;
  readonly bytes: number;
  /** Namespaces that the document's root inherits from the SBD: prefix ('' is the default) to URI. */
  readonly declarations: ReadonlyMap<string, string>;
}

export interface Sbd {
  readonly header: Sbdh;
  readonly document: SbdDocument;
  readonly warnings: readonly string[];
}

export interface SbdReaderOptions {
  /** `report` turns format faults of the header into warnings. */
  readonly mode: 'strict' | 'report';
  /** CharacterSet of the part, used when the XML itself does not say. */
  readonly charset?: string | undefined;
  /** Called with the octets of the document in order; it must not keep them back. */
  readonly onDocument?: ((chunk: Buffer) => void) | undefined;
  /** `onDocument` gets the start tag with the namespaces it inherits, so that the document stands alone. The digest does not change. */
  readonly standalone?: boolean | undefined;
}

/**
 * Reads a StandardBusinessDocument as it comes, in any chunks. The header and the frame go through the strict parser; the document
 * is scanned for balanced tags, hashed and passed on, and is never in memory as a whole.
 *
 * `push` and `end` throw {@link As4Error} EBMS:0004; after that the reader is of no use.
 */
export class SbdReader {
  readonly #options: SbdReaderOptions;
  readonly #source: Utf8Source;
  readonly #scanner: XmlScanner;
  readonly #hash = createHash('sha256');
  readonly #warnings: string[] = [];
  /** Which part the octets belong to. */
  #phase: 'head' | 'document' | 'tail' = 'head';
  readonly #head: Buffer[] = [];
  readonly #tail: Buffer[] = [];
  #frameBytes = 0;
  #chunk: Buffer = Buffer.alloc(0);
  #base = 0;
  /** Index in the chunk up to which octets have been handed on. */
  #taken = 0;
  #rootTag = '';
  #roots = 0;
  #children = 0;
  #bytes = 0;
  #header: Sbdh | null = null;
  #document: UnreadDocument | null = null;
  #wrapped: WrappedContent | null = null;

  constructor(options: SbdReaderOptions) {
    this.#options = options;
    this.#source = new Utf8Source(options.charset);
    this.#scanner = new XmlScanner({
      open: (start, end, depth, empty) => this.#open(start, end, depth, empty),
      close: (start, end, depth) => this.#close(start, end, depth),
      text: (chunk, from, to, cdata, last) => this.#text(chunk.subarray(from, to), cdata, last),
    });
  }

  push(chunk: Uint8Array): void {
    this.#scan(this.#source.push(chunk));
  }

  end(): Sbd {
    this.#scan(this.#source.end());
    if (this.#phase === 'head') {
      this.#readHead(Buffer.concat(this.#head), 0, false); // says what is missing
      throw malformed();
    }
    if (!this.#scanner.balanced) throw sbdFault('it ends before its last end tag', 'sbd-malformed');
    this.#checkTail();
    const document = { ...this.#document!, sha256: this.#hash.digest(), bytes: this.#bytes };
    return { header: this.#header!, document, warnings: this.#warnings };
  }

  #scan(chunk: Buffer): void {
    this.#chunk = chunk;
    this.#taken = 0;
    this.#scanner.scan(chunk);
    this.#take(chunk.length);
    this.#base += chunk.length;
  }

  /** Hands on the octets up to an index of the chunk to whom they belong. */
  #take(to: number): void {
    const octets = this.#chunk.subarray(this.#taken, to);
    this.#taken = to;
    if (octets.length === 0) return;
    if (this.#phase === 'document') {
      if (this.#wrapped === null) this.#emit(octets, octets);
      return;
    }
    this.#frameBytes += octets.length;
    if (this.#frameBytes > MAX_FRAME) this.#refuseLongFrame();
    // A copy: the caller may reuse its buffer.
    (this.#phase === 'head' ? this.#head : this.#tail).push(Buffer.from(octets));
  }

  #open(start: number, end: number, depth: number, empty: boolean): void {
    if (depth === 1) {
      this.#roots += 1;
      if (this.#roots > 1) throw sbdFault('there is more after the StandardBusinessDocument', 'sbd-trailing');
      this.#take(end - this.#base);
      this.#rootTag = Buffer.concat(this.#head).toString('utf8', start, end);
      // At once: what is no SBD at all shall not be read any further.
      checkRoot(parseFrame(empty ? this.#rootTag : `${this.#rootTag}</${tagName(this.#rootTag)}>`));
    } else if (depth === 2) {
      this.#children += 1;
      if (this.#children > 2) throw sbdFault('it has more than one business document', 'sbd-two-documents');
      if (this.#children === 2) this.#begin(start, end, empty);
    } else if (this.#wrapped !== null) {
      throw sbdFault('TextContent and BinaryContent must not have child elements', 'sbd-wrapper');
    }
  }

  #begin(start: number, end: number, empty: boolean): void {
    this.#take(end - this.#base);
    const head = Buffer.concat(this.#head);
    const element = this.#readHead(head, start, empty);
    this.#phase = 'document';
    this.#frameBytes = 0;
    if (this.#wrapped === null) {
      const tag = head.subarray(start, end);
      this.#emit(
        tag,
        this.#options.standalone === true ? standaloneTag(tag, element, this.#document!.declarations) : tag,
      );
    } else this.#scanner.wantsText = true;
    if (empty) this.#finish();
  }

  #close(_start: number, end: number, depth: number): void {
    if (depth !== 2 || this.#phase !== 'document') return;
    this.#take(end - this.#base);
    this.#finish();
  }

  #finish(): void {
    this.#wrapped?.end();
    this.#scanner.wantsText = false;
    this.#phase = 'tail';
  }

  #text(piece: Buffer, cdata: boolean, last: boolean): void {
    const content = this.#wrapped!.push(piece, cdata, last);
    this.#emit(content, content);
  }

  #emit(octets: Buffer, passedOn: Buffer): void {
    if (octets.length === 0) return;
    this.#hash.update(octets);
    this.#bytes += octets.length;
    this.#options.onDocument?.(passedOn);
  }

  /** Everything up to the document's start tag, completed with the end tags that are still to come. */
  #readHead(head: Buffer, start: number, empty: boolean): XmlElement {
    const opened = this.#children === 2;
    const documentEnd = opened && !empty ? `</${tagName(head.toString('utf8', start))}>` : '';
    const ends = opened ? `${documentEnd}</${tagName(this.#rootTag)}>` : '';
    const root = parseFrame(head.toString('utf8').replace(/^<\?xml\s[^>]*>/, '') + ends);
    checkRoot(root);
    const [header, document, third] = elements(root);
    if (header === undefined || !is(header, SBDH, 'StandardBusinessDocumentHeader')) {
      throw sbdFault('it has no StandardBusinessDocumentHeader', 'sbd-header-missing');
    }
    if (document === undefined) throw sbdFault('it has no business document', 'sbd-document-missing');
    if (third !== undefined) throw malformed(); // scanner and parser must have seen the same
    refuseText(root);
    this.#header = readSbdh(header, (fault) => this.#report(fault));
    this.#document = describeDocument(document, root);
    if (this.#document.kind !== 'xml') this.#wrapped = new WrappedContent(this.#document.kind);
    return document;
  }

  #report(fault: string): void {
    if (this.#options.mode === 'strict') throw sbdFault(fault, 'sbdh-format');
    this.#warnings.push(`SBDH: ${fault}`);
  }

  #checkTail(): void {
    const tail = Buffer.concat(this.#tail).toString('utf8');
    // The scanner has compared the names already; what is left is nearly always only white space.
    if (/^[ \t\r\n]*<\/[^<>]*>[ \t\r\n]*$/.test(tail)) return;
    refuseText(parseFrame(`${this.#rootTag}${tail}`));
  }

  #refuseLongFrame(): never {
    if (this.#phase === 'tail') throw sbdFault('there is too much after the business document', 'sbd-too-long');
    if (this.#roots === 0) throw sbdFault('it is not XML', 'sbd-malformed');
    throw sbdFault('its header is too long', 'sbd-too-long');
  }
}
