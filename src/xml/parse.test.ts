import { describe, expect, it } from 'vitest';
import { parseXml, XmlError, type XmlLimits } from './parse.ts';
import { libxml2Accepts } from './testing/oracle.ts';
import { attribute, child, childrenNamed, elements, namespaceOf, text, type XmlElement } from './tree.ts';

const WSU = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd';

const parse = (xml: string): XmlElement => parseXml(Buffer.from(xml)).root;

function refusal(xml: string | Uint8Array, limits?: Partial<XmlLimits>): string {
  try {
    parseXml(Buffer.from(xml as Uint8Array), limits);
  } catch (error) {
    if (error instanceof XmlError) return error.code;
    throw error;
  }
  return 'accepted';
}

describe('parseXml refuses as malformed, as libxml2 does,', () => {
  it.each([
    ['nothing', ''],
    ['white space alone', ' \n'],
    ['plain text', 'hello'],
    ['an unclosed root', '<a>'],
    ['an unclosed child', '<a><b></a>'],
    ['crossed tags', '<a><b></a></b>'],
    ['a close tag of other case', '<a></A>'],
    ['a close tag with an attribute', '<a></a x="1">'],
    ['a close tag too many', '<a/></a>'],
    ['an empty close tag', '<a></>'],
    ['two roots', '<a/><b/>'],
    ['text before the root', 'x<a/>'],
    ['text behind the root', '<a/>x'],
    ['CDATA behind the root', '<a/><![CDATA[x]]>'],
    ['a character reference behind the root', '<a/>&#32;'],
    ['a truncated tag', '<a b="1"'],
    ['a truncated comment behind the root', '<a/><!-- c'],
    ['a lone < in text', '<a>1 < 2</a>'],
    ['a lone & in text', '<a>b & c</a>'],
    ['a lone & in a value', '<a b="c & d"/>'],
    ['< in a value', '<a b="<"/>'],
    [']]> in text', '<a>]]></a>'],
    ['an entity that XML does not define', '<a>&nbsp;</a>'],
    ['an entity without a semicolon', '<a>&amp</a>'],
    ['two attributes of one name', '<a b="1" b="2"/>'],
    ['two attributes of one expanded name', '<a xmlns:p="urn:x" xmlns:q="urn:x" p:b="1" q:b="2"/>'],
    ['one prefix declared twice', '<a xmlns:p="urn:x" xmlns:p="urn:y"/>'],
    ['an attribute without a value', '<a b/>'],
    ['an attribute without quotes', '<a b=1/>'],
    ['attributes that touch', '<a b="1"c="2"/>'],
    ['a name that begins with a digit', '<1a/>'],
    ['a name that begins with a hyphen', '<-a/>'],
    ['white space before a name', '< a/>'],
    ['a control character in text', '<a>\u0001</a>'],
    ['a NUL', '<a>\u0000</a>'],
    ['U+FFFE', '<a>\ufffe</a>'],
    ['a reference to NUL', '<a>&#0;</a>'],
    ['a reference to a control character', '<a>&#x1;</a>'],
    ['a reference to a surrogate', '<a>&#xD800;</a>'],
    ['a reference beyond Unicode', '<a>&#x110000;</a>'],
    ['an empty reference', '<a>&#x;</a>'],
    ['a reference with a capital X', '<a>&#X41;</a>'],
    ['two hyphens in a comment', '<a><!-- b -- c --></a>'],
    ['a comment that ends in three hyphens', '<a><!-- b ---></a>'],
    ['CDATA in lower case', '<a><![cdata[x]]></a>'],
    ['an unclosed CDATA', '<a><![CDATA[x]]</a>'],
    ['an unbound element prefix', '<p:a/>'],
    ['an unbound attribute prefix', '<a p:b="1"/>'],
    ['a prefix used beside its scope', '<a><b xmlns:p="urn:x"/><p:c/></a>'],
    ['a prefix undeclared', '<a xmlns:p=""/>'],
    ['the prefix xml bound to another URI', '<a xmlns:xml="urn:x"/>'],
    ['another prefix bound to the URI of xml', '<a xmlns:p="http://www.w3.org/XML/1998/namespace"/>'],
    ['the URI of xml as default namespace', '<a xmlns="http://www.w3.org/XML/1998/namespace"/>'],
    ['the prefix xmlns bound', '<a xmlns:xmlns="http://www.w3.org/2000/xmlns/"/>'],
    ['a prefix bound to the URI of xmlns', '<a xmlns:p="http://www.w3.org/2000/xmlns/"/>'],
    ['two colons in a name', '<a xmlns:p="urn:x"><p:b:c/></a>'],
    ['a name that begins with a colon', '<:a/>'],
    ['a local name that begins with a digit', '<p:1a xmlns:p="urn:x"/>'],
    ['a prefix that begins with a digit', '<a xmlns:1p="urn:x"/>'],
    ['an XML declaration behind a space', ' <?xml version="1.0"?><a/>'],
    ['an XML declaration behind a comment', '<!--c--><?xml version="1.0"?><a/>'],
    ['an XML declaration in the root', '<a><?xml version="1.0"?></a>'],
    ['an XML declaration without a version', '<?xml encoding="UTF-8"?><a/>'],
    ['an XML declaration in another order', '<?xml encoding="UTF-8" version="1.0"?><a/>'],
    ['standalone with another value', '<?xml version="1.0" standalone="maybe"?><a/>'],
    ['an empty encoding', '<?xml version="1.0" encoding=""?><a/>'],
    ['two BOMs', '\ufeff\ufeff<a/>'],
  ])('%s', (_what, xml) => {
    expect(refusal(xml)).toBe('malformed');
    expect(libxml2Accepts(Buffer.from(xml))).toBe(false);
  });
});

