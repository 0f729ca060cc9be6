import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { Dicer } from '@fastify/busboy';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { parseContentType } from './content-type.ts';
import { MimeError } from './mime-error.ts';
import { type BufferedPart, readMultipart, readMultipartBuffer } from './multipart.ts';

const limits = { maxParts: 8, maxHeaderBytes: 1024 };
const soap = 'Content-Type: application/soap+xml\r\n\r\n<e/>';

async function* split(body: Buffer, sizes: Iterable<number>): AsyncGenerator<Buffer> {
  let at = 0;
  for (const size of sizes) {
    if (at >= body.length) return;
    yield body.subarray(at, at + size);
    at += size;
  }
  yield body.subarray(at);
}

interface Read {
  readonly parts: readonly {
    readonly headers: ReadonlyMap<string, string>;
    readonly contentId: string | null;
    readonly body: Buffer;
  }[];
}

async function readStream(source: AsyncIterable<Buffer>, boundary: string): Promise<Read> {
  const parts = [];
  for await (const part of readMultipart(source, boundary, limits)) {
    const chunks: Buffer[] = [];
    for await (const chunk of part.body) chunks.push(chunk);
    parts.push({ headers: part.headers, contentId: part.contentId, body: Buffer.concat(chunks) });
  }
  return { parts };
}

/** Both readers and three ways to cut the stream must agree before anything is said about the body. */
async function read(text: string | Buffer, boundary = 'b'): Promise<BufferedPart[]> {
  const body = typeof text === 'string' ? Buffer.from(text, 'latin1') : text;
  const whole = outcome(() => readMultipartBuffer(body, boundary, limits));
  for (const size of [1, 3, 1 << 16]) {
    const sizes = Array.from({ length: Math.ceil(body.length / size) }, () => size);
    const streamed = await readStream(split(body, sizes), boundary).then(
      ({ parts }) => summary(parts),
      (error: unknown) => (error instanceof MimeError ? error.code : error),
    );
    expect(streamed).toEqual(whole.summary);
  }
  if (whole.error !== null) throw whole.error;
  return whole.parts;
}

function outcome(run: () => BufferedPart[]): { parts: BufferedPart[]; error: MimeError | null; summary: unknown } {
  try {
    const parts = run();
    return { parts, error: null, summary: summary(parts) };
  } catch (error) {
    if (!(error instanceof MimeError)) throw error;
    return { parts: [], error, summary: error.code };
  }
}

function summary(parts: Read['parts']): unknown {
  return parts.map((p) => ({ headers: [...p.headers], contentId: p.contentId, body: p.body.toString('latin1') }));
}

describe('multipart/related is accepted', () => {
  it('with preamble and epilogue, even when the preamble looks like headers', async () => {
    const preamble = 'Content-Type: multipart/related;\r\n boundary="b"\r\nMIME-Version: 1.0\r\n\r\n';
    const parts = await read(`${preamble}--b\r\n${soap}\r\n--b--\r\nbye\r\n--b\r\nContent-Id: <late>\r\n\r\nx`);
    expect(parts.map((p) => p.body.toString())).toEqual(['<e/>']);
  });

  it('with a root part that has no Content-ID and with ids in or without angle brackets', async () => {
    const parts = await read(
      `--b\r\n${soap}\r\n--b\r\nContent-ID: <a@x>\r\n\r\n1\r\n--b\r\ncontent-id: c@x\r\n\r\n2\r\n--b--`,
    );
    expect(parts.map((p) => p.contentId)).toEqual([null, 'a@x', 'c@x']);
  });

  it('with part headers in any order and case, folded, repeated unknown ones and blanks behind the delimiter', async () => {
    const [part] = await read(
      '--b \t\r\nX-A: 1\r\nCONTENT-transfer-ENCODING:  8BIT\r\nx-a: 2\r\nContent-Type: text/xml;\r\n\tcharset=utf-8\r\n\r\n<x/>\r\n--b--',
    );
    expect(part?.contentType).toEqual({ type: 'text/xml', parameters: expect.objectContaining({ charset: 'utf-8' }) });
    expect(part?.headers.get('x-a')).toBe('1, 2');
    expect(part?.headers.get('content-transfer-encoding')).toBe('8BIT');
  });

  it('with parts that have no headers or no content', async () => {
    const parts = await read('--b\r\n\r\nx\r\n--b\r\nContent-ID: <e>\r\n\r\n\r\n--b--');
    expect(parts.map((p) => p.body.toString())).toEqual(['x', '']);
  });

  it.each(['binary', '8bit', '7bit', 'Binary'])(
    'with Content-Transfer-Encoding %s, byte for byte',
    async (encoding) => {
      const bytes = Buffer.from(Array.from({ length: 512 }, (_, i) => i & 255));
      const head = Buffer.from(`--b\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n`);
      const [part] = await read(Buffer.concat([head, bytes, Buffer.from('\r\n--b--')]));
      expect(part?.body.equals(bytes)).toBe(true);
    },
  );

  it('with base64, whatever the line length', async () => {
    const bytes = Buffer.from(Array.from({ length: 1000 }, (_, i) => (i * 7) & 255));
    for (const length of [76, 1, 5, 10_000]) {
      const lines = bytes
        .toString('base64')
        .match(new RegExp(`.{1,${length}}`, 'g'))!
        .join('\r\n');
      const [part] = await read(`--b\r\nContent-Transfer-Encoding: base64\r\n\r\n${lines}\r\n\r\n--b--`);
      expect(part?.body.equals(bytes)).toBe(true);
    }
  });

  it('with content that nearly is a delimiter', async () => {
    const content = '\r\n--\r\n-b\r\n--c--b\r\r\n--a\r\n-';
    const [part] = await read(`--b\r\n\r\n${content}\r\n--b--`);
    expect(part?.body.toString('latin1')).toBe(content);
  });
});

