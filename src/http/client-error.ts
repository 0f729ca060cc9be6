import { STATUS_CODES } from 'node:http';

/** What Node's HTTP server says of a request that its parser refuses. */
export interface ClientError extends Error {
  readonly code?: string;
  readonly reason?: string;
  /** What came last, with the fault in it. */
  readonly rawPacket?: Buffer;
}

/** A field over two lines, which HTTP/1.1 does not allow (RFC 9112 §5.2). */
export function isFolded(error: ClientError): boolean {
  return error.reason === 'Unexpected whitespace after header value';
}

/** The whole answer to what never became a request, and how metrics name it. */
export function clientErrorAnswer(error: ClientError): {
  readonly status: number;
  readonly reason: string;
  readonly bytes: string;
} {
  const { status, reason } = verdict(error);
  // The operator of a sender that folds should not have to guess.
  const text = isFolded(error)
    ? 'A header field is folded over two lines, which HTTP does not allow.\n'
    : `${STATUS_CODES[status]}\n`;
  const bytes = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${text.length}`,
    'Connection: close',
    '',
    text,
  ].join('\r\n');
  return { status, reason, bytes };
}

function verdict(error: ClientError): { status: number; reason: string } {
  if (error.code === 'HPE_HEADER_OVERFLOW') return { status: 431, reason: 'header-too-large' };
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return { status: 408, reason: 'slow-request' };
  return { status: 400, reason: isFolded(error) ? 'folded-header' : 'malformed-request' };
}
