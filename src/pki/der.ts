import { PkiError, type PkiErrorCode } from './errors.ts';

/**
 * One DER value. The certificates of strangers are read with this and not with asn1js, which takes a millisecond for
 * one of them (measured: 1.0 ms against 0.02 ms), about half of what a whole message may cost.
 */
export interface Der {
  /** Identifier octet: class, constructed bit and number. */
  readonly tag: number;
  readonly content: Buffer;
  /** Identifier, length and content. */
  readonly whole: Buffer;
}

/** Identifier octets of the types that certificates are made of (X.690 §8). */
export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  sequence: 0x30,
  set: 0x31,
} as const;

/** Reads DER on behalf of one kind of object, whose name and error code every complaint carries. */
export class DerReader {
  readonly #code: PkiErrorCode;
  readonly #what: string;

  constructor(code: PkiErrorCode, what: string) {
    this.#code = code;
    this.#what = what;
  }

  fail(why: string): PkiError {
    return new PkiError(this.#code, `${this.#what} ${why}`);
  }

  /** The values that stand one after the other in `octets`, which they fill. Definite, minimal lengths only. */
  all(octets: Buffer): Der[] {
    const found: Der[] = [];
    for (let at = 0; at < octets.length; ) {
      const tag = octets[at] as number;
      let length = octets[at + 1] ?? 0x80;
      let head = 2;
      if (length >= 0x80) {
        const count = length & 0x7f;
        if (count < 1 || count > 4 || at + 2 + count > octets.length) throw this.fail('is not valid DER');
        length = octets.readUIntBE(at + 2, count);
        if (length < 0x80 || length < 2 ** (8 * (count - 1))) throw this.fail('is not valid DER');
        head += count;
      }
      const end = at + head + length;
      if ((tag & 0x1f) === 0x1f || end > octets.length) throw this.fail('is not valid DER');
      found.push({ tag, content: octets.subarray(at + head, end), whole: octets.subarray(at, end) });
      at = end;
    }
    return found;
  }

  /** The one value that fills `octets`. */
  one(octets: Buffer): Der {
    const [value, more] = this.all(octets);
    if (value === undefined || more !== undefined) throw this.fail('is not valid DER');
    return value;
  }

  /** The values inside `value`, which must have the tag. */
  inside(value: Der | undefined, tag: number): Der[] {
    return this.all(this.content(value, tag));
  }

  content(value: Der | undefined, tag: number): Buffer {
    if (value?.tag !== tag) throw this.fail('is not built as X.509 says');
    return value.content;
  }

  boolean(value: Der | undefined): boolean {
    return this.content(value, TAG.boolean).some((octet) => octet !== 0);
  }

  /** Dotted text of an OBJECT IDENTIFIER. */
  oid(value: Der | undefined): string {
    const content = this.content(value, TAG.oid);
    const last = content.at(-1);
    if (last === undefined || last >= 0x80 || content.length > 64) throw this.fail('has an invalid object identifier');
    const arcs: bigint[] = [];
    let arc = 0n;
    for (const octet of content) {
      arc = (arc << 7n) | BigInt(octet & 0x7f);
      if (octet < 0x80) {
        arcs.push(arc);
        arc = 0n;
      }
    }
    const first = arcs[0] as bigint;
    const root = first < 40n ? 0n : first < 80n ? 1n : 2n;
    return [root, first - root * 40n, ...arcs.slice(1)].join('.');
  }
}
