import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { CASES } from './cases/all.ts';
import { readOptions } from './options.ts';
import { type Result, runCases } from './runner/run.ts';
import { endpoint } from './target/endpoint.ts';

const CERTS = join(import.meta.dirname, '../certs');
const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

type Behaviour = (socket: Socket) => void;

/** Something that listens and is no AS4 receiver. */
async function listener(behave: Behaviour): Promise<URL> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
    behave(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/as4`);
}

/** Says one thing again and again until the connection is gone. */
function forever(socket: Socket, words: string | Buffer, ms: number): void {
  const timer = setInterval(() => socket.writable && socket.write(words), ms);
  socket.on('close', () => clearInterval(timer));
}

/** Once the request has begun. */
const onRequest =
  (answer: Behaviour): Behaviour =>
  (socket) => {
    socket.once('data', () => answer(socket));
    socket.resume();
  };

const say = (words: string): Behaviour => onRequest((socket) => void socket.end(words, 'latin1'));

/** Each eighth case, those with the large documents not among them, and all of lost receipts and of the form of answers. */
const SOME = CASES.filter(
  ({ id }, index) => !/^DOC-2|^GZ-04/.test(id) && (index % 8 === 0 || /^AS4_CP_TA10|^RCPT/.test(id)),
);

async function run(behave: Behaviour): Promise<readonly Result[]> {
  const url = await listener(behave);
  const options = readOptions(['--url', url.href, '--timeout', '0.3']);
  if (options === 'help') throw new Error('no help was asked for');
  // What the command line gives; certs/ is where it looks without being told.
  expect(options.badCerts).toBe(CERTS);
  return runCases({ target: endpoint(url, options), cases: SOME, parallel: 4, patience: 100, progress: () => {} });
}

const of = (results: readonly Result[], verdict: Result['verdict']) =>
  results.filter((each) => each.verdict === verdict);

it.each<[string, Behaviour]>([
  ['says nothing', () => {}],
  ['reads and says nothing', (socket) => void socket.resume()],
  ['never comes to an end of its headers', onRequest((socket) => forever(socket, 'X-More: and more\r\n', 50))],
  ['promises the answer for ever', onRequest((socket) => forever(socket, 'HTTP/1.1 100 Continue\r\n\r\n', 50))],
  [
    'sends chunks of negative size',
    onRequest((s) => void s.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-6\r\n')),
  ],
  ['talks without end', onRequest((socket) => forever(socket, Buffer.alloc(1_000_000, 'abc '), 1))],
  ['closes at once', (socket) => void socket.end()],
  ['resets at once', (socket) => void socket.resetAndDestroy()],
  ['breaks off in its answer', say('HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n<S12:Envelope')],
])('an endpoint that %s is given up after a few cases, and said so', async (_words, behave) => {
  const results = await run(behave);
  expect(results).toHaveLength(SOME.length);
  const failed = of(results, 'failed');
  expect(failed.length).toBeGreaterThanOrEqual(4);
  expect(failed.length).toBeLessThan(20);
  expect(new Set(failed.map(({ kind }) => kind))).toEqual(new Set(['unanswered']));
  for (const { detail } of failed) expect(detail).toMatch(/^no (?:whole answer|answer to lose): ./);
  expect(of(results, 'passed')).toEqual([]);
  expect(new Set(of(results, 'skipped').map(({ detail }) => detail))).toContain(
    'not run: nothing is answered any more',
  );
});

const SOAP = 'HTTP/1.1 200 OK\r\nContent-Type: application/soap+xml\r\n\r\n';

it.each<[string, Behaviour]>([
  ['is a web site', say('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<!doctype html><title>Welcome</title>')],
  ['redirects', say('HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n')],
  ['answers 500', say('HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\noops')],
  ['answers 204', say('HTTP/1.1 204 No Content\r\n\r\n')],
  ['does not speak HTTP', say('SSH-2.0-OpenSSH_9.2\r\n\r\n\u0000\u00ff\u0007')],
  ['answers with lengths that are none', say('HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nabc')],
  ['answers with XML that is none', say(`${SOAP}<S12:Envelope`)],
  [
    'answers with an envelope of something else',
    say(`${SOAP}<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body/></e:Envelope>`),
  ],
  ['answers with a DOCTYPE', say(`${SOAP}<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>`)],
])('an endpoint that %s fails where a signal is due, and the suite does not', async (_words, behave) => {
  const results = await run(behave);
  expect(of(results, 'failed').filter(({ kind }) => kind === 'suite')).toEqual([]);
  const due = results.filter(
    ({ case: { id }, verdict }) => verdict !== 'skipped' && /^(?:AS4|PM|SBD|Q-DUP|RCPT|TOL)/.test(id),
  );
  expect(due.length).toBeGreaterThan(30);
  // A posted receipt may be answered with nothing.
  expect(due.filter(({ verdict, case: { id } }) => verdict === 'passed' && id !== 'AS4_CP_TA22')).toEqual([]);
  expect(results.filter(({ detail }) => detail?.startsWith('not run'))).toEqual([]);
});
