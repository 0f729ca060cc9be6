import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Server } from './server.ts';
import { RawClient } from './testing/raw-client.ts';
import { startTestServer } from './testing/start.ts';

const head = 'POST /as4 HTTP/1.1\r\nHost: x\r\nContent-Type: application/soap+xml\r\n';
const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n`;
/** What must never be taken for a part of the body before it, nor hide in it. */
const next = 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n';

/** Each request, the bodies that the receiver may see, and the statuses that come back (the request that follows among them). */
const harmless: [string, string, string, number[]][] = [
  ['a length', `${head}Content-Length: 3\r\n\r\nabc`, 'abc', [200, 200]],
  ['chunks', `${chunked}3\r\nabc\r\n0\r\n\r\n`, 'abc', [200, 200]],
  [
    'names and coding in other case',
    `${head}tRANSFER-eNCODING: CHUNKED\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
    'abc',
    [200, 200],
  ],
  ['a tab before the coding', `${head}Transfer-Encoding:\tchunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`, 'abc', [200, 200]],
  ['a length with a blank after it', `${head}Content-Length: 3 \r\n\r\nabc`, 'abc', [200, 200]],
  ['a length with a leading zero', `${head}Content-Length: 03\r\n\r\nabc`, 'abc', [200, 200]],
  [
    'a name that only resembles Content-Length',
    `${head}Content_Length: 9\r\nContent-Length: 3\r\n\r\nabc`,
    'abc',
    [200, 200],
  ],
  ['a chunk extension', `${chunked}3;a="b;c"\r\nabc\r\n0\r\n\r\n`, 'abc', [200, 200]],
  ['a chunk size in upper case', `${chunked}A\r\n0123456789\r\n0\r\n\r\n`, '0123456789', [200, 200]],
  ['a chunk size with leading zeros', `${chunked}003\r\nabc\r\n000\r\n\r\n`, 'abc', [200, 200]],
  ['a trailer', `${chunked}3\r\nabc\r\n0\r\nX: y\r\n\r\n`, 'abc', [200, 200]],
  ['data after the last chunk', `${chunked}3\r\nabc\r\n0\r\n\r\njunk`, 'abc', [200]],
  ['Connection: close and another request', `${head}Connection: close\r\nContent-Length: 3\r\n\r\nabc`, 'abc', [200]],
  ['HTTP/1.0', `${head.replace('1.1', '1.0')}Content-Length: 3\r\n\r\nabc`, 'abc', [200]],
];

