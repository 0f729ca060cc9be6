/** One attribute; namespace declarations are not among them (see {@link XmlElement.declarations}). */
export interface XmlAttribute {
  /** As written, with prefix. */
  readonly name: string;
  /** '' when there is none: such an attribute is in no namespace, whatever the default namespace is. */
  readonly prefix: string;
  readonly local: string;
  /** '' for no namespace. */
  readonly uri: string;
  readonly value: string;
}

/** Comments never reach the tree, and text that touches (across comments, CDATA, references) is one string. */
export type XmlNode = XmlElement | string;

/** An element of the one tree that is verified and read. Read-only: what was verified stays what is read. */
export interface XmlElement {
  readonly name: string;
  readonly prefix: string;
  readonly local: string;
  readonly uri: string;
  readonly attributes: readonly XmlAttribute[];
  /** Prefix ('' is the default namespace) to URI ('' undeclares the default), of this element alone; null when it declares none. */
  readonly declarations: ReadonlyMap<string, string> | null;
  readonly children: readonly XmlNode[];
  readonly parent: XmlElement | null;
}

export const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace';

export function is(el: XmlElement, uri: string, local: string): boolean {
  return el.local === local && el.uri === uri;
}

/** The child elements, in document order. */
export function elements(el: XmlElement): XmlElement[] {
  const found: XmlElement[] = [];
  for (const node of el.children) if (typeof node !== 'string') found.push(node);
  return found;
}

export function childrenNamed(el: XmlElement, uri: string, local: string): XmlElement[] {
  const found: XmlElement[] = [];
  for (const node of el.children) if (typeof node !== 'string' && is(node, uri, local)) found.push(node);
  return found;
}

/** The first child of that name, or null. Where more than one would be wrong, count with {@link childrenNamed}. */
export function child(el: XmlElement, uri: string, local: string): XmlElement | null {
  for (const node of el.children) if (typeof node !== 'string' && is(node, uri, local)) return node;
  return null;
}

/** Value of an attribute; without `uri` the one in no namespace. */
export function attribute(el: XmlElement, local: string, uri = ''): string | undefined {
  for (const a of el.attributes) if (a.local === local && a.uri === uri) return a.value;
  return undefined;
}

/** The whole text, '' when empty; null when there is any child element, so that mixed content is never read as a value. */
export function text(el: XmlElement): string | null {
  const first = el.children[0];
  if (first === undefined) return '';
  return typeof first === 'string' && el.children.length === 1 ? first : null;
}

/**
 * The URI that a prefix ('' is the default namespace) has at this element.
 * @returns undefined when the prefix is not bound, or the default namespace is absent or undeclared
 */
export function namespaceOf(el: XmlElement, prefix: string): string | undefined {
  if (prefix === 'xml') return XML_NAMESPACE;
  for (let at: XmlElement | null = el; at !== null; at = at.parent) {
    const uri = at.declarations?.get(prefix);
    if (uri !== undefined) return uri === '' ? undefined : uri;
  }
  return undefined;
}
