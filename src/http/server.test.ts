import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { Answer, IncomingRequest } from '../exchange.ts';
import type { Server, ServerOptions } from './server.ts';
import { RawClient } from './testing/raw-client.ts';
import { echoLength, startTestServer } from './testing/start.ts';

const soapType = 'application/soap+xml; charset=UTF-8';
const servers: Server[] = [];
const clients: RawClient[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) client.socket.destroy();
  await Promise.all(servers.splice(0).map((server) => server.stop(0)));
});

const logged: object[] = [];

async function start(options: Partial<ServerOptions> = {}): Promise<Server> {
  const log = { warn: (details: object) => logged.push(details), error: (details: object) => logged.push(details) };
  const server = await startTestServer({ log, ...options });
  servers.push(server);
  return server;
}

async function connectTo(server: Server): Promise<RawClient> {
  const client = await RawClient.connect(server.port);
  clients.push(client);
  return client;
}

const type = `Content-Type: ${soapType}`;
const big = Buffer.alloc(5_000_000, 'x');
const lengthOf = (body: Buffer): string => `Content-Length: ${body.length}`;

function chunked(body: Buffer, size: number): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at < body.length; at += size) {
    const piece = body.subarray(at, at + size);
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
  }
  return Buffer.concat([...pieces, Buffer.from('0\r\n\r\n')]);
}

describe('a message', () => {
  it('gets its answer to the byte, with the Content-Type as it was stored and nothing added', async () => {
    const odd = 'application/soap+xml;charset=utf-8;  action="x"';
    const server = await start({
      receive: async () => ({ status: 200, contentType: odd, body: Buffer.from([0, 255, 13, 10]) }),
    });
    const client = await connectTo(server);
    await client.post(`${type}\r\nContent-Length: 0\r\nAccept-Encoding: gzip`);
    const answer = await client.answer();
    expect(answer.body).toBe('\x00\xff\r\n');
    const names = answer.head
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(':')[0]);
    expect(answer.header('Content-Type')).toBe(odd);
    expect(names.sort()).toEqual(['Connection', 'Content-Length', 'Content-Type', 'Date', 'Keep-Alive']);
  });

  it('is received chunked and with a length, 1,000 times on one connection', async () => {
    const client = await connectTo(await start());
    for (let i = 0; i < 500; i += 1) {
      await client.post(`${type}\r\nContent-Length: 3`, 'abc');
      expect((await client.answer()).body).toBe('<r>3</r>');
      await client.post(`${type}\r\nTransfer-Encoding: chunked`, chunked(Buffer.from('abcd'), 3));
      expect((await client.answer()).body).toBe('<r>4</r>');
    }
  });

  it('may have trailers and come over HTTP/1.0', async () => {
    const client = await connectTo(await start());
    await client.post(`${type}\r\nTransfer-Encoding: chunked`, '1\r\nx\r\n0\r\nX: y\r\n\r\n');
    expect((await client.answer()).body).toBe('<r>1</r>');
    await client.post(`${type}\r\nContent-Length: 1`, 'x', 'POST /as4 HTTP/1.0');
    expect((await client.answer()).body).toBe('<r>1</r>');
    await client.closed();
  });

  it('with a folded HTTP header is told so where folds are refused (RFC 9112 §5.2): the sender has to mend it', async () => {
    const client = await connectTo(await start({ foldedHeaders: 'refuse' }));
    await client.post('Content-Type: multipart/related;\r\n boundary="b"\r\nContent-Length: 1', 'x');
    const answer = await client.answer();
    expect([answer.status, answer.header('Connection')]).toEqual([400, 'close']);
    expect(answer.body).toContain('folded');
  });

  it('may be answered without content', async () => {
    const client = await connectTo(
      await start({ receive: async () => ({ status: 204, contentType: null, body: null }) }),
    );
    await client.post(`${type}\r\nContent-Length: 3`, 'abc');
    expect((await client.answer()).head).toMatch(/^HTTP\/1\.1 204 /);
    await client.post(`${type}\r\nContent-Length: 0`);
    expect((await client.answer()).status).toBe(204);
  });

  it('comes with its length, its type and the address of its sender', async () => {
    const seen: IncomingRequest[] = [];
    const server = await start({
      receive: (request) => {
        seen.push(request);
        return echoLength(request);
      },
    });
    const client = await connectTo(server);
    await client.post(`Content-Type: Multipart/Related; boundary=b\r\nContent-Length: 2`, '--');
    await client.answer();
    await client.post(`${type}\r\nTransfer-Encoding: chunked`, chunked(Buffer.from('x'), 1));
    await client.answer();
    expect(
      seen.map(({ contentType, contentLength, remoteAddress }) => [contentType, contentLength, remoteAddress]),
    ).toEqual([
      ['Multipart/Related; boundary=b', 2, '127.0.0.1'],
      [soapType, null, '127.0.0.1'],
    ]);
  });

  it('is asked for only when it may come: Expect gets 100, a length over the limit gets 413 without it', async () => {
    const server = await start({ maxBody: 10 });
    const client = await connectTo(server);
    await client.post(`${type}\r\nContent-Length: 3\r\nExpect: 100-continue`);
    expect((await client.answer()).status).toBe(100);
    await client.write('abc');
    expect((await client.answer()).body).toBe('<r>3</r>');
    for (const headers of [`${type}\r\nContent-Length: 11`, 'Content-Type: text/xml\r\nContent-Length: 3']) {
      const refused = await connectTo(server);
      await refused.post(`${headers}\r\nExpect: 100-continue`);
      const answer = await refused.answer();
      expect(answer.status).toBe(headers.includes('text/xml') ? 415 : 413);
      expect(answer.header('Connection')).toBe('close');
      await refused.closed();
    }
  });
});

