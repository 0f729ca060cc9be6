import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { As4Error, TransportRefusal } from '../as4-error.ts';

/** Octets at a time that are not worth a turn of the whole journey. */
const SMALL = 512;

/**
 * The body of one request, with a count. It is read with `read()`, not with the stream's own iterator, because that one destroys the
 * request when its consumer leaves, and an answer needs the rest of the request drained (architecture §2.11).
 */
export class RequestBody implements AsyncIterable<Buffer> {
  readonly #request: IncomingMessage;
  readonly #maxBytes: number;
  #bytes = 0;
  #failure: Error | null = null;
  #wakers: (() => void)[] = [];
  #listening = false;
  #gone = false;

  constructor(request: IncomingMessage, maxBytes: number) {
    this.#request = request;
    this.#maxBytes = maxBytes;
    request.on('error', () => this.#lost());
    request.on('close', () => this.#lost());
  }

  /** Received so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The upload took longer than the request may, or its envelope: what is still to be read fails with 408. */
  expire(reason: 'slow-upload' | 'slow-envelope' = 'slow-upload'): void {
    this.#fail(new TransportRefusal(408, 'The request took too long to arrive.', { reason }));
  }

  /**
   * @throws {As4Error} EBMS:0004 with status 413 beyond the size limit
   * @throws {TransportRefusal} 408 after `expire`, 400 when the sender went away
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void, undefined> {
    let small = false;
    for (;;) {
      const chunk = this.#take();
      if (chunk === null) {
        if (this.#request.readableEnded) return;
        if (this.#failure !== null) throw this.#failure;
        await this.#change();
        // Node hands on each chunk of the transfer coding by itself, also one of a single octet; what came with it is taken with it.
        if (small && !this.#request.complete) await setImmediate();
        continue;
      }
      small = chunk.length < SMALL;
      if (this.#bytes > this.#maxBytes) {
        throw new As4Error('EBMS:0004', `The message is larger than ${this.#maxBytes} bytes.`, {
          status: 413,
          reason: 'too-large',
        });
      }
      yield chunk;
    }
  }

  /**
   * Reads on and throws away, until the end, until `maxBytes` were received in all, or for `milliseconds`.
   * @returns whether the request has been received completely
   */
  drain(maxBytes: number, milliseconds: number): Promise<boolean> {
    return this.#discard(maxBytes, milliseconds, () => this.#failure !== null);
  }

  /** The same after the answer: also an upload that took too long is read on, so that closing does not reset the connection. */
  async linger(bytes: number, milliseconds: number): Promise<void> {
    await this.#discard(this.#bytes + bytes, milliseconds, () => this.#gone);
  }

  async #discard(maxBytes: number, milliseconds: number, failed: () => boolean): Promise<boolean> {
    if (this.#request.readableEnded) return true;
    let over = false;
    const timer = setTimeout(() => {
      over = true;
      this.#wake();
    }, milliseconds);
    try {
      while (!over && this.#bytes <= maxBytes) {
        if (this.#take() !== null) continue;
        if (this.#request.readableEnded) return true;
        if (failed()) return false;
        await this.#change();
      }
      return false;
    } finally {
      clearTimeout(timer);
    }
  }

  #take(): Buffer | null {
    if (!this.#listening) {
      this.#listening = true;
      this.#request.on('readable', () => this.#wake());
      this.#request.on('end', () => this.#wake());
    }
    const chunk = this.#request.read() as Buffer | null;
    if (chunk !== null) this.#bytes += chunk.length;
    return chunk;
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wakers.push(resolve);
    });
  }

  #wake(): void {
    const wakers = this.#wakers;
    this.#wakers = [];
    for (const wake of wakers) wake();
  }

  #lost(): void {
    if (this.#request.readableEnded) return;
    this.#gone = true;
    this.#fail(new TransportRefusal(400, 'The request was not received completely.', { reason: 'aborted' }));
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#wake();
  }
}
