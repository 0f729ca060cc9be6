import { isUtf8 } from 'node:buffer';
import { strictParser } from './strict-parser.ts';
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
  /** Character and entity references in the whole document: each costs as much as twenty characters. */
  readonly maxReferences: number;
  /** Comments and CDATA sections in the whole document. */
  readonly maxSections: number;
  /** Elements in the whole document: each costs as much as a hundred characters. An envelope of 32 parts has about 700. */
  readonly maxElements: number;
}

export const DEFAULT_LIMITS: XmlLimits = {
  maxBytes: 256 * 1024,
  maxDepth: 100,
  maxAttributes: 64,
  maxNamespaces: 2048,
  maxReferences: 4096,
  maxSections: 4096,
  maxElements: 4096,
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
  const all = { ...DEFAULT_LIMITS, ...limits };
  if (bytes.byteLength > all.maxBytes) throw new XmlError('too-large', `The XML is larger than ${all.maxBytes} bytes.`);
  if (!isUtf8(bytes)) throw new XmlError('not-utf8', 'The XML is not valid UTF-8.');
  const characters = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  // Counted ahead, where it costs nothing; one that only looks so, within a comment or a CDATA section, counts as well.
  if (occursMoreThan(all.maxReferences, '&', characters))
    throw new XmlError('too-many-references', `There are more than ${all.maxReferences} references.`);
  if (occursMoreThan(all.maxSections, '<!', characters))
    throw new XmlError('too-many-sections', `There are more than ${all.maxSections} comments and CDATA sections.`);

  const byId = new Map<string, XmlElement>();
  let root: Building | null = null;
  let current: Building | null = null;
  let namespaces = 0;
  let elements = 0;

  const parser = strictParser(
    {
      open(tag, attributes) {
        if (++elements > all.maxElements)
          throw new XmlError('too-many-elements', `There are more than ${all.maxElements} elements.`);
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
        for (const a of attributes) {
          if (a.prefix === 'xmlns' || a.name === 'xmlns') {
            if (++namespaces > all.maxNamespaces)
              throw new XmlError(
                'too-many-namespaces',
                `There are more than ${all.maxNamespaces} namespace declarations.`,
              );
            if (a.local === 'xml') continue; // `xml` is bound everywhere and Canonical XML never writes it
            el.declarations ??= new Map();
            el.declarations.set(a.prefix === '' ? '' : a.local, a.value);
            continue;
          }
          el.attributes.push(a);
          if (!isId(a)) continue;
          if (byId.has(a.value)) throw new XmlError('duplicate-id', 'Two Id attributes have the same value.');
          byId.set(a.value, el);
        }
        if (current === null) root = el;
        else current.children.push(el);
        current = el;
      },
      close() {
        current = current!.parent;
      },
      text(characters) {
        if (current === null || characters === '') return;
        const { children } = current;
        const last = children.length - 1;
        const before = children[last];
        if (typeof before === 'string') children[last] = before + characters;
        else children.push(characters);
      },
      processingInstruction() {
        throw new XmlError('processing-instruction', 'The XML has a processing instruction.');
      },
      declaration(encoding) {
        if (encoding !== undefined && encoding.toLowerCase() !== 'utf-8')
          throw new XmlError('not-utf8', 'The XML declares an encoding other than UTF-8.');
      },
    },
    all,
  );
  parser.write(characters);
  parser.end();
  if (root === null) throw new XmlError('malformed', 'The XML has no root element.');
  return { root, byId };
}

function occursMoreThan(most: number, what: string, characters: string): boolean {
  let count = 0;
  for (let at = characters.indexOf(what); at !== -1; at = characters.indexOf(what, at + what.length)) {
    if (++count > most) return true;
  }
  return false;
}

function isId(a: XmlAttribute): boolean {
  if (a.local.length !== 2) return false;
  if (a.uri === '') return a.local === 'Id' || a.local === 'ID' || a.local === 'id';
  return a.local === 'Id' && a.uri === WSU;
}