describe('multipart/related is refused', () => {
  const ok = `--b\r\n${soap}`;
  const cases: [string, MimeError['code'], string][] = [
    ['without the final boundary', 'truncated', `${ok}\r\n--b\r\n\r\nx`],
    ['when it ends within the delimiter', 'truncated', `${ok}\r\n--b-`],
    ['when it ends within a header', 'truncated', `${ok}\r\n--b\r\nContent-`],
    ['without any line with the boundary', 'truncated', 'nothing here'],
    ['when empty', 'truncated', ''],
    ['without parts', 'no-parts', '--b--\r\n'],
    [
      'with two parts of one Content-ID',
      'duplicate-content-id',
      '--b\r\nContent-ID: <a>\r\n\r\n1\r\n--b\r\nContent-ID: a\r\n\r\n2\r\n--b--',
    ],
    ['with more parts than the limit', 'too-many-parts', `${'--b\r\n\r\nx\r\n'.repeat(9)}--b--`],
    ['with more header bytes than the limit', 'headers-too-large', `--b\r\nX: ${'y'.repeat(1024)}\r\n\r\nx\r\n--b--`],
    ['with a header block that never ends', 'headers-too-large', `--b\r\nX: ${'y'.repeat(5000)}`],
    ['with two Content-Type headers', 'bad-header', '--b\r\nContent-Type: a/b\r\nContent-Type: a/b\r\n\r\nx\r\n--b--'],
    [
      'with a header line without colon',
      'bad-header',
      '--b\r\nContent-ID: <a>\r\nnonsense\r\nContent-Type: a/b\r\n\r\nx\r\n--b--',
    ],
    ['with a fold before any header', 'bad-header', '--b\r\n folded: x\r\n\r\nx\r\n--b--'],
    ['with a blank before the colon', 'bad-header', '--b\r\nContent-ID : <a>\r\n\r\nx\r\n--b--'],
    ['with a control character in a header', 'bad-header', '--b\r\nContent-ID: <a\x00>\r\n\r\nx\r\n--b--'],
    ['with a bare CR in a header', 'bad-header', '--b\r\nContent-ID: <a>\rX: y\r\n\r\nx\r\n--b--'],
    ['with a part whose headers never end', 'bad-header', `--b\r\nContent-ID: <a>\r\n--b\r\n\r\nx\r\n--b--`],
    ['with a line that only begins with the boundary', 'bad-boundary', `${ok}\r\n--bc\r\n\r\nx\r\n--b--`],
    ['with one dash behind the boundary', 'bad-boundary', `${ok}\r\n--b-\r\n\r\nx\r\n--b--`],
    ['with lines that end with LF', 'bare-line-feed', '--b\nContent-Type: a/b\n\nx\n--b--\n'],
    ['with long lines that end with LF', 'bare-line-feed', `--b\nContent-Type: a/b\n\n${'x\n'.repeat(1000)}--b--\n`],
    ['with LF between headers', 'bare-line-feed', '--b\r\nContent-ID: <a>\nX: y\r\n\r\nx\r\n--b--'],
    [
      'with quoted-printable',
      'unsupported-transfer-encoding',
      '--b\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nx\r\n--b--',
    ],
  ];
  it('when more stands before the first part than a header may have', async () => {
    const behind = (preamble: string) => read(`${preamble}\r\n--b\r\n${soap}\r\n--b--\r\n`);
    expect(await behind('x'.repeat(1000))).toHaveLength(1);
    for (const preamble of ['x'.repeat(1024), 'x'.repeat(5000), '--a\r\n'.repeat(500)]) {
      await expect(behind(preamble)).rejects.toMatchObject({ code: 'preamble-too-large' });
    }
  });

  it('and does not look at what follows the fault: 10,000 parts cost no more than the limit of them', () => {
    const emitted = vi.spyOn(Dicer.prototype, 'emit');
    const body = Buffer.from(`${'--b\r\n\r\nx\r\n'.repeat(10_000)}--b--`);
    expect(() => readMultipartBuffer(body, 'b', limits)).toThrow(MimeError);
    expect(emitted.mock.calls.filter(([event]) => String(event) === 'part')).toHaveLength(limits.maxParts + 1);
    emitted.mockRestore();
  });

  it.each(cases)('%s (%s)', async (_, code, body) => {
    await expect(read(body)).rejects.toMatchObject({ name: 'MimeError', code });
  });

  it.each(['Q', 'QQ', 'QQ=', 'QQ==QQ==', 'Q===', 'QR==', 'Q Q=', 'QQ==\r\nQ', 'QU_-', '====', 'QUJD='])(
    'with base64 that is %j',
    async (text) => {
      const body = `--b\r\nContent-Transfer-Encoding: base64\r\n\r\n${text}\r\n--b--`;
      await expect(read(body)).rejects.toMatchObject({ code: 'bad-base64' });
      await expect(async () => {
        for await (const part of readMultipart(split(Buffer.from(body), [7]), 'b', limits)) await part.discard();
      }).rejects.toMatchObject({ code: 'bad-base64' });
    },
  );

  it.each(['', 'x'.repeat(71), 'x ', 'a\r\nb', 'ä'])('with the boundary %j', async (boundary) => {
    await expect(read(ok, boundary)).rejects.toMatchObject({ code: 'bad-boundary' });
  });

  it('at no offset is a body that was cut mistaken for a whole one', async () => {
    const body = Buffer.from(
      `pre\r\n--b\r\n${soap}\r\n--b\r\nContent-ID: <a>\r\nContent-Transfer-Encoding: base64\r\n\r\nQUJD\r\nREVG\r\n--b--`,
    );
    for (let length = 0; length < body.length; length += 1) {
      await expect(read(body.subarray(0, length))).rejects.toMatchObject({ code: 'truncated' });
    }
    expect(await read(body)).toHaveLength(2);
  });
});