describe('parseXml refuses what two readers could take for two documents:', () => {
  it('any DOCTYPE', () => {
    expect(refusal('<!DOCTYPE a><a/>')).toBe('doctype');
    expect(refusal('<?xml version="1.0"?>\n<!DOCTYPE a [<!ENTITY b "c"><!ATTLIST a id ID #IMPLIED>]><a>&b;</a>')).toBe(
      'doctype',
    );
    expect(refusal('<!DOCTYPE a SYSTEM "http://x.test/a.dtd"><a/>')).toBe('doctype');
  });

  it('a processing instruction before, in or behind the root', () => {
    for (const xml of ['<?p?><a/>', '<a><?p x?></a>', '<a/><?p?>']) expect(refusal(xml)).toBe('processing-instruction');
  });

  it('white space in a namespace URI, which parsers trim or do not', () => {
    for (const uri of [' urn:x', 'urn:x\n', 'urn: x', 'urn:x&#9;', ' ']) {
      expect(refusal(`<a xmlns:p="${uri}"/>`)).toBe('malformed');
      if (uri !== ' ') expect(refusal(`<a xmlns="${uri}"/>`)).toBe('malformed');
    }
  });

  it('XML 1.1', () => {
    expect(refusal('<?xml version="1.1"?><a/>')).toBe('malformed');
  });

  it('octets that are not UTF-8: overlong, surrogate, cut off, beyond Unicode', () => {
    for (const octets of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xc3], [0xf4, 0x90, 0x80, 0x80]])
      expect(refusal(Buffer.from([0x3c, 0x61, 0x3e, ...octets, 0x3c, 0x2f, 0x61, 0x3e]))).toBe('not-utf8');
    expect(refusal(Buffer.from('\ufeff<a/>', 'utf16le'))).toBe('not-utf8');
  });

  it('a declared encoding other than UTF-8', () => {
    for (const encoding of ['ISO-8859-1', 'UTF-16', 'US-ASCII', 'UTF-7'])
      expect(refusal(`<?xml version="1.0" encoding="${encoding}"?><a/>`)).toBe('not-utf8');
  });

  it('two Ids of one value, however they are spelt and wherever they are', () => {
    expect(refusal('<a Id="x"><b Id="x"/></a>')).toBe('duplicate-id');
    expect(refusal('<a><b id="x"/><c><d ID="x"/></c></a>')).toBe('duplicate-id');
    expect(refusal(`<a xmlns:w="${WSU}" w:Id="1"><b Id="1"/></a>`)).toBe('duplicate-id');
    expect(refusal('<a Id="x" ID="x"/>')).toBe('duplicate-id');
    expect(refusal('<a Id="x"><b Id="&#120;"/></a>')).toBe('duplicate-id');
  });
});

describe('an XmlError', () => {
  it('stays short, however long the names are that it quotes', () => {
    const xml = `<a xmlns:p="urn:p"><${'n'.repeat(50_000)}:b/></a>`;
    expect(() => parse(xml)).toThrow(/^The XML is not well-formed: .{1,120}$/);
  });
});

