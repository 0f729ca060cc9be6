import { sbdFault } from './sbd-fault.ts';

/** What the scanner tells; offsets are absolute octets since the first one, `end` exclusive. */
export interface ScanEvents {
  /** A start tag, for depths 1 to 3 only (the root has depth 1). `empty`: it is a self-closing tag and no close follows. */
  open(start: number, end: number, depth: number, empty: boolean): void;
  /** An end tag, for depths 1 to 3 only. */
  close(start: number, end: number, depth: number): void;
  /** Character data as written, entities included, or the inside of a CDATA section; `last` when the run is complete. */
  text(chunk: Buffer, from: number, to: number, cdata: boolean, last: boolean): void;
}

const MAX_DEPTH = 1000;
const MAX_OPEN_NAMES = 64 * 1024;
const [TAB, LF, CR, BLANK, QUOTE, APOSTROPHE, SLASH, LT, GT] = [9, 10, 13, 32, 34, 39, 47, 60, 62];
const [BANG, QUESTION, HYPHEN, OPEN_BRACKET, CLOSE_BRACKET, EQUALS] = [33, 63, 45, 91, 93, 61];
const COMMENT_START = Buffer.from('--');
const CDATA_START = Buffer.from('[CDATA[');

// States as numbers: this loop sees every octet of every payload.
const TEXT = 0;
const MARKUP = 1;
const NAME = 2;
const TAG = 3;
const VALUE = 4;
const END_NAME = 5;
const END_SPACE = 6;
const DECLARATION = 7;
const COMMENT = 8;
const CDATA = 9;
const INSTRUCTION = 10;

/**
 * Finds tags, comments, CDATA sections and processing instructions in UTF-8 octets that come in any chunks, and proves that tags are
 * balanced by name. It does not look at attributes or characters: what must be well-formed beyond that goes through the strict parser.
 * Holds no text; names of open elements only.
 * @throws {As4Error} EBMS:0004 for a DOCTYPE, unbalanced tags, more than 1000 levels
 */
export class XmlScanner {
  readonly #events: ScanEvents;
  #state = TEXT;
  /** Octets of all earlier chunks. */
  #base = 0;
  /** Where the markup under way began. */
  #start = 0;
  #depth = 0;
  /** In a tag: the last octet was a slash. In comment, CDATA, instruction: length of the run that may end it. */
  #run = 0;
  #quote = 0;
  /** Octets matched of an end tag's name or of a `<!` keyword, or read of an instruction's target. */
  #matched = 0;
  #keyword: Buffer = COMMENT_START;
  #xmlTarget = false;
  /** Names of the open elements, one after the other, and where each begins. */
  #names = new Uint8Array(1024);
  readonly #nameStarts: number[] = [];
  #namesEnd = 0;
  /** Character data is reported only while somebody wants it. */
  wantsText = false;

  constructor(events: ScanEvents) {
    this.#events = events;
  }

  /** Whether everything that was opened is closed. */
  get balanced(): boolean {
    return this.#state === TEXT && this.#depth === 0;
  }

  scan(chunk: Buffer): void {
    for (let i = 0; i < chunk.length; ) {
      switch (this.#state) {
        case TEXT:
          i = this.#text(chunk, i);
          break;
        case MARKUP:
          i = this.#markup(chunk, i);
          break;
        case NAME:
          i = this.#name(chunk, i);
          break;
        case TAG:
          i = this.#tag(chunk, i);
          break;
        case VALUE: {
          const at = find(chunk, this.#quote, i);
          if (at < chunk.length) this.#state = TAG;
          i = at + 1;
          break;
        }
        case END_NAME:
          i = this.#endName(chunk, i);
          break;
        case END_SPACE:
          if (chunk[i] === GT) this.#closed(i + 1);
          else if (!isSpace(chunk[i]!)) throw malformed('an end tag has more than a name');
          i += 1;
          break;
        case DECLARATION:
          i = this.#declaration(chunk, i);
          break;
        case INSTRUCTION:
          i = this.#instruction(chunk, i);
          break;
        default:
          i = this.#section(chunk, i);
      }
    }
    this.#base += chunk.length;
  }

  #text(chunk: Buffer, from: number): number {
    const at = find(chunk, LT, from);
    const found = at < chunk.length;
    if (this.wantsText) this.#events.text(chunk, from, at, false, found);
    if (!found) return at;
    this.#start = this.#base + at;
    this.#state = MARKUP;
    return at + 1;
  }

