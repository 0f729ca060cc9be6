import type { MessageSpec } from '../message.ts';

/** The part with the document in an own form: `make` gets its octets and says what stands for their gzip. */
export function compressedAs(
  make: (content: Buffer) => Buffer,
  octetsOf: (sbd: string) => Buffer = (sbd) => Buffer.from(sbd),
): MessageSpec {
  let content: Buffer = Buffer.alloc(0);
  let octets: Buffer | undefined;
  // Made when they are asked for, which is after the content is known.
  const payload = Object.defineProperty({}, 'octets', {
    enumerable: true,
    get: () => {
      octets ??= make(content);
      return octets;
    },
  });
  return {
    octetsOf: (sbd) => {
      content = octetsOf(sbd);
      return content;
    },
    payload,
  };
}
