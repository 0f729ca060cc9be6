import { MimeError } from './mime-error.ts';

const fieldName = /^[!-9;-~]+$/;
const control = /[\x00-\x08\x0a-\x1f\x7f]/;

/**
 * The header block of one part, without its closing blank line, as it stands behind the boundary delimiter: the rest of the delimiter's
 * line comes first (blanks only, RFC 2046 §5.1.1).
 *
 * Stricter than Dicer's own reader, which drops everything behind a line that it does not understand: a header that silently goes
 * missing changes what the part means.
 * @returns lower-case names, unfolded values. A repeated `Content-…` is refused, other repeated fields are joined by a comma.
 * @throws {MimeError} bad-boundary, bad-header, bare-line-feed
 */
export function parsePartHeaders(block: Buffer): Map<string, string> {
  const lines = block.toString('utf8').split('\r\n');
  const delimiterRest = lines[0]!;
  if (delimiterRest.trimStart() !== '') {
    if (/^[ \t]*\n/.test(delimiterRest)) throw bareLineFeed();
    throw new MimeError('bad-boundary', 'A line begins with the boundary and goes on with other text.');
  }
  const headers = new Map<string, string>();
  let name = '';
  for (let i = 1; i < lines.length; i += 1) {
    const line = lines[i]!;
    if (control.test(line)) {
      if (line.includes('\n')) throw bareLineFeed();
      throw new MimeError('bad-header', 'A part header contains a control character.');
    }
    if (line.startsWith(' ') || line.startsWith('\t')) {
      if (name === '') throw new MimeError('bad-header', 'The first header line of a part is a continuation line.');
      headers.set(name, `${headers.get(name)} ${line.trim()}`.trim());
      continue;
    }
    const colon = line.indexOf(':');
    if (colon < 1 || !fieldName.test(line.slice(0, colon))) {
      throw new MimeError('bad-header', 'A part has a header line that is not "Name: value".');
    }
    name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    const before = headers.get(name);
    if (before === undefined) headers.set(name, value);
    else if (name.startsWith('content-')) throw new MimeError('bad-header', `A part has two ${name} headers.`);
    else headers.set(name, `${before}, ${value}`);
  }
  return headers;
}

export function bareLineFeed(): MimeError {
  return new MimeError('bare-line-feed', 'Lines end with LF alone; MIME wants CRLF.');
}