describe('the stream', () => {
  it('yields the same bytes however it is cut', async () => {
    const content = fc.oneof(
      fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
      fc.array(fc.constantFrom('\r\n', '\r', '\n', '--', '-', 'bound', 'boun', 'x'), { maxLength: 60 }).map((words) => {
        return Buffer.from(`\r\n${words.join('')}`.replaceAll('\r\n--bound', '\r\n--boun')).subarray(2);
      }),
    );
    const sizes = fc.infiniteStream(
      fc.oneof(fc.integer({ min: 1, max: 7 }), fc.integer({ min: 8, max: 40 }), fc.constant(1 << 16)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(content, { minLength: 1, maxLength: 5 }), sizes, async (contents, cuts) => {
        const body = Buffer.concat([
          ...contents.flatMap((bytes, i) => [Buffer.from(`\r\n--bound\r\nContent-ID: <${i}>\r\n\r\n`), bytes]),
          Buffer.from('\r\n--bound--\r\nepilogue'),
        ]);
        const { parts } = await readStream(split(body, cuts), 'bound');
        expect(parts.map((p) => p.body.toString('hex'))).toEqual(contents.map((c) => c.toString('hex')));
      }),
      { numRuns: 500 },
    );
  });

  it('accepts, refuses and reads exactly what the reader of whole bodies does, also when bytes are changed', async () => {
    const body = Buffer.from(
      `x\r\n--b\r\n${soap}\r\n--b \r\nContent-ID: <a>\r\nContent-Transfer-Encoding: base64\r\nX:\r\n y\r\n\r\nQUJD\r\nREU=\r\n--b\r\n\r\n\r\n--b--\r\n`,
    );
    const alphabet = fc.constantFrom(...Buffer.from('\r\n-b:= \tA=<>\0'));
    const change = fc.record({
      at: fc.nat(body.length - 1),
      remove: fc.nat(3),
      insert: fc.array(alphabet, { maxLength: 3 }),
    });
    const sizes = fc.infiniteStream(fc.integer({ min: 1, max: 40 }));
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 3 }), sizes, async (changes, cuts) => {
        let mutant = body;
        for (const { at, remove, insert } of changes) {
          mutant = Buffer.concat([mutant.subarray(0, at), Buffer.from(insert), mutant.subarray(at + remove)]);
        }
        const whole = outcome(() => readMultipartBuffer(mutant, 'b', limits)).summary;
        const streamed = await readStream(split(mutant, cuts), 'b').then(
          ({ parts }) => summary(parts),
          (error: unknown) => (error instanceof MimeError ? error.code : error),
        );
        seen.add(typeof whole === 'string' ? whole : 'accepted');
        expect(streamed).toEqual(whole);
      }),
      { numRuns: 3000 },
    );
    expect([...seen]).toEqual(
      expect.arrayContaining(['accepted', 'truncated', 'bad-header', 'bad-base64', 'bad-boundary']),
    );
  });

  it('yields chunks that its consumer may keep: none is a view of a buffer that is used again', async () => {
    const content = 'x\r\n--boy\r\n--boz';
    const body = Buffer.from(`--bound\r\n\r\n${content}\r\n--bound--`);
    for (let size = 1; size < body.length; size += 1) {
      const { parts } = await readStream(split(body, Array(body.length).fill(size)), 'bound');
      expect(parts[0]?.body.toString()).toBe(content);
    }
  });

  it('passes errors of its source through and delivers what came before', async () => {
    const failure = new Error('the sender went away');
    async function* source(): AsyncGenerator<Buffer> {
      yield Buffer.from(`--b\r\n${soap}`);
      throw failure;
    }
    const chunks: string[] = [];
    const run = async (): Promise<void> => {
      for await (const part of readMultipart(source(), 'b', limits)) {
        for await (const chunk of part.body) chunks.push(chunk.toString());
      }
    };
    await expect(run()).rejects.toBe(failure);
    expect(chunks.join('')).toBe('<e/>');
  });

  it('also passes an error through that comes in the epilogue, after all parts', async () => {
    async function* source(): AsyncGenerator<Buffer> {
      yield Buffer.from(`--b\r\n${soap}\r\n--b--`);
      throw new Error('too large');
    }
    await expect(readStream(source(), 'b')).rejects.toThrow('too large');
  });

  it('throws away what its consumer left unread, and lets go of the source when its consumer leaves', async () => {
    let released = false;
    async function* source(): AsyncGenerator<Buffer> {
      try {
        yield* split(
          Buffer.from(`--b\r\n\r\n${'1'.repeat(100)}\r\n--b\r\n\r\n2\r\n--b\r\n\r\n3\r\n--b--`),
          Array(60).fill(3),
        );
      } finally {
        released = true;
      }
    }
    const parts = readMultipart(source(), 'b', limits);
    const first = (await parts.next()).value!;
    for await (const chunk of first.body) {
      expect(chunk.toString()).toMatch(/^1+$/);
      break;
    }
    const second = (await parts.next()).value!;
    let text = '';
    for await (const chunk of second.body) text += chunk;
    expect(text).toBe('2');
    await parts.return();
    expect(released).toBe(true);
  });

  it('reads no faster than its consumer and keeps memory flat over 200 MB', async () => {
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const total = 3200;
    let produced = 0;
    async function* source(): AsyncGenerator<Buffer> {
      yield Buffer.from('--b\r\n\r\n');
      for (; produced < total; produced += 1) yield Buffer.from(chunk);
      yield Buffer.from('\r\n--b--');
    }
    const before = process.memoryUsage().rss;
    let consumed = 0;
    let peak = 0;
    for await (const part of readMultipart(source(), 'b', limits)) {
      for await (const bytes of part.body) {
        consumed += bytes.length;
        expect(produced * chunk.length - consumed).toBeLessThanOrEqual(2 * chunk.length);
        if (produced % 100 === 0) {
          await new Promise(setImmediate);
          peak = Math.max(peak, process.memoryUsage().rss);
        }
      }
    }
    expect(consumed).toBe(total * chunk.length);
    expect(peak - before).toBeLessThan(120 * 1024 * 1024);
  });
});

const samples = new URL('../../../shared/samples/', import.meta.url);
const folders = existsSync(samples) ? ['peers', 'real'] : [];
const files = folders.flatMap((folder) => {
  return readdirSync(new URL(folder, samples))
    .filter((name) => /\.as4(in|out)?$/.test(name))
    .map((name) => `${folder}/${name}`);
});

describe('bodies of other products', () => {
  it.runIf(files.length === 0)('are not here (../shared/samples): skipped', (context) => context.skip());

  it.each(files)('%s is read, whole and in pieces', async (file) => {
    const bytes = readFileSync(new URL(file, samples));
    const end = bytes.indexOf('\r\n\r\n');
    const header = /^content-type:((?:.*\r\n[ \t])*.*)/im.exec(bytes.toString('latin1', 0, end))?.[1]?.trim();
    const type = parseContentType(header);
    expect(type?.type).toBe('multipart/related');
    const parts = await read(bytes.subarray(end + 4), type?.parameters.boundary);
    expect(parts[0]?.contentType?.type).toBe('application/soap+xml');
    expect(parts[0]?.body.toString()).toMatch(/Envelope>\s*$/);
    expect(parts.length).toBeGreaterThan(1);
  });
});
