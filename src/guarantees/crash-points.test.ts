import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { CheckpointName } from '../checkpoint.ts';
import { type TestMessage, TestSender } from '../testing/messages.ts';
import { eachOf, type PostedAnswer, post } from '../testing/post.ts';
import type { ServerProcess } from '../testing/server-process.ts';
import { Site } from '../testing/site.ts';

const sender = new TestSender();
let site: Site;

/** [where, whether the message is stored by then, whether its sender may have the receipt by then] */
const POINTS: readonly [CheckpointName, 'stored' | 'not stored'][] = [
  ['before-commit', 'not stored'],
  ['after-commit', 'stored'],
  ['staging-half', 'stored'],
  ['staged', 'stored'],
  ['handing-over', 'stored'],
  ['renamed', 'stored'],
];

describe.each([
  ['small', 2_000],
  ['large, streamed and kept in a file,', 1_300_000],
])('killed with a message %s', (_, bytes) => {
  beforeAll(async () => {
    site = new Site();
    // The first start makes the database and marks the folders; its commits are not those that this is about.
    await (await site.serve()).stop();
  });
  afterAll(() => site.remove());

  test.each(POINTS)(
    'at %s: the retry gets one receipt for good, the backend one directory',
    async (point, stored) => {
      const before = site.rows('SELECT 1 FROM message').length;
      const message = await sender.message({ bytes });
      const crashing = await site.serve({ crashAt: point });
      const early = await post(crashing.url, message).catch(() => null);
      expect(await crashing.ended).toEqual({ code: null, signal: 'SIGKILL' });
      expect(site.rows('SELECT 1 FROM message')).toHaveLength(before + (stored === 'stored' ? 1 : 0));
      // What is visible is complete, also at this moment; entries() throws otherwise.
      expect(site.inbox.entries()).toHaveLength(point === 'renamed' ? 1 : 0);

      const server = await site.serve();
      const answers = [early, await post(server.url, message), await post(server.url, message)];
      await site.delivered();
      answers.push(await post(server.url, message));
      await server.stop();
      expectOneReceipt(answers, message);
      const [entry, ...others] = site.inbox.consume(join(site.directory, 'consumed'));
      expect(others).toEqual([]);
      expect(entry?.metadata).toMatchObject({ messageId: message.messageId, possibleDuplicate: false });
      expect(entry?.metadata.files.find(({ role }) => role === 'payload')?.sha256).toBe(message.payloadSha256);
      expect(decisions(server)).toEqual([stored === 'stored' ? 'duplicate' : 'accepted', 'duplicate', 'duplicate']);
      // Nothing of what the crash cut short is left behind.
      expect(readdirSync(site.staging).filter((name) => !name.startsWith('.'))).toEqual([]);
      expect(readdirSync(join(site.directory, 'spool'))).toEqual([]);
    },
    120_000,
  );
});

test('killed again and again at every point, with several messages in a batch: each is there once, with one receipt', async () => {
  site = new Site();
  onTestFinished(() => site.remove());
  await (await site.serve()).stop();
  const messages = await Promise.all(Array.from({ length: 12 }, () => sender.message()));
  const answers = new Map<TestMessage, (PostedAnswer | null)[]>(messages.map((message) => [message, []]));
  let crashes = 0;
  for (const [point] of POINTS) {
    for (const n of [2, 3]) {
      const server = await site.serve({ crashAt: `${point}:${n}` });
      await eachOf(messages, 12, async (message) => {
        answers.get(message)?.push(await post(server.url, message).catch(() => null));
      });
      // Some points are not passed that often once everything is delivered; a new message passes each.
      const ended = await Promise.race([server.ended, more(server, messages, answers)]);
      if (ended !== null) crashes++;
      await server.kill();
      site.inbox.entries();
    }
  }
  const server = await site.serve();
  for (const message of messages) answers.get(message)?.push(await post(server.url, message));
  await site.delivered();
  for (const message of messages) expectOneReceipt(answers.get(message) ?? [], message);
  const found = site.inbox.entries().map(({ metadata }) => metadata.messageId);
  expect(found.sort()).toEqual(messages.map(({ messageId }) => messageId).sort());
  expect(crashes).toBe(2 * POINTS.length);
}, 300_000);

/** Sends new messages until the process has had enough. */
async function more(
  server: ServerProcess,
  messages: TestMessage[],
  answers: Map<TestMessage, (PostedAnswer | null)[]>,
): Promise<null> {
  let alive = true;
  void server.ended.then(() => {
    alive = false;
  });
  for (let i = 0; alive && i < 50; i++) {
    const message = await sender.message();
    messages.push(message);
    answers.set(message, [await post(server.url, message).catch(() => null)]);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return alive ? null : new Promise(() => {});
}

function expectOneReceipt(answers: readonly (PostedAnswer | null)[], message: TestMessage): void {
  const given = answers.filter((answer) => answer !== null);
  expect(new Set(given.map(({ status, contentType, body }) => `${status} ${contentType}\n${body}`)).size).toBe(1);
  expect(sender.judge(given[0]?.body ?? Buffer.alloc(0), message)).toEqual({
    receipt: true,
    verified: true,
    error: null,
  });
}

function decisions(server: ServerProcess): (string | undefined)[] {
  return server.log.filter(({ msg }) => msg === 'message').map(({ decision }) => decision);
}
