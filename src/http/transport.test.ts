import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestMessage, TestSender } from '../testing/messages.ts';
import { post } from '../testing/post.ts';
import { removeDirectory, startReceiver, type TestReceiver } from '../testing/receiver.ts';
import { type RawAnswer, RawClient } from './testing/raw-client.ts';

const sender = new TestSender();
let receiver: TestReceiver;
let port: number;
let received = 0;

beforeAll(async () => {
  receiver = await startReceiver({
    settings: {
      'http.headersTimeout': '1s',
      'http.requestTimeout': '2s',
      'http.failuresPerMinute': '0',
    },
  });
  port = Number(new URL(receiver.url).port);
});
afterAll(async () => {
  await receiver.stop();
  removeDirectory(receiver);
});

/** Whatever happened before left nothing behind, and the next good message is received. */
async function expectNextMessage(message?: TestMessage): Promise<void> {
  const good = message ?? (await sender.message());
  expect((await receiver.quittance.store.messages({ limit: 100 })).length).toBe(received);
  const answer = await post(receiver.url, good);
  received += 1;
  expect(answer.status).toBe(200);
  expect(answer.body.toString()).toContain('NonRepudiationInformation');
  expect((await receiver.inbox()).length).toBe(received);
}

function headOf(message: TestMessage, fields: string): string {
  return `POST /as4 HTTP/1.1\r\nHost: x\r\nContent-Type: ${message.contentType}\r\n${fields}\r\n\r\n`;
}

/** Sends the pieces one after another, until all are sent or somebody answers; then whatever comes back. */
async function trickle(pieces: Iterable<string | Buffer>, milliseconds: number): Promise<string> {
  const client = await RawClient.connect(port);
  const answer = client.rest();
  for (const piece of pieces) {
    if (client.ended || client.socket.destroyed) break;
    await client.write(piece);
    await pause(milliseconds);
  }
  const text = await answer;
  client.socket.destroy();
  return text;
}

function* endless(piece: string): Generator<string> {
  for (;;) yield piece;
}

async function once(bytes: (string | Buffer)[]): Promise<RawAnswer> {
  const client = await RawClient.connect(port);
  for (const piece of bytes) await client.write(piece);
  const answer = await client.answer();
  client.socket.destroy();
  return answer;
}

