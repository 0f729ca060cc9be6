/** The octets of an HTTP/1.1 answer as far as they have arrived. */
export interface ParsedAnswer {
  readonly status: number;
  /** Lower-case names; a field that comes twice is joined with a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /** Octets up to and with the blank line, those of 1xx answers before it included. */
  readonly headLength: number;
  /** Without transfer coding. */
  readonly body: Buffer;
  /** Octets of the whole answer; null while it is not complete. */
  readonly length: number | null;
}

/** Null while the blank line has not arrived. `closed`: nothing more will come. */
export function parseAnswer(octets: Buffer, closed: boolean): ParsedAnswer | null {
  let headLength = 0;
  let status = 0;
  let lines: string[] = [];
  do {
    const end = octets.indexOf('\r\n\r\n', headLength);
    if (end < 0) return null;
    const [statusLine = '', ...rest] = octets.toString('latin1', headLength, end).split('\r\n');
    status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(statusLine)?.[1] ?? 0);
    lines = rest;
    headLength = end + 4;
  } while (status >= 100 && status < 200);
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  }
  const rest = octets.subarray(headLength);
  const done = (body: Buffer, length: number | null): ParsedAnswer => ({ status, headers, headLength, body, length });
  if (status === 204 || status === 304) return done(Buffer.alloc(0), headLength);
  if (/\bchunked\b/i.test(headers['transfer-encoding'] ?? '')) {
    const { body, length } = unchunk(rest);
    return done(body, length === null ? null : headLength + length);
  }
  const announced = headers['content-length'];
  if (announced === undefined) return done(rest, closed ? octets.length : null);
  const length = /^\d+$/.test(announced) ? Number(announced) : 0;
  return rest.length < length ? done(rest, null) : done(rest.subarray(0, length), headLength + length);
}

function unchunk(octets: Buffer): { readonly body: Buffer; readonly length: number | null } {
  const pieces: Buffer[] = [];
  for (let at = 0; ; ) {
    const line = octets.indexOf('\r\n', at);
    if (line < 0) break;
    const size = Number.parseInt(/^[0-9a-f]+/i.exec(octets.toString('latin1', at, line))?.[0] ?? '', 16);
    const begin = line + 2;
    if (size === 0) {
      const end = octets.indexOf('\r\n', begin);
      return { body: Buffer.concat(pieces), length: end < 0 ? null : end + 2 };
    }
    if (Number.isNaN(size) || octets.length < begin + size + 2) break;
    pieces.push(octets.subarray(begin, begin + size));
    at = begin + size + 2;
  }
  return { body: Buffer.concat(pieces), length: null };
}
