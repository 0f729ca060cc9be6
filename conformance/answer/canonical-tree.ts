import { XMLParser } from 'fast-xml-parser';

/** An element of canonical XML with its names resolved. */
export interface CanonicalElement {
  readonly uri: string;
  readonly local: string;
  /** By `{namespace}local`, or `local` for an attribute without namespace. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly CanonicalElement[];
  /** All text directly in it. */
  readonly text: string;
}

type RawNode = Readonly<Record<string, unknown>>;

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  htmlEntities: true,
});

/**
 * Reads canonical XML, and nothing else: fast-xml-parser knows no namespaces and forgives what is malformed, so its input must
 * come out of a canonicaliser, and prefixes are resolved here.
 */
export function readCanonical(xml: string): CanonicalElement {
  const roots = (parser.parse(xml) as RawNode[]).filter((node) => nameOf(node) !== '#text');
  if (roots.length !== 1 || roots[0] === undefined) throw new Error('canonical XML has one root element');
  return convert(roots[0], new Map());
}

function convert(node: RawNode, outer: ReadonlyMap<string, string>): CanonicalElement {
  const raw = (node[':@'] ?? {}) as Readonly<Record<string, string>>;
  const scope = new Map(outer);
  for (const [name, value] of Object.entries(raw)) {
    if (name === 'xmlns') scope.set('', value);
    else if (name.startsWith('xmlns:')) scope.set(name.slice(6), value);
  }
  const attributes: Record<string, string> = {};
  for (const [name, value] of Object.entries(raw)) {
    if (name === 'xmlns' || name.startsWith('xmlns:')) continue;
    const colon = name.indexOf(':');
    attributes[colon < 0 ? name : `{${scope.get(name.slice(0, colon)) ?? ''}}${name.slice(colon + 1)}`] = value;
  }
  const name = nameOf(node);
  const colon = name.indexOf(':');
  const content = (node[name] as RawNode[] | undefined) ?? [];
  return {
    uri: scope.get(colon < 0 ? '' : name.slice(0, colon)) ?? '',
    local: name.slice(colon + 1),
    attributes,
    children: content.filter((child) => nameOf(child) !== '#text').map((child) => convert(child, scope)),
    text: content.map((child) => (nameOf(child) === '#text' ? String(child['#text']) : '')).join(''),
  };
}

function nameOf(node: RawNode): string {
  return Object.keys(node).find((key) => key !== ':@') ?? '#text';
}

export function childrenNamed(element: CanonicalElement, uri: string, local: string): CanonicalElement[] {
  return element.children.filter((child) => child.uri === uri && child.local === local);
}

/** The first child of that name, or null. */
export function childNamed(element: CanonicalElement, uri: string, local: string): CanonicalElement | null {
  return childrenNamed(element, uri, local)[0] ?? null;
}
