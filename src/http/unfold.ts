const HEAD_END = Buffer.from('\r\n\r\n');
/** What would be a field of its own to a proxy that drops white space at the start of a line. */
const FIELD = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+[ \t]*:/;

/**
 * A request with its Content-Type on one line (RFC 9112 §5.2 lets a server put blanks for the fold). JavaMail folds a long Content-Type
 * unless told not to. Nothing else is mended: a fold anywhere else, or one whose continuation might be read as another field, is
 * refused as before. The result goes through the strict parser again, so the framing of the request is never ours to judge.
 * @param packet begins with the request line, and may hold some of the body
 * @returns null when the head is not complete or not to be mended
 */
export function unfoldContentType(packet: Buffer): Buffer | null {
  const end = packet.indexOf(HEAD_END);
  if (end < 0) return null;
  const [requestLine = '', ...lines] = packet.toString('latin1', 0, end).split('\r\n');
  const fields: string[] = [];
  for (const line of lines) {
    if (!/^[ \t]/.test(line)) {
      fields.push(line);
      continue;
    }
    const continuation = line.trim();
    const folded = fields.pop();
    if (folded === undefined || !/^content-type:/i.test(folded) || continuation === '' || FIELD.test(continuation)) {
      return null;
    }
    fields.push(`${folded.trimEnd()} ${continuation}`);
  }
  if (fields.length === lines.length) return null;
  return Buffer.concat([Buffer.from([requestLine, ...fields].join('\r\n'), 'latin1'), packet.subarray(end)]);
}
