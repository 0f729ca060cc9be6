/**
 * One message on its way through the door: what `http/` hands to the journey and what it gets back. The types lie above the layers
 * because `receive.ts` fulfils them and no layer may import `http/` (architecture §1).
 */

/** The body of a request. */
export interface IncomingBody extends AsyncIterable<Buffer> {
  /** Octets received so far. */
  readonly bytes?: number;
}

/** A request that passed admission: POST, a media type that may be AS4, a declared length within the limit. */
export interface IncomingRequest {
  /** The header's value as received; `receive` parses it again because the boundary is in it. */
  readonly contentType: string | undefined;
  /** Declared bytes; null when the body is chunked. */
  readonly contentLength: number | null;
  /**
   * The body, once. Throws `As4Error` EBMS:0004 (status 413) beyond the size limit, `TransportRefusal` 408 when the upload is too
   * slow and 400 when the sender goes away.
   */
  readonly body: IncomingBody;
  /** IP address of the sender: the socket's, or out of X-Forwarded-For when a trusted proxy has sent the request. */
  readonly remoteAddress: string;
  /**
   * Called when the message only waits for another copy of itself: until the returned function is called it takes no place of those that
   * are worked on.
   */
  readonly pause?: () => () => void;
  /** Nobody at this address got a receipt yet: it may use a part of the memory only. */
  readonly stranger?: boolean;
  /** Resolves when it is this message's turn to be worked on: at once, unless nobody knows its source. */
  readonly turn?: () => Promise<void>;
  /** Called when others may have their turn, since all that remains is to wait. */
  readonly endTurn?: () => void;
  /** Called when a message that is no repeat got its receipt: its source is known from now on. */
  readonly proven?: () => void;
  /** Called once the envelope is known to come from a trusted sender: only then may the rest of the body take its time. */
  readonly authenticated?: () => void;
}

/** What is sent back, to the byte. `contentType` and `body` are both null for an answer without content (204). */
export interface Answer {
  readonly status: number;
  readonly contentType: string | null;
  readonly body: Uint8Array | null;
  /** Seconds for Retry-After. */
  readonly retryAfter?: number;
}

/** The journey of one message. Never rejects: whatever goes wrong is an answer. */
export type Receive = (request: IncomingRequest) => Promise<Answer>;

/** An answer for people; UTF-8 text with a line end. */
export function plainText(status: number, text: string, retryAfter?: number): Answer {
  const body = Buffer.from(`${text.trimEnd()}\n`);
  const contentType = 'text/plain; charset=utf-8';
  return retryAfter === undefined ? { status, contentType, body } : { status, contentType, body, retryAfter };
}
