import fc from 'fast-check';

/** What is drawn; {@link serialize} makes a namespace-well-formed document of any of it. */
export interface ElementModel {
  readonly prefix: string;
  readonly local: string;
  readonly declarations: readonly (readonly [prefix: string, uri: string])[];
  readonly attributes: readonly (readonly [prefix: string, local: string, pieces: readonly string[]])[];
  readonly children: readonly (ElementModel | string)[];
}

export const PREFIXES = ['', 'S12', 'eb', 'env', 'a', 'ns2', 'Z', 'ä', '\u{10400}', '\uf900'];
const LOCALS = ['x', 'y', 'Z', 'Id-1', 'é', '\u{10400}', '\uf900'];
// No `&`: libxml2 leaves it unescaped in xmlns values, which is not even XML.
const URIS = ['urn:a', 'urn:b', 'urn:A', 'http://x.test/?a=1;b=2#c', 'urn:b:c'];
const TEXT = [
  't',
  ' ',
  '\n',
  '\r\n',
  '\r',
  '\t',
  '&#xD;',
  '&#13;&#10;',
  '&#9;',
  '&amp;',
  '&lt;',
  '&gt;',
  '>',
  '"',
  "'",
  '&quot;',
  ']]&gt;',
];
const MARKUP = [
  '<!---->',
  '<!-- <a> & -->',
  '<![CDATA[<b/>&amp;\r\n]]]]>',
  '<![CDATA[]]>',
  '💩',
  '&#x1F4A9;',
  'ä',
  '\uf900',
];
const VALUE = [
  'v',
  ' ',
  '\n',
  '\r\n',
  '\t',
  '&#xD;',
  '&#xA;',
  '&#x9;',
  '&#32;',
  '&quot;',
  "'",
  '&apos;',
  '&lt;',
  '>',
  '&gt;',
  '&amp;',
  '💩',
  'ä',
];
const PIS = ['<?p?>', '<?p  body ?>', '<?xml-stylesheet href="a&b"?>', '<?p a?b??>', '<?q two\r\nlines?>'];

function element(leaves: readonly string[]): fc.Arbitrary<ElementModel> {
  return fc.letrec<{ element: ElementModel }>((tie) => ({
    element: fc.record({
      prefix: fc.constantFrom(...PREFIXES),
      local: fc.constantFrom(...LOCALS),
      declarations: fc.uniqueArray(fc.tuple(fc.constantFrom(...PREFIXES), fc.constantFrom('', ...URIS)), {
        selector: ([prefix]) => prefix,
        maxLength: 4,
      }),
      attributes: fc.array(
        fc.tuple(
          fc.constantFrom('xml', ...PREFIXES),
          fc.constantFrom('lang', ...LOCALS),
          fc.array(fc.constantFrom(...VALUE), { maxLength: 4 }),
        ),
        { maxLength: 4 },
      ),
      children: fc.array(fc.oneof({ maxDepth: 5 }, fc.constantFrom(...leaves), tie('element')), { maxLength: 5 }),
    }),
  })).element;
}

/** A tree without processing instructions, as an envelope is. */
export const envelopeLike: fc.Arbitrary<ElementModel> = element([...TEXT, ...MARKUP]);

/** A whole document: what stands before the root, the root, what stands behind it. */
export const documentLike: fc.Arbitrary<{ before: readonly string[]; root: ElementModel; after: readonly string[] }> =
  fc.record({
    before: fc.array(fc.constantFrom('\n', ' ', '<!--c-->', ...PIS), { maxLength: 4 }),
    root: element([...TEXT, ...MARKUP, ...PIS]),
    after: fc.array(fc.constantFrom('\r\n', '\t', '<!--c-->', ...PIS), { maxLength: 4 }),
  });

/** Prefixes that are not bound where they are used fall away, so that every drawing is a document. */
export function serialize(model: ElementModel, scope: ReadonlyMap<string, string> = new Map()): string {
  const inner = new Map(scope);
  let out = '';
  for (const [prefix, uri] of model.declarations) {
    if (prefix !== '' && uri === '') continue;
    inner.set(prefix, uri);
    out += prefix === '' ? ` xmlns="${uri}"` : ` xmlns:${prefix}="${uri}"`;
  }
  const seen = new Set<string>();
  for (const [prefix, local, pieces] of model.attributes) {
    const bound = prefix === 'xml' ? 'xml' : inner.get(prefix);
    const uri = prefix === '' || bound === undefined ? '' : bound;
    if (seen.has(`${uri} ${local}`)) continue;
    seen.add(`${uri} ${local}`);
    out += ` ${uri === '' ? local : `${prefix}:${local}`}="${pieces.join('')}"`;
  }
  const name = model.prefix !== '' && inner.has(model.prefix) ? `${model.prefix}:${model.local}` : model.local;
  let content = '';
  for (const child of model.children) content += typeof child === 'string' ? child : serialize(child, inner);
  return content === '' ? `<${name}${out}/>` : `<${name}${out}>${content}</${name}>`;
}
