import { MimeError } from './mime-error.ts';

const foreign = /[^A-Za-z0-9+/]/;

/**
 * Content-Transfer-Encoding base64 as a stream (RFC 2045 §6.8). Line breaks may stand anywhere; everything else is strict — padding
 * complete and last, no foreign characters, no stray bits — because two decoders must not read two contents out of one part.
 */
export class Base64Decoder {
  #carry = '';
  #padded = false;

  /** @throws {MimeError} bad-base64 */
  push(chunk: Buffer): Buffer {
    let text = chunk.toString('latin1');
    if (text.includes('\n') || text.includes('\r')) text = text.replace(/[\r\n]+/g, '');
    if (text === '') return Buffer.alloc(0);
    text = this.#carry + text;
    const whole = text.length - (text.length % 4);
    this.#carry = text.slice(whole);
    if (foreign.test(this.#carry.replace(/={1,2}$/, ''))) throw badBase64();
    return whole === 0 ? Buffer.alloc(0) : this.#decode(text.slice(0, whole));
  }

  /** @throws {MimeError} bad-base64 when the last group of four is incomplete */
  end(): void {
    if (this.#carry !== '') throw badBase64();
  }

  #decode(text: string): Buffer {
    if (this.#padded) throw badBase64();
    const digits = text.endsWith('==') ? text.slice(0, -2) : text.endsWith('=') ? text.slice(0, -1) : text;
    if (foreign.test(digits)) throw badBase64();
    const bytes = Buffer.from(digits, 'base64');
    if (digits.length !== text.length) {
      this.#padded = true;
      const tail = bytes.subarray(bytes.length - (bytes.length % 3));
      if (tail.toString('base64') !== text.slice(-4)) throw badBase64();
    }
    return bytes;
  }
}

function badBase64(): MimeError {
  return new MimeError('bad-base64', 'A part with Content-Transfer-Encoding base64 is not valid base64.');
}