// Where a pattern also takes '', the upload may still have been going on when Node closed, and the reset took the answer with it.
describe('after each of these the next message is received, and nothing is left behind', () => {
  it('a header that arrives byte by byte gets 408', async () => {
    function* pieces(): Generator<string> {
      yield 'POST /as4 HTTP/1.1\r\nHost: x\r\nX: ';
      yield* endless('y');
    }
    expect(await trickle(pieces(), 20)).toMatch(/^HTTP\/1\.1 408 /);
    await expectNextMessage();
  });

  it('a body that arrives byte by byte gets 408', async () => {
    const message = await sender.message();
    function* pieces(): Generator<string | Buffer> {
      yield headOf(message, `Content-Length: ${message.body.length}`);
      for (const byte of message.body) yield Buffer.of(byte);
    }
    expect(await trickle(pieces(), 100)).toMatch(/^HTTP\/1\.1 408 /);
    await expectNextMessage(message);
  });

  it('an upload that ends early, at each twentieth of the body', async () => {
    const message = await sender.message({ bytes: 100_000 });
    for (let n = 0; n < 20; n += 1) {
      const client = await RawClient.connect(port);
      await client.write(headOf(message, `Content-Length: ${message.body.length}`));
      await client.write(message.body.subarray(0, Math.floor((message.body.length * n) / 20)));
      if (n % 2 === 0) client.socket.destroy();
      else client.socket.resetAndDestroy();
    }
    await expectNextMessage(message);
  });

  it('a Content-Length that promises more', async () => {
    const message = await sender.message();
    const client = await RawClient.connect(port);
    await client.write(headOf(message, `Content-Length: ${message.body.length + 10}`));
    await client.write(message.body);
    client.socket.end();
    expect(await client.rest()).not.toContain('NonRepudiationInformation');
    await expectNextMessage(message);
  });

  it('a Content-Length that promises less: the rest is no request', async () => {
    const message = await sender.message();
    const client = await RawClient.connect(port);
    await client.write(headOf(message, `Content-Length: ${message.body.length - 500}`));
    await client.write(message.body);
    const text = await client.rest();
    expect(text).not.toContain('NonRepudiationInformation');
    expect(text.match(/HTTP\/1\.1 /g)?.length ?? 0).toBeLessThanOrEqual(1);
    await expectNextMessage(message);
  });

  it('both length headers get 400', async () => {
    const message = await sender.message();
    const fields = `Content-Length: ${message.body.length}\r\nTransfer-Encoding: chunked`;
    expect((await once([headOf(message, fields)])).status).toBe(400);
    await expectNextMessage(message);
  });

  it('100,000 header lines get 431', async () => {
    const lines = 'X: y\r\n'.repeat(100_000);
    expect(await trickle([`POST /as4 HTTP/1.1\r\n${lines}\r\n`], 0)).toMatch(/^HTTP\/1\.1 431 |^$/);
    await expectNextMessage();
  });

  it('a boundary of 1 MB gets 431', async () => {
    const line = `Content-Type: multipart/related; boundary="${'b'.repeat(1_000_000)}"`;
    expect(await trickle([`POST /as4 HTTP/1.1\r\nHost: x\r\n${line}\r\n\r\n`], 0)).toMatch(/^HTTP\/1\.1 431 |^$/);
    await expectNextMessage();
  });

  it('a header line without end gets 431', async () => {
    function* pieces(): Generator<string> {
      yield 'POST /as4 HTTP/1.1\r\nHost: x\r\nX: ';
      yield* endless('y'.repeat(1000));
    }
    expect(await trickle(pieces(), 1)).toMatch(/^HTTP\/1\.1 431 |^$/);
    await expectNextMessage();
  });
});

describe('a good message is received', () => {
  it('with Expect: 100-continue', async () => {
    const message = await sender.message();
    const client = await RawClient.connect(port);
    await client.write(headOf(message, `Content-Length: ${message.body.length}\r\nExpect: 100-continue`));
    expect((await client.answer()).status).toBe(100);
    await client.write(message.body);
    const answer = await client.answer();
    received += 1;
    expect([answer.status, answer.body.includes('NonRepudiationInformation')]).toEqual([200, true]);
    await expectNextMessage();
  });

  it('over HTTP/1.0', async () => {
    const message = await sender.message();
    const head = headOf(message, `Content-Length: ${message.body.length}`).replace('HTTP/1.1', 'HTTP/1.0');
    const answer = await once([head, message.body]);
    received += 1;
    expect([answer.status, answer.body.includes('NonRepudiationInformation')]).toEqual([200, true]);
    await expectNextMessage();
  });

  it('with a folded Content-Type, as JavaMail writes it', async () => {
    const message = await sender.message();
    const folded = { ...message, contentType: message.contentType.replaceAll('; ', ';\r\n\t') };
    expect(folded.contentType).toContain('\r\n');
    const answer = await once([
      Buffer.concat([Buffer.from(headOf(folded, `Content-Length: ${message.body.length}`)), message.body]),
    ]);
    received += 1;
    expect([answer.status, answer.body.includes('NonRepudiationInformation')]).toEqual([200, true]);
    await expectNextMessage();
  });

  it('while 2,000 connections are idle', async () => {
    // Both ends of each lie in this process.
    const files = Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? 0);
    const idle: RawClient[] = [];
    const count = Math.min(2_000, Math.floor((files - 500) / 2));
    // One source may not have so many.
    for (let n = 0; n < count; n += 1) idle.push(await RawClient.connect(port, `127.0.0.${2 + (n % 4)}`));
    for (let n = 0; n < 5; n += 1) await expectNextMessage();
    // Those that never send anything are not kept for ever.
    await Promise.all(idle.map((client) => client.closed()));
    for (const client of idle) client.socket.destroy();
    await expectNextMessage();
  });
});