describe('a sender that uploads 5 MB before it reads', () => {
  async function uploadFirst(server: Server, headers = type): Promise<Awaited<ReturnType<RawClient['answer']>>> {
    const client = await connectTo(server);
    expect(await client.post(`${headers}\r\n${lengthOf(big)}`, big)).toBeUndefined();
    return client.answer();
  }

  it('gets its receipt', async () => {
    expect((await uploadFirst(await start())).body).toBe('<r>5000000</r>');
  });

  it('gets an error that was certain before the first byte, and keeps its connection', async () => {
    const server = await start({
      receive: async () => ({ status: 200, contentType: soapType, body: Buffer.from('<e/>') }),
    });
    const answer = await uploadFirst(server);
    expect([answer.body, answer.header('Connection')]).toEqual(['<e/>', 'keep-alive']);
  });

  it('gets an error after the first chunk', async () => {
    const receive = async (request: IncomingRequest): Promise<Answer> => {
      for await (const _ of request.body) break;
      return { status: 200, contentType: soapType, body: Buffer.from('<e/>') };
    };
    expect((await uploadFirst(await start({ receive }))).body).toBe('<e/>');
  });

  it('gets 415, 405 and 404', async () => {
    const server = await start();
    expect((await uploadFirst(server, 'Content-Type: application/json')).status).toBe(415);
    for (const [line, status] of [
      ['PUT /as4 HTTP/1.1', 405],
      ['POST /elsewhere HTTP/1.1', 404],
    ] as const) {
      const client = await connectTo(server);
      expect(await client.post(`${type}\r\n${lengthOf(big)}`, big, line)).toBeUndefined();
      expect((await client.answer()).status).toBe(status);
    }
  });

  it('gets 503 with Retry-After when the cap is reached, and is received once it is not', async () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const server = await start({
      inFlight: 1,
      receive: async (request) => {
        const answer = await echoLength(request);
        await held;
        return answer;
      },
    });
    const first = await connectTo(server);
    await first.post(`${type}\r\nContent-Length: 1`, 'x');
    while (server.inFlight() === 0) await pause(1);
    const refused = await uploadFirst(server);
    expect([refused.status, refused.header('Retry-After'), refused.header('Connection')]).toEqual([
      503,
      '30',
      'keep-alive',
    ]);
    release();
    expect((await first.answer()).status).toBe(200);
    expect((await uploadFirst(server)).status).toBe(200);
  });

  it('gets 413 for a length over the limit although nobody waits for its bytes', async () => {
    const answer = await uploadFirst(await start({ maxBody: 4_000_000 }));
    expect([answer.status, answer.header('Connection')]).toEqual([413, 'close']);
  });

  it('gets 413 in the midst of chunks', async () => {
    const client = await connectTo(await start({ maxBody: 3_000_000 }));
    expect(await client.post(`${type}\r\nTransfer-Encoding: chunked`, chunked(big, 60_000))).toBeUndefined();
    const answer = await client.answer();
    expect([answer.status, answer.body, answer.header('Connection')]).toEqual([413, 'too-large', 'close']);
    await client.closed();
  });
});