describe('parseXml keeps to its limits:', () => {
  it('octets', () => {
    expect(refusal('<a>äö</a>', { maxBytes: 11 })).toBe('accepted');
    expect(refusal('<a>äö</a>', { maxBytes: 10 })).toBe('too-large');
    expect(refusal(`<a>${'x'.repeat(256 * 1024 - 7)}</a>`)).toBe('accepted');
    expect(refusal(`<a>${'x'.repeat(256 * 1024 - 6)}</a>`)).toBe('too-large');
  });

  it('depth, of which siblings use none', () => {
    const nested = (n: number): string => '<a>'.repeat(n) + '</a>'.repeat(n);
    expect(refusal(nested(100))).toBe('accepted');
    expect(refusal(nested(101))).toBe('too-deep');
    expect(refusal(`<r>${nested(99).repeat(3)}</r>`)).toBe('accepted');
    expect(refusal(`${'<a>'.repeat(99)}<b/><b/>${'</a>'.repeat(99)}`)).toBe('accepted');
    expect(refusal(`${'<a>'.repeat(100)}<b/>${'</a>'.repeat(100)}`)).toBe('too-deep');
  });

  it('attributes of one element, declarations counted, not of all elements', () => {
    expect(refusal('<a b="" xmlns:c="urn:c"/>', { maxAttributes: 2 })).toBe('accepted');
    expect(refusal('<a b="" xmlns:c="urn:c" d=""/>', { maxAttributes: 2 })).toBe('too-many-attributes');
    expect(refusal('<a b="" c=""><a b="" c=""/><a b="" c=""/></a>', { maxAttributes: 2 })).toBe('accepted');
  });

  it('namespace declarations of the document', () => {
    expect(refusal('<a xmlns="urn:a"><b xmlns=""/><b xmlns:p="urn:p"/></a>', { maxNamespaces: 3 })).toBe('accepted');
    expect(refusal('<a xmlns="urn:a"><b xmlns=""/><b xmlns:p="urn:p"/></a>', { maxNamespaces: 2 })).toBe(
      'too-many-namespaces',
    );
  });

  it('references of the document, wherever they stand', () => {
    expect(refusal('<a b="&lt;">&#65;<![CDATA[&]]></a>', { maxReferences: 3 })).toBe('accepted');
    expect(refusal('<a b="&lt;">&#65;<![CDATA[&]]></a>', { maxReferences: 2 })).toBe('too-many-references');
    expect(refusal(`<a>${'&#xD;'.repeat(4096)}</a>`)).toBe('accepted');
    expect(refusal(`<a>${'&#xD;'.repeat(4097)}</a>`)).toBe('too-many-references');
  });

  it('comments and CDATA sections of the document', () => {
    expect(refusal('<a><!-- --><![CDATA[x]]></a>', { maxSections: 2 })).toBe('accepted');
    expect(refusal('<a><!-- --><![CDATA[x]]></a>', { maxSections: 1 })).toBe('too-many-sections');
    expect(refusal(`<a>${'<![CDATA[x]]>'.repeat(4097)}</a>`)).toBe('too-many-sections');
  });

  it('elements of the document', () => {
    expect(refusal('<a><b/><b><c/></b></a>', { maxElements: 4 })).toBe('accepted');
    expect(refusal('<a><b/><b><c/></b></a>', { maxElements: 3 })).toBe('too-many-elements');
    expect(refusal(`<a>${'<b/>'.repeat(4095)}</a>`)).toBe('accepted');
    expect(refusal(`<a>${'<b/>'.repeat(4096)}</a>`)).toBe('too-many-elements');
  });
});

