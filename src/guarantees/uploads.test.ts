import { randomBytes } from 'node:crypto';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { type TestMessage, TestSender } from '../testing/messages.ts';
import { openUpload, type PostedAnswer, post, type Upload } from '../testing/post.ts';
import type { ServerProcess } from '../testing/server-process.ts';
import { Site } from '../testing/site.ts';

/*
 * Clients that upload 5 MB before they read anything: an answer that came too early would be lost to them with a reset connection. And
 * SIGTERM with messages in flight, seen from outside.
 */
const PATIENCE = 60_000;
const sender = new TestSender();
let site: Site;
let good: TestMessage;
let forged: TestMessage;
beforeAll(async () => {
  good = await fiveMegabytes();
  forged = tamperedWith(await fiveMegabytes());
});
afterEach(() => site.remove());

function fiveMegabytes(): Promise<TestMessage> {
  return sender.message({ further: [randomBytes(5_000_000)] });
}

/** Another signature, of the same length: known to be wrong once the envelope has been read, which is in the first kilobytes. */
function tamperedWith(message: TestMessage): TestMessage {
  const body = Buffer.from(message.body);
  const at = body.indexOf('SignatureValue>') + 40;
  body[at] = body[at] === 0x41 ? 0x42 : 0x41;
  return { ...message, body };
}

async function uploadedThenRead(url: string, message: TestMessage): Promise<PostedAnswer> {
  const upload = await openUpload(url, message);
  await upload.write();
  return upload.read();
}

/** An upload of which the head has been seen by the receiver: it is in flight. */
async function inFlight(url: string, message: TestMessage): Promise<Upload> {
  const upload = await openUpload(url, message);
  await upload.write(1000);
  await fetch(new URL('/health/live', url));
  return upload;
}

const isReceipt = (answer: PostedAnswer, message: TestMessage) => sender.judge(answer.body, message).verified;
const code = (answer: PostedAnswer) => sender.judge(answer.body, forged).error?.code;

async function stopping(server: ServerProcess): Promise<void> {
  server.signal('SIGTERM');
  await server.says('stopping');
}

test(
  '5 MB uploaded before reading: the receipt, the error and the refusal all arrive',
  async () => {
    site = new Site({ 'http.inFlight': '1' });
    const { url } = await site.serve();
    const receipt = await uploadedThenRead(url, good);
    expect([receipt.status, isReceipt(receipt, good)]).toEqual([200, true]);
    // Again, as a stream: known by its references before the payload has arrived, and answered after it all the same.
    expect((await uploadedThenRead(url, good)).body.equals(receipt.body)).toBe(true);
    const error = await uploadedThenRead(url, forged);
    expect([error.status, code(error)]).toEqual([200, 'EBMS:0101']);
    const other = await inFlight(url, await sender.message());
    const refused = await uploadedThenRead(url, good);
    expect([refused.status, refused.contentType]).toEqual([503, 'text/plain; charset=utf-8']);
    expect(Number(refused.retryAfter)).toBeGreaterThan(0);
    other.destroy();
  },
  PATIENCE,
);

test(
  'the same while it is being stopped: what was in flight is finished, what is new gets 503, and it ends with 0',
  async () => {
    site = new Site();
    const server = await site.serve();
    const [first, second] = [await inFlight(server.url, good), await inFlight(server.url, forged)];
    await stopping(server);
    const refused = await uploadedThenRead(server.url, await fiveMegabytes());
    expect(refused.status).toBe(503);
    await first.write();
    const receipt = await first.read();
    expect([receipt.status, isReceipt(receipt, good)]).toEqual([200, true]);
    await second.write();
    const error = await second.read();
    expect([error.status, code(error)]).toEqual([200, 'EBMS:0101']);
    expect(await server.ended).toEqual({ code: 0, signal: null });
    // What was accepted last is delivered now or by the next process; here by either.
    await site.serve();
    await site.delivered();
    expect(site.inbox.entries().map(({ metadata }) => metadata.messageId)).toEqual([good.messageId]);
  },
  PATIENCE,
);

test(
  'SIGTERM with 32 messages in flight: all are answered, and it ends with 0',
  async () => {
    site = new Site();
    const server = await site.serve();
    const messages = await Promise.all(
      Array.from({ length: 32 }, (_, i) => sender.message({ bytes: i % 4 === 0 ? 1_200_000 : 3_000 })),
    );
    const uploads = await Promise.all(messages.map((message) => openUpload(server.url, message)));
    await Promise.all(uploads.map((upload) => upload.write(1000)));
    await fetch(new URL('/health/live', server.url));
    await stopping(server);
    expect((await post(server.url, await sender.message())).status).toBe(503);
    expect((await fetch(new URL('/health/ready', server.url))).status).toBe(503);
    const answers = await Promise.all(
      uploads.map(async (upload) => {
        await upload.write();
        return upload.read();
      }),
    );
    expect(answers.map((answer, i) => isReceipt(answer, messages[i] as TestMessage))).toEqual(messages.map(() => true));
    expect(await server.ended).toEqual({ code: 0, signal: null });
    const next = await site.serve();
    for (const [i, message] of messages.entries()) {
      expect((await post(next.url, message)).body.equals((answers[i] as PostedAnswer).body)).toBe(true);
    }
    await site.delivered();
    expect(site.inbox.entries()).toHaveLength(32);
  },
  PATIENCE,
);
