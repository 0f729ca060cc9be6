import type { SaxesAttributeNS, SaxesTagNS } from 'saxes';
import { SaxesParser } from 'saxes';
import { XmlError } from './xml-error.ts';

export interface StrictHandlers {
  /** The attributes of `tag` in document order, namespace declarations included. */
  open(tag: SaxesTagNS, attributes: readonly SaxesAttributeNS[]): void;
  close(tag: SaxesTagNS): void;
  /** Text or CDATA; text that touches may come in several calls. */
  text(characters: string): void;
  processingInstruction(target: string, body: string): void;
  /** `encoding` as declared, undefined when it is not. Called only when there is an XML declaration. */
  declaration(encoding: string | undefined): void;
}

export interface StrictLimits {
  /** Elements on a path from the root, the root counted. */
  readonly maxDepth: number;
  /** Attributes of one element, namespace declarations counted. */
  readonly maxAttributes: number;
}

export interface StrictParser {
  /** @throws XmlError */
  write(characters: string): void;
  /** @throws XmlError */
  end(): void;
}

/**
 * Different prefixes that a document may declare, however often. Serializers declare a few again and again; an attack declares thousands,
 * and each costs more than anything else of its length.
 */
const PREFIXES = 128;

/**
 * A push parser for namespace-well-formed XML 1.0 without DOCTYPE. It closes what saxes leaves open: QName parts that are no NCNames,
 * namespace URIs with white space (saxes resolves by the trimmed value, Canonical XML writes it as it is), XML 1.1, depth.
 */
export function strictParser(handlers: StrictHandlers, limits: StrictLimits): StrictParser {
  const parser = new SaxesParser({ xmlns: true, position: false, defaultXMLVersion: '1.0', forceXMLVersion: true });
  declareHandlers(parser);
  let depth = 0;
  const prefixes = new Set<string>();
  let pending: SaxesAttributeNS[] = [];

  parser.on('attribute', (a) => {
    if (a.prefix === 'xmlns' && prefixes.add(a.local).size > PREFIXES)
      throw new XmlError('too-many-namespaces', `There are more than ${PREFIXES} namespace prefixes.`);
    // The URI is not known yet; saxes completes this very object before it opens the tag, so it is kept.
    if (pending.push(a as SaxesAttributeNS) > limits.maxAttributes)
      throw new XmlError('too-many-attributes', `An element has more than ${limits.maxAttributes} attributes.`);
  });
  parser.on('opentag', (tag) => {
    if (++depth > limits.maxDepth)
      throw new XmlError('too-deep', `Elements are nested more than ${limits.maxDepth} deep.`);
    checkQName(tag.prefix, tag.local);
    for (const a of pending) {
      checkQName(a.prefix, a.local);
      if ((a.prefix === 'xmlns' || a.name === 'xmlns') && WHITE_SPACE.test(a.value))
        throw new XmlError('malformed', 'A namespace URI has white space in it.');
    }
    handlers.open(tag, pending);
    if (pending.length > 0) pending = [];
  });
  parser.on('closetag', (tag) => {
    depth--;
    handlers.close(tag);
  });
  parser.on('text', handlers.text);
  parser.on('cdata', handlers.text);
  parser.on('processinginstruction', (pi) => handlers.processingInstruction(pi.target, pi.body));
  parser.on('doctype', () => {
    throw new XmlError('doctype', 'The XML has a document type declaration.');
  });
  parser.on('xmldecl', ({ version, encoding }) => {
    // 1.1 has other line ends and other characters: two parsers would read two documents.
    if (version !== '1.0') throw new XmlError('malformed', 'The XML is not XML 1.0.');
    handlers.declaration(encoding);
  });
  parser.on('error', (cause) => {
    // saxes quotes names of the document, however long they are.
    throw new XmlError('malformed', `The XML is not well-formed: ${cause.message.slice(0, 120)}`, { cause });
  });
  return { write: (characters) => void parser.write(characters), end: () => void parser.close() };
}

/**
 * saxes keeps handlers in properties that `on` creates by computed key; the seventh such makes V8 store the whole parser as a
 * dictionary, and parsing takes five times as long (measured on Node 20). Creating them by name first avoids it; if a later saxes names
 * them otherwise, only speed is lost.
 */
function declareHandlers(parser: unknown): void {
  const p = parser as Record<string, unknown>;
  p.attributeHandler = undefined;
  p.openTagHandler = undefined;
  p.closeTagHandler = undefined;
  p.textHandler = undefined;
  p.cdataHandler = undefined;
  p.piHandler = undefined;
  p.doctypeHandler = undefined;
  p.xmldeclHandler = undefined;
  p.errorHandler = undefined;
}

const WHITE_SPACE = /[ \t\r\n]/;

const NAME_START =
  /^[A-Z_a-z\u{C0}-\u{D6}\u{D8}-\u{F6}\u{F8}-\u{2FF}\u{370}-\u{37D}\u{37F}-\u{1FFF}\u{200C}-\u{200D}\u{2070}-\u{218F}\u{2C00}-\u{2FEF}\u{3001}-\u{D7FF}\u{F900}-\u{FDCF}\u{FDF0}-\u{FFFD}\u{10000}-\u{EFFFF}]/u;

/** Namespaces in XML §4: both parts of a QName are NCNames. saxes checks the whole as a Name, which lets `a:1` through. */
function checkQName(prefix: string, local: string): void {
  if (prefix === '') return;
  const c = local.charCodeAt(0);
  if ((c >= 0x61 && c <= 0x7a) || (c >= 0x41 && c <= 0x5a) || c === 0x5f) return;
  if (!NAME_START.test(local)) throw new XmlError('malformed', 'A name is not a QName.');
}