describe('parseXml takes', () => {
  it.each([
    ['a BOM', '\ufeff<a/>'],
    ['an XML declaration', '<?xml version="1.0"?><a/>'],
    [
      'a BOM and a declaration of UTF-8 in any case',
      "\ufeff<?xml version='1.0' encoding=\"utf-8\" standalone='no' ?>\r\n<a/>",
    ],
    ['comments and white space around the root', '<!--c-->\n<a/>\n<!--d-->\n'],
    ['white space in tags', '<a\n b = "1"\t></a\n>'],
  ])('%s', (_what, xml) => {
    expect(parse(xml).name).toBe('a');
  });

  it('names, prefixes and attributes of objects for what they are', () => {
    const root = parse(
      '<a xmlns:__proto__="urn:p" __proto__="1" constructor="2"><__proto__:toString __proto__:x="3"/></a>',
    );
    expect(attribute(root, '__proto__')).toBe('1');
    expect(attribute(root, 'constructor')).toBe('2');
    expect(attribute(root, 'toString')).toBeUndefined();
    const inner = child(root, 'urn:p', 'toString')!;
    expect(attribute(inner, 'x', 'urn:p')).toBe('3');
    expect(namespaceOf(inner, '__proto__')).toBe('urn:p');
    expect(namespaceOf(inner, 'toString')).toBeUndefined();
  });
});

describe('the tree', () => {
  it('resolves prefixes, the default namespace for elements only, and xml', () => {
    const root = parse('<a xmlns="urn:d" xmlns:p="urn:p" b="1" p:c="2" xml:lang="de"><p:e xmlns=""><f/></p:e></a>');
    expect([root.uri, root.prefix, root.local]).toEqual(['urn:d', '', 'a']);
    expect(root.attributes.map((a) => [a.name, a.prefix, a.local, a.uri, a.value])).toEqual([
      ['b', '', 'b', '', '1'],
      ['p:c', 'p', 'c', 'urn:p', '2'],
      ['xml:lang', 'xml', 'lang', 'http://www.w3.org/XML/1998/namespace', 'de'],
    ]);
    expect([...root.declarations!]).toEqual([
      ['', 'urn:d'],
      ['p', 'urn:p'],
    ]);
    const e = elements(root)[0]!;
    expect([e.uri, elements(e)[0]!.uri]).toEqual(['urn:p', '']);
    expect(elements(e)[0]!.declarations).toBeNull();
    expect([namespaceOf(e, 'p'), namespaceOf(e, ''), namespaceOf(root, ''), namespaceOf(e, 'q')]).toEqual([
      'urn:p',
      undefined,
      'urn:d',
      undefined,
    ]);
    expect([namespaceOf(e, 'xml'), e.parent, root.parent]).toEqual([
      'http://www.w3.org/XML/1998/namespace',
      root,
      null,
    ]);
  });

  it('merges text across comments, CDATA and references, with line ends as one line feed', () => {
    const root = parse('<a>x<!-- no -->y<![CDATA[<z>&amp;]]>&lt;\r\n\r&#13;&#x1F600;</a>');
    expect(root.children).toEqual(['xy<z>&amp;<\n\n\r😀']);
    expect(text(root)).toBe('xy<z>&amp;<\n\n\r😀');
  });

  it('normalises white space in attribute values but keeps references to it', () => {
    expect(attribute(parse('<a b=" x\r\ny\tz\n&#13;&#10;&#9; "/>'), 'b')).toBe(' x y z \r\n\t ');
  });

  it('gives no text for mixed content, and empty text for none', () => {
    expect([parse('<a>x<b/></a>'), parse('<a><b/></a>'), parse('<a/>'), parse('<a><!--c--></a>')].map(text)).toEqual([
      null,
      null,
      '',
      '',
    ]);
  });

  it('finds children by namespace and local name, never by prefix', () => {
    const root = parse('<a xmlns:p="urn:1" xmlns:q="urn:1" xmlns:r="urn:2"><p:b i="1"/><r:b i="2"/><q:b i="3"/>t</a>');
    expect(childrenNamed(root, 'urn:1', 'b').map((b) => attribute(b, 'i'))).toEqual(['1', '3']);
    expect(attribute(child(root, 'urn:2', 'b')!, 'i')).toBe('2');
    expect(child(root, '', 'b')).toBeNull();
    expect(elements(root)).toHaveLength(3);
  });

  it('indexes Id, ID, id and wsu:Id, and nothing else', () => {
    const { byId, root } = parseXml(
      Buffer.from(
        `<a xmlns:w="${WSU}" xmlns:o="urn:o" Id="1"><b ID="2"/><c id="3"/><d w:Id="4d"/><e o:Id="5" w:ID="6" iD="7" xml:id="8"/></a>`,
      ),
    );
    expect([...byId].map(([id, el]) => id + el.name)).toEqual(['1a', '2b', '3c', '4dd']);
    expect(byId.get('1')).toBe(root);
  });
});