  #markup(chunk: Buffer, i: number): number {
    const octet = chunk[i]!;
    this.#matched = 0;
    this.#run = 0;
    if (octet === SLASH) {
      if (this.#depth === 0) throw malformed('an end tag has no start tag');
      this.#state = END_NAME;
      return i + 1;
    }
    if (octet === BANG) {
      this.#state = DECLARATION;
      return i + 1;
    }
    if (octet === QUESTION) {
      this.#state = INSTRUCTION;
      this.#xmlTarget = true;
      return i + 1;
    }
    if (this.#depth === MAX_DEPTH) throw malformed(`elements are nested deeper than ${MAX_DEPTH}`);
    this.#state = NAME;
    this.#nameStarts.push(this.#namesEnd);
    return i;
  }

  #name(chunk: Buffer, from: number): number {
    let names = this.#names;
    let end = this.#namesEnd;
    let i = from;
    for (; i < chunk.length; i++) {
      const octet = chunk[i]!;
      if (octet === GT || octet === SLASH || isSpace(octet)) {
        if (end === this.#nameStarts[this.#depth]) throw malformed('a tag has no name');
        this.#state = TAG;
        break;
      }
      if (octet === LT || octet === QUOTE || octet === APOSTROPHE || octet === EQUALS)
        throw malformed('a tag has no proper name');
      if (end === names.length) names = this.#growNames();
      names[end++] = octet;
    }
    this.#namesEnd = end;
    return i;
  }

  #growNames(): Uint8Array<ArrayBuffer> {
    if (this.#names.length === MAX_OPEN_NAMES) throw malformed('the names of the open elements are too long');
    const larger = new Uint8Array(this.#names.length * 2);
    larger.set(this.#names);
    this.#names = larger;
    return larger;
  }

  #tag(chunk: Buffer, from: number): number {
    for (let i = from; i < chunk.length; i++) {
      const octet = chunk[i]!;
      if (octet === GT) {
        this.#opened(i + 1, this.#run === 1);
        return i + 1;
      }
      if (this.#run === 1) throw malformed('a tag has a stray /');
      if (octet === QUOTE || octet === APOSTROPHE) {
        this.#quote = octet;
        this.#state = VALUE;
        return i + 1;
      }
      if (octet === LT) throw malformed('a tag is not closed');
      if (octet === SLASH) this.#run = 1;
    }
    return chunk.length;
  }

  #opened(end: number, empty: boolean): void {
    const depth = ++this.#depth;
    this.#state = TEXT;
    if (depth <= 3) this.#events.open(this.#start, this.#base + end, depth, empty);
    if (empty) this.#pop();
  }

  #endName(chunk: Buffer, from: number): number {
    const start = this.#nameStarts[this.#depth - 1]!;
    const length = this.#namesEnd - start;
    let matched = this.#matched;
    let i = from;
    while (matched < length && i < chunk.length && chunk[i] === this.#names[start + matched]) {
      matched += 1;
      i += 1;
    }
    this.#matched = matched;
    if (i === chunk.length) return i;
    if (matched < length) throw malformed('tags are not balanced');
    const octet = chunk[i]!;
    if (octet === GT) this.#closed(i + 1);
    else if (isSpace(octet)) this.#state = END_SPACE;
    else throw malformed('tags are not balanced');
    return i + 1;
  }

  #closed(end: number): void {
    const depth = this.#depth;
    this.#state = TEXT;
    this.#pop();
    if (depth <= 3) this.#events.close(this.#start, this.#base + end, depth);
  }