const refused: [string, string][] = [
  ['CL+TE', `${head}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['TE+CL', `${head}Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n`],
  [
    'TE named in Connection, with CL',
    `${head}Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nabc`,
  ],
  ['chunked in two fields', `${head}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['chunked twice in one', `${head}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n`],
  ['chunked, identity', `${head}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
  ['identity, chunked', `${head}Transfer-Encoding: identity, chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`],
  ['identity', `${head}Transfer-Encoding: identity\r\n\r\nabc`],
  ['xchunked', `${head}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
  ['xchunked with CL', `${head}Content-Length: 3\r\nTransfer-Encoding: xchunked\r\n\r\nabc`],
  ['chunked in quotes', `${head}Transfer-Encoding: "chunked"\r\n\r\n0\r\n\r\n`],
  ['chunked with a parameter', `${head}Transfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n`],
  ['chunked after a vertical tab', `${head}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n`],
  ['chunked and NUL', `${head}Transfer-Encoding: chunked\0\r\nContent-Length: 3\r\n\r\nabc`],
  ['an empty TE', `${head}Transfer-Encoding:\r\nContent-Length: 3\r\n\r\nabc`],
  ['a folded TE', `${head}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n`],
  ['a folded TE with CL', `${head}Content-Length: 3\r\nTransfer-Encoding:\r\n chunked\r\n\r\nabc`],
  ['a TE folded within the word', `${head}Transfer-Encoding: chun\r\n ked\r\n\r\n0\r\n\r\n`],
  ['a TE folded to another coding', `${head}Transfer-Encoding: chunked\r\n , identity\r\n\r\n0\r\n\r\n`],
  ['a TE hidden in a fold', `${head}X: a\r\n Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nabc`],
  [
    'a TE hidden in a fold of Content-Type',
    `${head.trimEnd()};\r\n Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nabc`,
  ],
  ['a CL hidden in a fold of Content-Type', `${head.trimEnd()};\r\n\tContent-Length : 3\r\n\r\nabc`],
  [
    'a folded Content-Type with CL+TE',
    `${head.trimEnd()};\r\n a=b\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  ['a folded Content-Type with a bare LF', `${head.trimEnd()};\r\n a=b\r\nX: y\nContent-Length: 3\r\n\r\nabc`],
  [
    'a folded Content-Type and chunks without line ends',
    `${head.trimEnd()};\r\n a=b\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc0\r\n\r\n`,
  ],
  ['a folded CL', `${head}Content-Length:\r\n 3\r\n\r\nabc`],
  ['a CL folded within its digits', `${head}Content-Length: 3\r\n 0\r\n\r\nabc`],
  ['a first field with a blank before it', 'POST /as4 HTTP/1.1\r\n Host: x\r\nContent-Length: 3\r\n\r\nabc'],
  ['CL twice', `${head}Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc`],
  ['CL twice, differing', `${head}Content-Length: 3\r\nContent-Length: 5\r\n\r\nabc`],
  ['CL as a list', `${head}Content-Length: 3, 3\r\n\r\nabc`],
  ['CL with a plus', `${head}Content-Length: +3\r\n\r\nabc`],
  ['CL with a minus', `${head}Content-Length: -3\r\n\r\nabc`],
  ['CL with a blank in it', `${head}Content-Length: 3 5\r\n\r\nabc`],
  ['CL in hexadecimal', `${head}Content-Length: 0x3\r\n\r\nabc`],
  ['CL as a decimal fraction', `${head}Content-Length: 3.0\r\n\r\nabc`],
  ['CL beyond 64 bits', `${head}Content-Length: 18446744073709551619\r\n\r\nabc`],
  ['an empty CL', `${head}Content-Length:\r\n\r\nabc`],
  ['bare LF everywhere', `${head.replaceAll('\r', '')}Content-Length: 3\n\nabc`],
  [
    'bare LF after one field',
    'POST /as4 HTTP/1.1\r\nHost: x\nContent-Type: application/soap+xml\r\nContent-Length: 3\r\n\r\nabc',
  ],
  ['a TE hidden behind a bare LF', `${head}X: a\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nabc`],
  ['a TE hidden behind a bare CR', `${head}X: a\rTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nabc`],
  ['a bare LF as the end of the head', `${head}Content-Length: 3\r\n\nabc`],
  ['a blank before the colon of CL', `${head}Content-Length : 3\r\n\r\nabc`],
  ['a blank before the colon of TE', `${head}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`],
  ['a tab before the colon of TE', `${head}Transfer-Encoding\t: chunked\r\nContent-Length: 3\r\n\r\nabc`],
  ['a blank within a name', `${head}Transfer Encoding: chunked\r\nContent-Length: 3\r\n\r\nabc`],
  ['NUL in a value', `${head}X: a\0b\r\nContent-Length: 3\r\n\r\nabc`],
  ['a line without a colon', `${head}Xabc\r\nContent-Length: 3\r\n\r\nabc`],
  ['a field without a name', `${head}: x\r\nContent-Length: 3\r\n\r\nabc`],
  ['a chunk size with a blank after it', `${chunked}3 \r\nabc\r\n0\r\n\r\n`],
  ['a chunk size with a blank before it', `${chunked} 3\r\nabc\r\n0\r\n\r\n`],
  ['a chunk size with a tab', `${chunked}3\t\r\nabc\r\n0\r\n\r\n`],
  ['a chunk size with a plus', `${chunked}+3\r\nabc\r\n0\r\n\r\n`],
  ['a chunk size with 0x', `${chunked}0x3\r\nabc\r\n0\r\n\r\n`],
  ['an empty chunk size', `${chunked}\r\nabc\r\n0\r\n\r\n`],
  ['a chunk size beyond 64 bits', `${chunked}10000000000000003\r\nabc\r\n0\r\n\r\n`],
  ['a chunk extension that ends in a bare LF', `${chunked}3;a\nabc\r\n0\r\n\r\n`],
  ['a chunk extension with a bare CR', `${chunked}3;a\rb\r\nabc\r\n0\r\n\r\n`],
  ['a chunk size that ends in a bare LF', `${chunked}3\nabc\r\n0\r\n\r\n`],
  ['a chunk that ends in a bare LF', `${chunked}3\r\nabc\n0\r\n\r\n`],
  ['a chunk without its line end', `${chunked}3\r\nabc0\r\n\r\n`],
  ['a chunk longer than its size', `${chunked}3\r\nabcd\r\n0\r\n\r\n`],
  ['a last chunk that ends in bare LFs', `${chunked}3\r\nabc\r\n0\n\n`],
  ['a CL in the trailer', `${chunked}3\r\nabc\r\n0\r\nContent-Length: 30\r\n\r\n`],
  ['a TE in the trailer', `${chunked}3\r\nabc\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n`],
  ['a folded trailer', `${chunked}3\r\nabc\r\n0\r\nX: y\r\n z\r\n\r\n`],
  ['HTTP/1.2', `${head.replace('1.1', '1.2')}Content-Length: 3\r\n\r\nabc`],
];

describe.each(['accept', 'refuse'] as const)('with foldedHeaders = "%s"', (foldedHeaders) => {
  let server: Server;
  const bodies: string[] = [];
  const types: (string | undefined)[] = [];

  beforeAll(async () => {
    server = await startTestServer({
      foldedHeaders,
      async receive({ body, contentType }) {
        const chunks: Buffer[] = [];
        for await (const chunk of body) chunks.push(chunk);
        bodies.push(Buffer.concat(chunks).toString('latin1'));
        types.push(contentType);
        return { status: 200, contentType: 'text/plain', body: Buffer.from('ok') };
      },
    });
  });
  afterAll(() => server.stop(0));

  /** Sends these bytes, another request and nothing more; gives the statuses that came back until the other side was done. */
  async function exchange(bytes: string): Promise<number[]> {
    bodies.length = 0;
    types.length = 0;
    const client = await RawClient.connect(server.port);
    await client.write(Buffer.from(bytes + next, 'latin1'));
    client.socket.end();
    const text = await client.rest();
    client.socket.destroy();
    while (server.inFlight() > 0) await pause(1);
    return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]));
  }

  it.each(harmless)('%s is framed as it says', async (_, bytes, body, statuses) => {
    expect(await exchange(bytes)).toEqual(statuses);
    expect(bodies).toEqual([body]);
  });

  it.each(refused)('%s is refused, and what follows is not read', async (_, bytes) => {
    const statuses = await exchange(bytes);
    expect(bodies).toEqual([]);
    expect(statuses.length).toBeLessThanOrEqual(1);
    for (const status of statuses) expect(status).toBe(400);
  });

  const folded = `${head.trimEnd()};\r\n action="a";\r\n\tcharset=utf-8\r\n`;
  const whole = 'application/soap+xml; action="a"; charset=utf-8';
  it.each([
    ['a length', `${folded}Content-Length: 3\r\n\r\nabc`],
    ['chunks', `${folded}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`],
  ])(`a folded Content-Type with %s is ${foldedHeaders}d, and its connection ends`, async (_, bytes) => {
    expect(await exchange(bytes)).toEqual([foldedHeaders === 'accept' ? 200 : 400]);
    expect([bodies, types]).toEqual(foldedHeaders === 'accept' ? [['abc'], [whole]] : [[], []]);
  });

  it('a folded Content-Type that is not the first on its connection is refused', async () => {
    expect(await exchange(`${next}${folded}Content-Length: 3\r\n\r\nabc`)).toEqual([200]);
    expect(bodies).toEqual([]);
  });
});

it('a folded head that came in two pieces is refused: where a request begins must be certain', async () => {
  const seen: unknown[] = [];
  const server = await startTestServer({
    receive: async (request) => {
      seen.push(request);
      return { status: 204, contentType: null, body: null };
    },
  });
  const client = await RawClient.connect(server.port);
  await client.write('GET /x HTTP/1.1\r\nX: ');
  await pause(20);
  await client.write(`${head.trimEnd()};\r\n a=b\r\nContent-Length: 0\r\n\r\n`);
  expect((await client.answer()).status).toBe(400);
  expect(seen).toEqual([]);
  await server.stop(0);
});

it('a body that goes on after a folded head arrives whole, however large', async () => {
  const server = await startTestServer();
  const client = await RawClient.connect(server.port);
  const body = Buffer.alloc(5_000_000, 'x');
  await client.write(`${head.trimEnd()};\r\n a=b\r\nContent-Length: ${body.length}\r\n\r\n`);
  expect(await client.write(body)).toBeUndefined();
  const answer = await client.answer();
  expect([answer.status, answer.body, answer.header('Connection')]).toEqual([200, '<r>5000000</r>', 'close']);
  await client.closed();
  await server.stop(1_000);
});
