import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fetchBounded } from './fetch.ts';
import { AllowedHosts } from './hosts.ts';
import { hang, serve, startWebServer, type WebServer } from './testing/web-server.ts';

let web: WebServer;
let elsewhere: WebServer;
beforeEach(async () => {
  web = await startWebServer(serve('list'));
  elsewhere = await startWebServer(serve('secret'));
});
afterEach(async () => {
  await web.stop();
  await elsewhere.stop();
});

function get(url: string, o: { maxBytes?: number; timeout?: number; signal?: AbortSignal } = {}) {
  const signal = o.signal ?? new AbortController().signal;
  return fetchBounded(url, { hosts: new AllowedHosts([web.host]), timeout: 5000, maxBytes: 1000, ...o, signal });
}

const refused = (url: string, why: RegExp, o = {}) =>
  expect(get(url, o)).rejects.toMatchObject({ code: 'not-fetched', message: expect.stringMatching(why) });

describe('only hosts of the list are asked', () => {
  test('host and port together; nothing is allowed by itself, loopback neither', async () => {
    await expect(get(`${web.origin}/a.crl`)).resolves.toMatchObject({ bytes: Buffer.from('list') });
    await refused(`${elsewhere.origin}/a.crl`, /not in the list of allowed hosts/);
    expect(elsewhere.asked).toEqual([]);
    expect(new AllowedHosts([]).allows('http://127.0.0.1/')).toBe(false);
  });

  test.each([
    ['http://crl.test/x', true],
    ['http://CRL.test:80/x', true],
    ['https://crl.test/x', true],
    ['http://crl.test:8080/x', false],
    ['http://other.test:8080/x', true],
    ['http://other.test/x', false],
    ['http://crl.test.evil.test/x', false],
    ['http://crl.test@evil.test/x', false],
    ['http://user:password@crl.test/x', false],
    ['file:///etc/passwd', false],
    ['ftp://crl.test/x', false],
    ['not a URL', false],
  ])('%s: %s', (url, allowed) => {
    expect(new AllowedHosts(['crl.test', 'other.test:8080']).allows(url)).toBe(allowed);
  });
});

describe('a redirect', () => {
  test('on the same host is followed', async () => {
    web.answer = (request, response) => {
      if (request.url === '/new') return serve('moved')(request, response);
      response.writeHead(302, { location: '/new' }).end();
    };
    await expect(get(`${web.origin}/old`)).resolves.toMatchObject({ bytes: Buffer.from('moved') });
  });

  test('to another port or another host is not', async () => {
    web.answer = (_, response) => void response.writeHead(302, { location: `${elsewhere.origin}/x` }).end();
    await refused(web.origin, /not in the list of allowed hosts/);
    web.answer = (_, response) => void response.writeHead(307, { location: 'http://localhost/' }).end();
    await refused(web.origin, /redirected to another host \(localhost\)/);
    web.answer = (_, response) => void response.writeHead(301, { location: 'file:///etc/passwd' }).end();
    await refused(web.origin, /redirected to another host/);
    expect(elsewhere.asked).toEqual([]);
  });

  test('to itself ends', async () => {
    web.answer = (_, response) => void response.writeHead(302, { location: '/' }).end();
    await refused(web.origin, /too many redirects/);
    expect(web.asked).toHaveLength(4);
  });
});

describe('what is too large is not read', () => {
  test('by its Content-Length, by its bytes, and by its bytes once they are decompressed', async () => {
    web.answer = serve(Buffer.alloc(1001), { 'content-length': '1001' });
    await refused(web.origin, /larger than 1000 bytes/);
    web.answer = (_, response) => {
      response.writeHead(200);
      const more = () => response.write(Buffer.alloc(500), () => setImmediate(more));
      more();
    };
    await refused(web.origin, /larger than 1000 bytes/);
    web.answer = serve(gzipSync(Buffer.alloc(100_000)), { 'content-encoding': 'gzip' });
    await refused(web.origin, /larger than 1000 bytes/);
    web.answer = serve(Buffer.alloc(1000));
    await expect(get(web.origin)).resolves.toMatchObject({ bytes: Buffer.alloc(1000) });
  });
});

describe('nothing hangs', () => {
  test('on a server that says nothing', async () => {
    web.answer = hang;
    await refused(web.origin, /no whole answer within 0.2 s/, { timeout: 200 });
  });

  test('on a server that stops in the middle', async () => {
    web.answer = (_, response) => void response.writeHead(200).write('begin');
    await refused(web.origin, /no whole answer within 0.2 s/, { timeout: 200 });
  });

  test('when the receiver stops', async () => {
    web.answer = hang;
    const stopping = new AbortController();
    const asked = refused(web.origin, /stopping/, { signal: stopping.signal });
    await expect.poll(() => web.asked).toHaveLength(1);
    stopping.abort();
    await asked;
  });
});

test('a server that is not there, or that answers with an error, is named with the reason', async () => {
  web.answer = (_, response) => void response.writeHead(404).end();
  await refused(web.origin, /HTTP status 404/);
  await web.stop();
  await refused(web.origin, /ECONNREFUSED/);
});

test.each([
  [{}, null],
  [{ 'cache-control': 'max-age=600' }, 600],
  [{ 'cache-control': 'public, max-age="600"', age: '100' }, 500],
  [{ 'cache-control': 'no-cache, max-age=600' }, 0],
  [{ date: 'Mon, 30 Nov 2026 10:00:00 GMT', expires: 'Mon, 30 Nov 2026 11:00:00 GMT' }, 3600],
  [{ expires: '0' }, 0],
  [{ 'cache-control': 'max-age=60', expires: 'Mon, 30 Nov 2026 11:00:00 GMT' }, 60],
])('%o stays fresh for %s s', async (headers, maxAge) => {
  web.answer = serve('x', headers as Record<string, string>);
  expect((await get(web.origin)).maxAge).toBe(maxAge);
});