  #pop(): void {
    this.#depth -= 1;
    this.#namesEnd = this.#nameStarts.pop()!;
  }

  #declaration(chunk: Buffer, i: number): number {
    const octet = chunk[i]!;
    if (this.#matched === 0) this.#keyword = octet === OPEN_BRACKET ? CDATA_START : COMMENT_START;
    // SOAP forbids DTDs, Peppol has no use for them, and they are where XML attacks live.
    if (octet !== this.#keyword[this.#matched])
      throw malformed('DOCTYPE and other markup declarations are not allowed', 'sbd-doctype');
    this.#matched += 1;
    if (this.#matched === this.#keyword.length) this.#state = this.#keyword === CDATA_START ? CDATA : COMMENT;
    return i + 1;
  }

  /** Comment until `-->`, CDATA until `]]>`. */
  #section(chunk: Buffer, from: number): number {
    const cdata = this.#state === CDATA;
    const ender = cdata ? CLOSE_BRACKET : HYPHEN;
    // Enders that came with an earlier chunk may be text after all.
    let held = this.#run;
    let run = held;
    let i = from;
    while (i < chunk.length) {
      if (run === 0) {
        i = find(chunk, ender, i);
        if (i === chunk.length) break;
      }
      const octet = chunk[i]!;
      if (octet === ender) run += 1;
      else if (octet === GT && run >= 2) {
        this.#state = TEXT;
        if (cdata) this.#cdata(chunk, from, i - 2, held, true);
        return i + 1;
      } else run = 0;
      i += 1;
    }
    const keep = Math.min(run, 2);
    if (cdata) {
      this.#cdata(chunk, from, chunk.length - keep, held, false);
    }
    held = keep;
    this.#run = held;
    return chunk.length;
  }

  #cdata(chunk: Buffer, from: number, to: number, held: number, last: boolean): void {
    if (!this.wantsText) return;
    // `to` lies before `from` by as many held brackets as belong to the end; the others are text.
    const literal = Math.min(held, Math.max(0, held + (to - from)));
    if (literal > 0) this.#events.text(BRACKETS, 0, literal, true, false);
    this.#events.text(chunk, from, Math.max(from, to), true, last);
  }

  #instruction(chunk: Buffer, from: number): number {
    for (let i = from; i < chunk.length; i++) {
      const octet = chunk[i]!;
      if (this.#matched < 4) {
        const wanted =
          this.#matched === 3 ? isSpace(octet) || octet === QUESTION : (octet | 32) === XML_TARGET[this.#matched];
        this.#xmlTarget &&= wanted;
        this.#matched += 1;
        if (this.#matched === 4 && this.#xmlTarget && this.#start !== 0) {
          throw malformed('an XML declaration stands inside the envelope');
        }
      }
      if (octet === GT && this.#run === 1) {
        this.#state = TEXT;
        return i + 1;
      }
      this.#run = octet === QUESTION ? 1 : 0;
    }
    return chunk.length;
  }
}

const XML_TARGET = Buffer.from('xml');
const BRACKETS = Buffer.from(']]');

/** Index of the octet, or the chunk's length. Texts between tags are short: a call into native code pays only beyond some octets. */
function find(chunk: Buffer, octet: number, from: number): number {
  const near = Math.min(chunk.length, from + 32);
  for (let i = from; i < near; i++) if (chunk[i] === octet) return i;
  if (near === chunk.length) return near;
  const at = chunk.indexOf(octet, near);
  return at < 0 ? chunk.length : at;
}

function isSpace(octet: number): boolean {
  return octet === BLANK || octet === LF || octet === TAB || octet === CR;
}

function malformed(what: string, reason = 'sbd-malformed'): ReturnType<typeof sbdFault> {
  return sbdFault(what, reason);
}