describe('limits', () => {
  it('a length over the limit is refused before a byte of the body', async () => {
    let called = false;
    const receive = async (request: IncomingRequest): Promise<Answer> => {
      called = true;
      return echoLength(request);
    };
    const client = await connectTo(await start({ maxBody: 10, receive }));
    await client.post(`${type}\r\nContent-Length: 11`);
    expect((await client.answer()).status).toBe(413);
    expect(called).toBe(false);
  });

  it('exactly the limit is received, one byte more is not', async () => {
    const server = await start({ maxBody: 10 });
    for (const [bytes, status] of [
      [10, 200],
      [11, 413],
    ] as const) {
      const client = await connectTo(server);
      await client.post(`${type}\r\nTransfer-Encoding: chunked`, chunked(Buffer.alloc(bytes), 4));
      expect((await client.answer()).status).toBe(status);
    }
  });

  it.each([
    ['Content-Type: text/xml', 415, /SOAP 1\.1/],
    ['X: y', 415, /multipart\/related/],
    [`${type}\r\nContent-Encoding: gzip`, 415, /Content-Encoding/],
    [`${type}\r\nContent-Encoding: Identity`, 200, /<r>2/],
  ])('%j gets %i', async (headers, status, text) => {
    const client = await connectTo(await start());
    await client.post(`${headers}\r\nContent-Length: 2`, 'xx');
    const answer = await client.answer();
    expect(answer.status).toBe(status);
    expect(answer.body).toMatch(text);
    await client.post(`${type}\r\nContent-Length: 1`, 'x');
    expect((await client.answer()).body).toBe('<r>1</r>');
  });

  it('a body that does not arrive in time ends in 408', async () => {
    const client = await connectTo(await start({ requestTimeoutMs: 150, headersTimeoutMs: 100 }));
    await client.post(`${type}\r\nContent-Length: 10`, 'x');
    const answer = await client.answer();
    expect([answer.status, answer.body, answer.header('Connection')]).toEqual([408, 'slow-upload', 'close']);
  });

  it('a refused body that does not arrive in time gets its refusal', async () => {
    const client = await connectTo(await start({ drainTimeoutMs: 50 }));
    await client.post('Content-Type: text/xml\r\nContent-Length: 10', 'x');
    const answer = await client.answer();
    expect([answer.status, answer.header('Connection')]).toEqual([415, 'close']);
    await client.closed();
  });

  it('a header that does not arrive in time ends in 408, one that is too large in 431, nonsense in 400', async () => {
    const server = await start({ headersTimeoutMs: 100 });
    const cases: [string, number][] = [
      ['POST /as4 HTTP/1.1\r\nHost', 408],
      [`GET /as4 HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`, 431],
      ['nonsense\r\n\r\n', 400],
      [`POST /as4 HTTP/1.1\r\nHost: x\r\n${type}\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`, 400],
      [`POST /as4 HTTP/1.1\r\nHost: x\r\n${type}\r\nContent-Length: -1\r\n\r\n`, 400],
    ];
    for (const [text, status] of cases) {
      const client = await connectTo(server);
      await client.write(text);
      const answer = await client.answer();
      expect([answer.status, answer.header('Connection')]).toEqual([status, 'close']);
      await client.closed();
    }
  });

  it('broken chunk framing ends the body with an error, not as if it were whole', async () => {
    const results: unknown[] = [];
    const receive = async (request: IncomingRequest): Promise<Answer> => {
      const answer = await echoLength(request);
      results.push(Buffer.from(answer.body!).toString());
      return answer;
    };
    const client = await connectTo(await start({ receive }));
    await client.post(`${type}\r\nTransfer-Encoding: chunked`, '3\r\nabc\r\nXX\r\n');
    expect((await client.answer()).status).toBe(400);
    await client.closed();
    while (results.length === 0) await pause(1);
    expect(results).toEqual(['aborted']);
  });

  it('a sender that goes away ends the body with an error and frees its place', async () => {
    const results: string[] = [];
    const server = await start({
      receive: async (request) => {
        const answer = await echoLength(request);
        results.push(Buffer.from(answer.body!).toString());
        return answer;
      },
    });
    const client = await connectTo(server);
    await client.post(`${type}\r\nContent-Length: 10`, 'x');
    while (server.inFlight() === 0) await pause(1);
    client.socket.destroy();
    while (server.inFlight() > 0) await pause(1);
    expect(results).toEqual(['aborted']);
  });
});

