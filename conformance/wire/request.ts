/** How a message goes over the wire, apart from what it is. */
export interface WireOptions {
  readonly method?: string;
  /** Instead of the URL's. */
  readonly path?: string;
  /** Size of the chunks of Transfer-Encoding: chunked; without it the length is announced. */
  readonly chunked?: number;
  /** As written in Content-Length, when it is not the length. */
  readonly contentLength?: number;
  readonly extraHeaders?: readonly string[];
  /** Stop after so many octets of the body and close: an upload that broke. */
  readonly cutUpload?: number;
  /** Milliseconds that nothing moves while the answer is waited for; default 60,000. */
  readonly timeout?: number;
  /** PEM of the CAs that the TLS certificate may be of; without it those that Node.js trusts. */
  readonly ca?: string | undefined;
}

/** An HTTP request: its headers without Host and Content-Length, and its body. */
export interface Sendable {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** The octets of the request: head and body. */
export function requestOctets(url: URL, message: Sendable, o: WireOptions): readonly [Buffer, Buffer] {
  const body = o.chunked === undefined ? message.body : chunk(message.body, o.chunked);
  return [
    Buffer.from(requestHead(url, message, o), 'latin1'),
    o.cutUpload === undefined ? body : body.subarray(0, o.cutUpload),
  ];
}

/** Request line and headers, with the blank line behind them. */
export function requestHead(url: URL, message: Sendable, o: WireOptions): string {
  const lines = [
    `${o.method ?? 'POST'} ${o.path ?? url.pathname + url.search} HTTP/1.1`,
    `Host: ${url.host}`,
    ...Object.entries(message.headers).map(([name, value]) => `${name}: ${value}`),
    ...(o.extraHeaders ?? []),
    o.chunked === undefined
      ? `Content-Length: ${o.contentLength ?? message.body.length}`
      : 'Transfer-Encoding: chunked',
    'Connection: close',
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

function chunk(body: Buffer, size: number): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at < body.length; at += size) {
    const piece = body.subarray(at, at + size);
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
  }
  return Buffer.concat([...pieces, Buffer.from('0\r\n\r\n')]);
}
