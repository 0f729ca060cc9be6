import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalize } from './c14n.ts';
import { compareCodePoints } from './code-points.ts';
import { parseXml } from './parse.ts';
import { splitPrefixList } from './prefix-list.ts';
import { envelopeLike, PREFIXES, serialize } from './testing/arbitrary.ts';
import { libxml2Canonical } from './testing/oracle.ts';
import type { XmlElement } from './tree.ts';
import { elements } from './tree.ts';

function preorder(el: XmlElement): XmlElement[] {
  return [el, ...elements(el).flatMap(preorder)];
}

const parse = (xml: string): XmlElement => parseXml(Buffer.from(xml)).root;

describe('canonicalize', () => {
  it('gives for any element and PrefixList what libxml2 gives', () => {
    const list = fc.subarray([...PREFIXES.filter((prefix) => prefix !== ''), '#default', 'nope', 'xml']);
    fc.assert(
      fc.property(envelopeLike, list, fc.nat(), (model, prefixes, pick) => {
        const xml = serialize(model);
        const all = preorder(parse(xml));
        const at = pick % all.length;
        expect(canonicalize(all[at]!, prefixes)).toBe(libxml2Canonical(xml, `(//*)[${at + 1}]`, prefixes));
      }),
      { numRuns: 1000 },
    );
  });

  it('gives the same again when it reads its own output', () => {
    fc.assert(
      fc.property(envelopeLike, (model) => {
        const once = canonicalize(parse(serialize(model)));
        expect(canonicalize(parse(once))).toBe(once);
      }),
      { numRuns: 200 },
    );
  });

  it('sorts namespaces by code point of the prefix, so that S12 stands before eb', () => {
    const root = parse('<eb:m xmlns:eb="urn:e" xmlns:S12="urn:s" S12:x="1"/>');
    expect(canonicalize(root)).toBe('<eb:m xmlns:S12="urn:s" xmlns:eb="urn:e" S12:x="1"></eb:m>');
  });

  it('sorts prefixes beyond the BMP behind all others', () => {
    const root = parse('<r xmlns:\u{10400}="urn:1" xmlns:\uf900="urn:2" \u{10400}:a="" \uf900:a=""/>');
    expect(canonicalize(root)).toBe('<r xmlns:\uf900="urn:2" xmlns:\u{10400}="urn:1" \u{10400}:a="" \uf900:a=""></r>');
  });

  it('sorts attributes by namespace URI, then local name, those without a namespace first', () => {
    const root = parse('<r xmlns:a="urn:z" xmlns:b="urn:a" a:y="1" b:z="2" b:c="3" q="4" B="5" xml:lang="de"/>');
    expect(canonicalize(root)).toBe(
      '<r xmlns:a="urn:z" xmlns:b="urn:a" B="5" q="4" xml:lang="de" b:c="3" b:z="2" a:y="1"></r>',
    );
  });

  it('undeclares the default namespace only against one that the output has', () => {
    const root = parse('<a xmlns="urn:a"><p:b xmlns:p="urn:p" xmlns=""><c/></p:b></a>');
    const b = elements(root)[0]!;
    expect(canonicalize(b)).toBe('<p:b xmlns:p="urn:p"><c></c></p:b>');
    expect(canonicalize(root)).toBe('<a xmlns="urn:a"><p:b xmlns:p="urn:p"><c xmlns=""></c></p:b></a>');
    expect(canonicalize(root, ['#default'])).toBe('<a xmlns="urn:a"><p:b xmlns="" xmlns:p="urn:p"><c></c></p:b></a>');
  });

  it('brings listed prefixes to the apex from its ancestors, used or not', () => {
    const inner = elements(parse('<a xmlns="urn:d" xmlns:S12="urn:s" xmlns:u="urn:u"><x:b xmlns:x="urn:x"/></a>'))[0]!;
    expect(canonicalize(inner, ['S12'])).toBe('<x:b xmlns:S12="urn:s" xmlns:x="urn:x"></x:b>');
    expect(canonicalize(inner, ['#default', 'u', 'S12', 'unbound'])).toBe(
      '<x:b xmlns="urn:d" xmlns:S12="urn:s" xmlns:u="urn:u" xmlns:x="urn:x"></x:b>',
    );
  });

  it('declares a prefix again in a sibling, and again when its URI changes', () => {
    expect(canonicalize(parse('<a xmlns:p="urn:1"><p:b/><p:b><p:c xmlns:p="urn:2"/><p:d/></p:b></a>'))).toBe(
      '<a><p:b xmlns:p="urn:1"></p:b><p:b xmlns:p="urn:1"><p:c xmlns:p="urn:2"></p:c><p:d></p:d></p:b></a>',
    );
  });

  it('escapes namespace URIs as attribute values', () => {
    expect(canonicalize(parse('<a xmlns="http://x.test/?a=1&amp;b=2"/>'))).toBe(
      '<a xmlns="http://x.test/?a=1&amp;b=2"></a>',
    );
  });

  it('never declares the prefix xml, even when the document does', () => {
    expect(canonicalize(parse('<a xmlns:xml="http://www.w3.org/XML/1998/namespace" xml:lang="de"/>'), ['xml'])).toBe(
      '<a xml:lang="de"></a>',
    );
  });
});

describe('splitPrefixList', () => {
  it('takes any run of XML white space as a separator', () => {
    expect(splitPrefixList(' \tS12\n\n eb\r#default  S12 ')).toEqual(['S12', 'eb', '#default']);
  });

  it('gives an empty list for an absent or blank attribute', () => {
    expect([null, undefined, '', ' \n'].map(splitPrefixList)).toEqual([[], [], [], []]);
  });

  it('does not split at white space that is none in XML', () => {
    expect(splitPrefixList('a\u00a0b')).toEqual(['a\u00a0b']);
  });
});

describe('compareCodePoints', () => {
  it('orders as the UTF-8 octets do', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', 'B', 'é', '\ud7ff', '\ue000', '\uf900', '\uffff', '\u{10000}', '\u{10ffff}'),
    });
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(Math.sign(compareCodePoints(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
      }),
    );
  });
});
