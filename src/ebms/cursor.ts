import { As4Error } from '../as4-error.ts';
import { elements, text, type XmlElement } from '../xml/tree.ts';
import { EB } from './namespaces.ts';

const XSI = 'http://www.w3.org/2001/XMLSchema-instance';

/** A header that breaks the schema of facts §1.1. */
export function invalidHeader(what: string, reason = 'invalid-header'): As4Error {
  return new As4Error('EBMS:0009', what, { reason });
}

/** Reads the children of an element-only type strictly in the order of its xsd:sequence; anything else is EBMS:0009. */
export class Cursor {
  readonly #element: XmlElement;
  readonly #children: readonly XmlElement[];
  #at = 0;

  constructor(element: XmlElement) {
    this.#element = element;
    this.#children = elements(element);
    for (const node of element.children) {
      if (typeof node === 'string' && /[^ \t\r\n]/.test(node)) {
        throw invalidHeader(`eb:${element.local} must contain elements only, there is text between them`);
      }
    }
  }

  /** The next child when it is the named ebMS element. */
  optional(local: string): XmlElement | undefined {
    const next = this.#children[this.#at];
    if (next === undefined || next.uri !== EB || next.local !== local) return undefined;
    this.#at += 1;
    return next;
  }

  one(local: string): XmlElement {
    const found = this.optional(local);
    if (found === undefined) throw this.#unexpected(`eb:${local}`);
    return found;
  }

  many(local: string, atLeast: 0 | 1): XmlElement[] {
    const found: XmlElement[] = [];
    for (let next = this.optional(local); next !== undefined; next = this.optional(local)) found.push(next);
    if (found.length < atLeast) throw this.#unexpected(`eb:${local}`);
    return found;
  }

  /** `xsd:any namespace="##other"`: whatever the ebMS namespace does not own. */
  foreign(): XmlElement[] {
    const found: XmlElement[] = [];
    for (let next = this.#children[this.#at]; next !== undefined && next.uri !== EB && next.uri !== ''; ) {
      found.push(next);
      this.#at += 1;
      next = this.#children[this.#at];
    }
    return found;
  }

  end(): void {
    if (this.#at < this.#children.length) throw this.#unexpected(`the end of eb:${this.#element.local}`);
  }

  #unexpected(wanted: string): As4Error {
    const next = this.#children[this.#at];
    const found = next === undefined ? 'nothing more' : next.uri === EB ? `eb:${next.local}` : 'a foreign element';
    return invalidHeader(`eb:${this.#element.local}: expected ${wanted}, found ${found}`);
  }
}

/** Text of a simple-content element, white space as it is (xsd:string). */
export function stringOf(element: XmlElement): string {
  const value = text(element);
  if (value === null) throw invalidHeader(`eb:${element.local} must contain text only`);
  return value;
}

/** As {@link stringOf}, and not blank: what the schema calls non-empty-string, and blanks say nothing either. */
export function nonEmptyOf(element: XmlElement): string {
  const value = stringOf(element);
  if (trimXml(value) === '') throw invalidHeader(`eb:${element.local} is empty`);
  return value;
}

/** Text of an xsd:token: runs of white space count as one blank. */
export function tokenOf(element: XmlElement): string {
  return collapse(stringOf(element));
}

/** xsd:token white-space rule. */
export function collapse(value: string): string {
  return trimXml(value.replace(/[ \t\r\n]+/g, ' '));
}

export function trimXml(value: string): string {
  return value.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '');
}

/**
 * The attributes an element may carry, by local name; others without namespace are EBMS:0009, and so are foreign ones unless the
 * schema leaves room for them (`foreign`). What XML Schema itself allows anywhere is ignored.
 */
export function attributesOf(
  element: XmlElement,
  allowed: readonly string[],
  foreign: 'refused' | 'tolerated' = 'refused',
): Record<string, string | undefined> {
  const found: Record<string, string | undefined> = {};
  for (const { uri, local, value } of element.attributes) {
    if (uri === '' && allowed.includes(local)) {
      if (trimXml(value) === '') throw invalidHeader(`eb:${element.local}/@${local} is empty`);
      found[local] = value;
    } else if (uri === '' || (foreign === 'refused' && uri !== XSI)) {
      throw invalidHeader(`eb:${element.local} has an attribute '${local.slice(0, 60)}' that the schema does not know`);
    }
  }
  return found;
}
