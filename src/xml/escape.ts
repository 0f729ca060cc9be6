const TEXT = /[&<>\r]/;
const TEXT_ALL = /[&<>\r]/g;
const ATTRIBUTE = /[&<"\t\n\r]/;
const ATTRIBUTE_ALL = /[&<"\t\n\r]/g;

function reference(c: string): string {
  switch (c) {
    case '&':
      return '&amp;';
    case '<':
      return '&lt;';
    case '>':
      return '&gt;';
    case '"':
      return '&quot;';
    case '\t':
      return '&#x9;';
    case '\n':
      return '&#xA;';
    default:
      return '&#xD;';
  }
}

/** Character data as Canonical XML 1.0 §2.3 writes a text node, so that what is written this way is canonical already. */
export function escapeText(s: string): string {
  return TEXT.test(s) ? s.replace(TEXT_ALL, reference) : s;
}

/** An attribute value, for double quotes, as Canonical XML 1.0 §2.3 writes it. */
export function escapeAttribute(s: string): string {
  return ATTRIBUTE.test(s) ? s.replace(ATTRIBUTE_ALL, reference) : s;
}
