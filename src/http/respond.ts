import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Answer } from '../exchange.ts';
import type { RequestBody } from './request-body.ts';

export interface RespondOptions {
  /** Bytes of the request that may be received before the answer; a negative number answers at once. */
  readonly drainBytes: number;
  /** Milliseconds the rest of the request may take before the answer. */
  readonly drainMs: number;
  /** Bytes and milliseconds for which an unfinished upload is still read after its answer, so that the answer is not lost to a reset. */
  readonly lingerBytes: number;
  readonly lingerMs: number;
  /** Ends the connection even when the request was received completely. */
  readonly close: boolean;
  /** Further header fields, such as Allow. */
  readonly headers?: OutgoingHttpHeaders;
  /** Called when the answer has been handed over, before lingering. */
  readonly onAnswered?: () => void;
}

/**
 * Sends an answer to the byte, after the rest of the request: a sender that uploads first and reads then loses an answer that comes
 * earlier (architecture §2.11). When the rest is too large or too slow the answer goes out with `Connection: close`, and the upload is
 * read a while longer, because closing a socket with unread bytes resets it.
 */
export async function respond(
  response: ServerResponse,
  body: RequestBody,
  answer: Answer,
  options: RespondOptions,
): Promise<void> {
  const received = await body.drain(options.drainBytes, options.drainMs);
  if (response.destroyed || !response.writable) return; // the sender went away; it will come again
  const headers: OutgoingHttpHeaders = { ...options.headers };
  if (answer.contentType !== null) headers['Content-Type'] = answer.contentType;
  if (answer.body !== null) headers['Content-Length'] = answer.body.byteLength;
  if (answer.retryAfter !== undefined) headers['Retry-After'] = answer.retryAfter;
  if (!received || options.close) headers.Connection = 'close';
  response.writeHead(answer.status, headers);
  const lingers = !received && options.lingerMs > 0;
  if (!lingers) response.end(answer.body ?? undefined);
  else if (answer.body === null) response.flushHeaders();
  else response.write(answer.body);
  options.onAnswered?.();
  if (!lingers) return;
  await body.linger(options.lingerBytes, options.lingerMs);
  response.end();
}