describe('a fault of ours', () => {
  it('is 500 with an incident id that the log knows, and no signal', async () => {
    logged.length = 0;
    const failure = new Error('secret');
    for (const receive of [
      () => Promise.reject(failure),
      () => {
        throw failure;
      },
    ]) {
      const client = await connectTo(await start({ receive }));
      await client.post(`${type}\r\n${lengthOf(big)}`, big);
      const answer = await client.answer();
      expect([answer.status, answer.header('Content-Type')]).toEqual([500, 'text/plain; charset=utf-8']);
      expect(answer.body).toContain('incident-1');
      expect(answer.body).not.toContain('secret');
      await client.post(`${type}\r\nContent-Length: 0`);
      expect((await client.answer()).status).toBe(500);
    }
    expect(logged).toContainEqual({ incident: 'incident-1', err: failure });
  });
});

describe('stopping', () => {
  it('finishes what is in flight, says 503 to new messages after their upload, and closes every connection', async () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const server = await start({
      receive: async (request) => {
        const answer = await echoLength(request);
        await held;
        return answer;
      },
    });
    const working = await connectTo(server);
    await working.post(`${type}\r\nContent-Length: 1`, 'x');
    const idle = await connectTo(server);
    await idle.post('X: y', '', 'GET /health/live HTTP/1.1');
    expect((await idle.answer()).status).toBe(200);
    const silent = await connectTo(server);
    while (server.inFlight() === 0) await pause(1);

    const stopped = server.stop(20_000);
    const late = await connectTo(server);
    expect(await late.post(`${type}\r\n${lengthOf(big)}`, big)).toBeUndefined();
    const refused = await late.answer();
    expect([refused.status, refused.header('Retry-After'), refused.header('Connection')]).toEqual([503, '30', 'close']);
    await idle.post(`${type}\r\nContent-Length: 1`, 'x');
    expect((await idle.answer()).status).toBe(503);
    const ready = await connectTo(server);
    await ready.post('X: y', '', 'GET /health/ready HTTP/1.1');
    expect((await ready.answer()).status).toBe(503);

    release();
    const answer = await working.answer();
    expect([answer.status, answer.body, answer.header('Connection')]).toEqual([200, '<r>1</r>', 'close']);
    expect(await stopped).toBe(true);
    await Promise.all([late.closed(), idle.closed(), silent.closed(), working.closed()]);
  });

  it('cuts what is not finished after the grace time', async () => {
    const server = await start({ receive: () => new Promise(() => {}) });
    const client = await connectTo(server);
    await client.post(`${type}\r\nContent-Length: 1`, 'x');
    while (server.inFlight() === 0) await pause(1);
    expect(await server.stop(50)).toBe(false);
    await client.closed();
  });

  it('is immediate with nothing in flight, although connections are open', async () => {
    const server = await start();
    const client = await connectTo(server);
    await client.post(`${type}\r\nContent-Length: 1`, 'x');
    await client.answer();
    expect(await server.stop(20_000)).toBe(true);
    await client.closed();
  });
});

it('express finds its prototypes in place and has nothing to exchange', async () => {
  const exchanged: object[] = [];
  const setPrototypeOf = Object.setPrototypeOf;
  const server = await start();
  Object.setPrototypeOf = (object: object, prototype: object | null) => {
    if (Object.getPrototypeOf(object) !== prototype) exchanged.push(object);
    return setPrototypeOf(object, prototype);
  };
  try {
    const client = await connectTo(server);
    await client.post(`${type}\r\nContent-Length: 1`, 'x');
    expect((await client.answer()).body).toBe('<r>1</r>');
  } finally {
    Object.setPrototypeOf = setPrototypeOf;
  }
  expect(exchanged).toEqual([]);
});

it('a port that is taken is an error of start', async () => {
  const server = await start();
  await expect(start({ port: server.port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
});
