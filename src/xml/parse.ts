import { isUtf8 } from 'node:buffer';
import type { SaxesAttributeNS, SaxesTagNS } from 'saxes';
import { SaxesParser } from 'saxes';
import type { XmlAttribute, XmlElement } from './tree.ts';
import { XmlError } from './xml-error.ts';

export { XmlError } from './xml-error.ts';

export interface XmlLimits {
  /** Octets of the document. */
  readonly maxBytes: number;
  /** Elements on a path from the root, the root counted. */
  readonly maxDepth: number;
  /** Attributes of one element, namespace declarations counted. */
  readonly maxAttributes: number;
  /** Namespace declarations in the whole document. */
  readonly maxNamespaces: number;
}

export const DEFAULT_LIMITS: XmlLimits = {
  maxBytes: 256 * 1024,
  maxDepth: 100,
  maxAttributes: 64,
  maxNamespaces: 4096,
};

export interface XmlDocument {
  readonly root: XmlElement;
  /** Every `Id`, `ID`, `id` (in no namespace) and `wsu:Id`: what a same-document reference can point to. */
  readonly byId: ReadonlyMap<string, XmlElement>;
}

/** The tree while it is being built; it leaves this file as {@link XmlElement} only. */
interface Building extends XmlElement {
  readonly attributes: XmlAttribute[];
  declarations: Map<string, string> | null;
  readonly children: (Building | string)[];
  readonly parent: Building | null;
}

const WSU = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd';

/**
 * Parses a namespace-well-formed XML 1.0 document in UTF-8 (with or without BOM and XML declaration) into the one tree that is verified
 * and read. What could make two readers see two documents is refused: DOCTYPE, processing instructions, doubled Ids (architecture §2.2).
 * @throws XmlError
 */
export function parseXml(bytes: Uint8Array, limits: Partial<XmlLimits> = {}): XmlDocument {
  const { maxBytes, maxDepth, maxAttributes, maxNamespaces } = { ...DEFAULT_LIMITS, ...limits };
  if (bytes.byteLength > maxBytes) throw new XmlError('too-large', `The XML is larger than ${maxBytes} bytes.`);
  if (!isUtf8(bytes)) throw new XmlError('not-utf8', 'The XML is not valid UTF-8.');
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');

  const byId = new Map<string, XmlElement>();
  let root: Building | null = null;
  let current: Building | null = null;
  let depth = 0;
  let namespaces = 0;
  let pending: SaxesAttributeNS[] = [];

  const open = (tag: SaxesTagNS): void => {
    if (++depth > maxDepth) throw new XmlError('too-deep', `Elements are nested more than ${maxDepth} deep.`);
    checkLocalName(tag.prefix, tag.local);
    const el: Building = {
      name: tag.name,
      prefix: tag.prefix,
      local: tag.local,
      uri: tag.uri,
      attributes: [],
      declarations: null,
      children: [],
      parent: current,
    };
    for (const a of pending) {
      if (a.prefix === 'xmlns' || a.name === 'xmlns') {
        if (++namespaces > maxNamespaces)
          throw new XmlError('too-many-namespaces', `There are more than ${maxNamespaces} namespace declarations.`);
        checkLocalName(a.prefix, a.local);
        declare(el, a.prefix === '' ? '' : a.local, a.value);
        continue;
      }
      checkLocalName(a.prefix, a.local);
      el.attributes.push(a);
      if (isId(a)) {
        if (byId.has(a.value)) throw new XmlError('duplicate-id', 'Two Id attributes have the same value.');
        byId.set(a.value, el);
      }
    }
    if (pending.length > 0) pending = [];
    if (current === null) root = el;
    else current.children.push(el);
    current = el;
  };
  const characters = (text: string): void => {
    if (current === null || text === '') return;
    const { children } = current;
    const last = children.length - 1;
    const before = children[last];
    if (typeof before === 'string') children[last] = before + text;
    else children.push(text);
  };

  const parser = new SaxesParser({ xmlns: true, position: false, defaultXMLVersion: '1.0', forceXMLVersion: true });
  parser.on('error', refuse);
  parser.on('doctype', refuseDoctype);
  parser.on('processinginstruction', () => {
    throw new XmlError('processing-instruction', 'The XML has a processing instruction.');
  });
  parser.on('xmldecl', (declaration) => {
    checkVersion(declaration.version);
    if (declaration.encoding !== undefined && declaration.encoding.toLowerCase() !== 'utf-8')
      throw new XmlError('not-utf8', 'The XML declares an encoding other than UTF-8.');
  });
  parser.on('attribute', (a) => {
    // Called before the URI is known; saxes completes this very object, so it is kept and becomes the tree's attribute.
    if (pending.push(a as SaxesAttributeNS) > maxAttributes)
      throw new XmlError('too-many-attributes', `An element has more than ${maxAttributes} attributes.`);
  });
  parser.on('opentag', open);
  parser.on('closetag', () => {
    depth--;
    current = current === null ? null : current.parent;
  });
  parser.on('text', characters);
  parser.on('cdata', characters);
  parser.write(source).close();
  if (root === null) throw new XmlError('malformed', 'The XML has no root element.');
  return { root, byId };
}

function isId(a: XmlAttribute): boolean {
  if (a.local.length !== 2) return false;
  if (a.uri === '') return a.local === 'Id' || a.local === 'ID' || a.local === 'id';
  return a.local === 'Id' && a.uri === WSU;
}

function declare(el: Building, prefix: string, uri: string): void {
  // saxes resolves by the trimmed value, Canonical XML writes the value as it is: no URI reference has white space, so neither is guessed.
  if (/\s/.test(uri)) throw new XmlError('malformed', 'A namespace URI has white space in it.');
  if (prefix === 'xml') return; // always in scope, never written by C14N
  el.declarations ??= new Map();
  el.declarations.set(prefix, uri);
}

/** Namespaces in XML §4: both parts of a QName are NCNames. saxes checks the whole as a Name, which lets `a:1` through. */
export function checkLocalName(prefix: string, local: string): void {
  if (prefix === '') return;
  const c = local.charCodeAt(0);
  if ((c >= 0x61 && c <= 0x7a) || (c >= 0x41 && c <= 0x5a) || c === 0x5f) return;
  if (!NAME_START.test(local)) throw new XmlError('malformed', 'A name is not a QName.');
}

const NAME_START =
  /^[A-Z_a-z\u{C0}-\u{D6}\u{D8}-\u{F6}\u{F8}-\u{2FF}\u{370}-\u{37D}\u{37F}-\u{1FFF}\u{200C}-\u{200D}\u{2070}-\u{218F}\u{2C00}-\u{2FEF}\u{3001}-\u{D7FF}\u{F900}-\u{FDCF}\u{FDF0}-\u{FFFD}\u{10000}-\u{EFFFF}]/u;

/** Only XML 1.0: 1.1 has other line ends and other characters, so two parsers would read two documents. */
export function checkVersion(version: string | undefined): void {
  if (version !== undefined && version !== '1.0') throw new XmlError('malformed', 'The XML is not XML 1.0.');
}

export function refuse(error: Error): never {
  throw new XmlError('malformed', `The XML is not well-formed: ${error.message}`, { cause: error });
}

export function refuseDoctype(): never {
  throw new XmlError('doctype', 'The XML has a document type declaration.');
}
