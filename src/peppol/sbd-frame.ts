import { escapeAttribute } from '../xml/escape.ts';
import { parseXml } from '../xml/parse.ts';
import { attribute, is, type XmlElement } from '../xml/tree.ts';
import { XmlError } from '../xml/xml-error.ts';
import type { SbdDocument } from './sbd.ts';
import { sbdFault } from './sbd-fault.ts';
import { SBDH } from './sbdh.ts';

/** Namespace of TextContent and BinaryContent, for what is not XML. */
export const WRAPPER = 'http://peppol.eu/xsd/ticc/envelope/1.0';
const WRAPPER_KINDS: ReadonlyMap<string, 'text' | 'binary'> = new Map([
  ['TextContent', 'text'],
  ['BinaryContent', 'binary'],
]);

/** A document of which only the start tag has been read. */
export type UnreadDocument = Omit<SbdDocument, 'sha256' | 'bytes'>;

/** What the start tag of the second child says. @throws {As4Error} EBMS:0004 for a nested envelope and an unusable wrapper */
export function describeDocument(element: XmlElement, root: XmlElement): UnreadDocument {
  if (element.uri === SBDH) throw sbdFault('there is an envelope inside the envelope', 'sbd-nested');
  const declarations = new Map<string, string>();
  for (const [prefix, uri] of root.declarations ?? []) {
    if (uri !== '' && element.declarations?.has(prefix) !== true) declarations.set(prefix, uri);
  }
  const names = { namespace: element.uri, localName: element.local, declarations };
  if (element.uri !== WRAPPER) return { kind: 'xml', ...names, mimeType: null, encoding: null };
  const kind = WRAPPER_KINDS.get(element.local);
  if (kind === undefined) throw sbdFault('the Peppol wrapper is neither TextContent nor BinaryContent', 'sbd-wrapper');
  const mimeType = attribute(element, 'mimeType');
  if (mimeType === undefined || mimeType.trim() === '') {
    throw sbdFault(`${element.local} has no @mimeType`, 'sbd-wrapper');
  }
  return { kind, ...names, mimeType, encoding: attribute(element, 'encoding') ?? null };
}

/** Strict parse of what stands around the document. @throws {As4Error} EBMS:0004 */
export function parseFrame(text: string): XmlElement {
  try {
    return parseXml(Buffer.from(text)).root;
  } catch (error) {
    if (!(error instanceof XmlError)) throw error;
    throw error.code === 'malformed' ? malformed(error) : sbdFault(error.message, 'sbd-malformed', error);
  }
}

export function checkRoot(root: XmlElement): void {
  if (!is(root, SBDH, 'StandardBusinessDocument')) {
    throw sbdFault('its root element is not a StandardBusinessDocument', 'sbd-missing');
  }
}

export function malformed(cause?: unknown): ReturnType<typeof sbdFault> {
  return sbdFault('it is not well-formed XML', 'sbd-malformed', cause);
}

/** Between the children of the SBD there may be white space only. */
export function refuseText(root: XmlElement): void {
  if (root.children.some((node) => typeof node === 'string' && /[^ \t\r\n]/.test(node))) {
    throw sbdFault('there is text between its elements', 'sbd-malformed');
  }
}

/** The name in a start tag, as written. */
export function tagName(tag: string): string {
  return /^<([^\s/>]*)/.exec(tag)?.[1] ?? '';
}

/** The document's start tag with the namespaces that it inherits from the SBD declared on it. */
export function standaloneTag(tag: Buffer, element: XmlElement, declarations: ReadonlyMap<string, string>): Buffer {
  let inherited = '';
  for (const [prefix, uri] of declarations)
    inherited += ` xmlns${prefix === '' ? '' : ':'}${prefix}="${escapeAttribute(uri)}"`;
  const afterName = 1 + Buffer.byteLength(element.name);
  return Buffer.concat([tag.subarray(0, afterName), Buffer.from(inherited), tag.subarray(afterName)]);
}
