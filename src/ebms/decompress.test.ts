import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { As4Error } from '../as4-error.ts';
import { configSchema } from '../config/schema.ts';
import { type GunzipLimits, gunzip, gunzipWhole } from './decompress.ts';

const limits: GunzipLimits = { maxBytes: 10_000_000, maxRatio: 2000 };

async function* chunked(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function streamed(bytes: Uint8Array, size = 1000, l = limits): Promise<string> {
  const out: Buffer[] = [];
  for await (const chunk of gunzip(chunked(bytes, size), l)) out.push(chunk);
  return Buffer.concat(out).toString();
}

const hello = gzipSync('hello');
const damagedCrc = Buffer.from(hello);
damagedCrc[hello.length - 6]! ^= 1;
const damagedSize = Buffer.from(hello);
damagedSize[hello.length - 1]! ^= 1;
const refused: Record<string, Uint8Array> = {
  'a truncated stream': hello.subarray(0, -3),
  'a stream cut in the deflate data': hello.subarray(0, 13),
  'nothing at all': Buffer.alloc(0),
  'a wrong CRC': damagedCrc,
  'a wrong ISIZE': damagedSize,
  'trailing garbage': Buffer.concat([hello, Buffer.from('garbage')]),
  'trailing zeros': Buffer.concat([hello, Buffer.alloc(4)]),
  'zeros between two members': Buffer.concat([hello, Buffer.alloc(4), hello]),
  'half a second member': Buffer.concat([hello, hello.subarray(0, 12)]),
  'no gzip': Buffer.from('<Invoice/>'),
};

describe('gunzip', () => {
  it.each(Object.keys(refused))('refuses %s with EBMS:0303, in memory and in any chunks', async (name) => {
    const bytes = refused[name]!;
    expect(() => gunzipWhole(bytes, limits)).toThrowError(expect.objectContaining({ code: 'EBMS:0303' }));
    for (const size of [1, 7, 1000]) {
      await expect(streamed(bytes, size)).rejects.toMatchObject({ code: 'EBMS:0303', reason: 'gzip-damaged' });
    }
  });

  it('accepts several members, as RFC 1952 allows', async () => {
    const two = Buffer.concat([hello, gzipSync(' world')]);
    expect(gunzipWhole(two, limits).toString()).toBe('hello world');
    for (const size of [1, hello.length, 1000]) expect(await streamed(two, size)).toBe('hello world');
  });

  it('decompresses an empty document', async () => {
    expect(gunzipWhole(gzipSync(''), limits)).toHaveLength(0);
    expect(await streamed(gzipSync(''))).toBe('');
  });

  it('stops at the absolute limit and accepts exactly the limit', async () => {
    const bytes = gzipSync(Buffer.alloc(5000, 'a'));
    const exact = { maxBytes: 5000, maxRatio: 2000 };
    const below = { maxBytes: 4999, maxRatio: 2000 };
    expect(gunzipWhole(bytes, exact)).toHaveLength(5000);
    expect(await streamed(bytes, 9, exact)).toHaveLength(5000);
    expect(() => gunzipWhole(bytes, below)).toThrowError(expect.objectContaining({ reason: 'gzip-over-limit' }));
    await expect(streamed(bytes, 9, below)).rejects.toMatchObject({ code: 'EBMS:0303', reason: 'gzip-over-limit' });
  });

  it('stops at the ratio above 128 KiB, long before the absolute limit', async () => {
    const bomb = gzipSync(Buffer.alloc(8_000_000));
    const strict = { maxBytes: 1e9, maxRatio: 100 };
    expect(() => gunzipWhole(bomb, strict)).toThrowError(expect.objectContaining({ reason: 'gzip-over-limit' }));
    await expect(streamed(bomb, 500, strict)).rejects.toMatchObject({ reason: 'gzip-over-limit' });
    expect(gunzipWhole(gzipSync(Buffer.alloc(128 * 1024)), strict)).toHaveLength(128 * 1024);
  });

  it('judges the ratio by what has been unfolded, not by what lies ready', async () => {
    const bomb = gzipSync(Buffer.alloc(100_000_000), { level: 9 });
    let produced = 0;
    const reading = (async () => {
      for await (const chunk of gunzip(chunked(bomb, bomb.length), { maxBytes: 1e9, maxRatio: 500 })) {
        produced += chunk.length;
      }
    })();
    await expect(reading).rejects.toMatchObject({ reason: 'gzip-over-limit' });
    expect(produced).toBeLessThan(200_000);
  });

  it('takes a document that is ordinary as a whole, whatever run of one character it has in the middle', async () => {
    const text = Buffer.from(
      fc.sample(fc.base64String({ minLength: 500_000, maxLength: 500_000 }), { numRuns: 1, seed: 7 })[0]!,
    );
    const bytes = gzipSync(Buffer.concat([Buffer.from('<a>'), Buffer.alloc(2_000_000, 'A'), text]));
    const byDefault = { maxBytes: 1e9, maxRatio: configSchema.parse({}).limits.ratio };
    await expect(streamed(bytes, 1000, byDefault)).rejects.toMatchObject({ reason: 'gzip-over-limit' });
    expect(await streamed(bytes, 1000, { ...byDefault, length: bytes.length })).toHaveLength(2_000_003 + text.length);
  });

  it('by default takes a long invoice whose lines differ in their number only', async () => {
    const description = fc.sample(fc.stringMatching(/^[a-z ]{2700}$/), { numRuns: 1, seed: 1 })[0];
    const line = (i: number) => `<InvoiceLine><ID>${i}</ID><Description>${description}</Description></InvoiceLine>`;
    const invoice = Array.from({ length: 2_000 }, (_, i) => line(i)).join('');
    const byDefault = { maxBytes: 1e9, maxRatio: configSchema.parse({}).limits.ratio };
    const bytes = gzipSync(invoice);
    expect(invoice.length / bytes.length).toBeGreaterThan(100);
    expect(await streamed(bytes, bytes.length, byDefault)).toBe(invoice);
    expect(gunzipWhole(bytes, byDefault).toString()).toBe(invoice);
  });

  it('passes an error of the source through unchanged', async () => {
    const own = new As4Error('EBMS:0102', 'decryption failed');
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield hello.subarray(0, 12);
      throw own;
    }
    const reading = (async () => {
      for await (const _ of gunzip(failing(), limits));
    })();
    await expect(reading).rejects.toBe(own);
  });

  it('ends its source when the reader stops early', async () => {
    let ended = false;
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        yield gzipSync(Buffer.alloc(300_000, 'x'), { level: 0 });
        for (;;) yield Buffer.alloc(10);
      } finally {
        ended = true;
      }
    }
    for await (const _ of gunzip(endless(), limits)) break;
    await new Promise((resolve) => setImmediate(resolve));
    expect(ended).toBe(true);
  });

  it('gives back what was compressed, whatever the chunks', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 3000 }), fc.integer({ min: 1, max: 400 }), async (data, size) => {
        const out: Buffer[] = [];
        for await (const chunk of gunzip(chunked(gzipSync(data), size), limits)) out.push(chunk);
        expect(Buffer.concat(out).equals(data)).toBe(true);
        expect(gunzipWhole(gzipSync(data), limits).equals(data)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });
});
