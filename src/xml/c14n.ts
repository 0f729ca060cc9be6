import { compareCodePoints } from './code-points.ts';
import { escapeAttribute, escapeText } from './escape.ts';
import type { XmlAttribute, XmlElement } from './tree.ts';
import { namespaceOf } from './tree.ts';

/** A namespace declaration to write; '' is the default namespace. */
type Declaration = readonly [prefix: string, uri: string];

/**
 * Exclusive XML Canonicalization 1.0 without comments of the document subset that is this element with all it holds.
 * The tree has neither comments nor processing instructions, so every node in it is written.
 * @param inclusivePrefixes InclusiveNamespaces/@PrefixList, split; `#default` (or '') is the default namespace
 */
export function canonicalize(el: XmlElement, inclusivePrefixes: readonly string[] = []): string {
  const writer = new ExclusiveWriter(inclusivePrefixes);
  let out = '';
  const write = (node: XmlElement, apex: boolean): void => {
    const before = writer.mark();
    out += writer.startTag(node, apex ? (prefix) => namespaceOf(node, prefix) : null);
    for (const child of node.children) {
      if (typeof child === 'string') out += escapeText(child);
      else write(child, false);
    }
    out += `</${node.name}>`;
    writer.reset(before);
  };
  write(el, true);
  return out;
}

/** What start tags look like in exclusive C14N; keeps which declarations the output has in force. */
export class ExclusiveWriter {
  /** Prefix to URI as the nearest output ancestor has it; absent: never written. */
  readonly #rendered = new Map<string, string>();
  /** What `#rendered` held before, newest last, so that leaving an element costs what entering it cost. */
  readonly #undo: (readonly [prefix: string, uri: string | undefined])[] = [];
  readonly #inclusive: ReadonlySet<string>;

  constructor(inclusivePrefixes: readonly string[]) {
    const prefixes = inclusivePrefixes.map((prefix) => (prefix === '#default' ? '' : prefix));
    this.#inclusive = new Set(prefixes.filter((prefix) => prefix !== 'xml'));
  }

  mark(): number {
    return this.#undo.length;
  }

  reset(mark: number): void {
    while (this.#undo.length > mark) {
      const [prefix, uri] = this.#undo.pop()!;
      if (uri === undefined) this.#rendered.delete(prefix);
      else this.#rendered.set(prefix, uri);
    }
  }

  /**
   * @param el name, attributes and declarations of the element
   * @param inScope for the apex alone: what a prefix is bound to there, by itself or an ancestor; null below it
   */
  startTag(
    el: Pick<XmlElement, 'name' | 'prefix' | 'uri' | 'attributes' | 'declarations'>,
    inScope: ((prefix: string) => string | undefined) | null,
  ): string {
    const fresh: Declaration[] = [];
    // Visibly utilised (exc-c14n §1.1): the URIs were resolved by the parser, so no scope is searched here.
    this.#need(el.prefix, el.uri, fresh);
    const { attributes } = el;
    for (const a of attributes) if (a.prefix !== '') this.#need(a.prefix, a.uri, fresh);
    // Listed prefixes are treated as in inclusive C14N: the apex brings what is in scope, below it only new declarations matter.
    if (inScope !== null) {
      for (const prefix of this.#inclusive) {
        const uri = inScope(prefix);
        if (uri !== undefined) this.#need(prefix, uri, fresh);
      }
    } else if (el.declarations !== null && this.#inclusive.size > 0) {
      // Never the list for each element: both are the sender's to make long, and this runs before anybody is authenticated.
      for (const [prefix, uri] of el.declarations) if (this.#inclusive.has(prefix)) this.#need(prefix, uri, fresh);
    }
    if (fresh.length > 1) fresh.sort((a, b) => compareCodePoints(a[0], b[0]));
    let out = `<${el.name}`;
    for (const [prefix, uri] of fresh)
      out += `${prefix === '' ? ' xmlns' : ` xmlns:${prefix}`}="${escapeAttribute(uri)}"`;
    for (const a of attributes.length > 1 ? sorted(attributes) : attributes)
      out += ` ${a.name}="${escapeAttribute(a.value)}"`;
    return `${out}>`;
  }

  #need(prefix: string, uri: string, fresh: Declaration[]): void {
    const before = this.#rendered.get(prefix);
    // An absent default namespace equals one that was undeclared: xmlns="" is written only against a non-empty one.
    if (before === uri || (before === undefined && uri === '') || prefix === 'xml') return;
    this.#undo.push([prefix, before]);
    this.#rendered.set(prefix, uri);
    fresh.push([prefix, uri]);
  }
}

function sorted(attributes: readonly XmlAttribute[]): readonly XmlAttribute[] {
  for (let i = 1; i < attributes.length; i++)
    if (compareAttributes(attributes[i - 1]!, attributes[i]!) > 0) return [...attributes].sort(compareAttributes);
  return attributes;
}

/** Canonical XML 1.0 §2.3: by namespace URI, those without first, then by local name. */
function compareAttributes(a: XmlAttribute, b: XmlAttribute): number {
  return a.uri === b.uri ? compareCodePoints(a.local, b.local) : compareCodePoints(a.uri, b.uri);
}
