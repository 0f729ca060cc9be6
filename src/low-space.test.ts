import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { TestSender } from './testing/messages.ts';
import { type PostedAnswer, post } from './testing/post.ts';
import { removeDirectory, startReceiver, type TestReceiver } from './testing/receiver.ts';

const sender = new TestSender();
let receiver: TestReceiver;
afterEach(async () => {
  await receiver.stop();
  removeDirectory(receiver);
});

test('below store.minFree duplicates of every kind are answered and what was accepted is delivered; only a new message gets 503', async () => {
  receiver = await startReceiver();
  const { directory } = receiver;
  await receiver.inbox();
  // Nothing can be delivered while the inbox is not there.
  renameSync(join(directory, 'inbox'), join(directory, 'away'));
  const [small, large] = [await sender.message(), await sender.message({ bytes: 1_300_000 })];
  const first: PostedAnswer[] = [];
  for (const message of [small, large]) first.push(await post(receiver.url, message));
  expect(first.map(({ status }) => status)).toEqual([200, 200]);
  await receiver.stop();
  renameSync(join(directory, 'away'), join(directory, 'inbox'));

  receiver = await startReceiver({ directory, settings: { 'store.minFree': '9000TB' } });
  // In memory, and as a stream: the stored bytes.
  for (const [i, message] of [small, large].entries()) {
    expect((await post(receiver.url, message)).body.equals((first[i] as PostedAnswer).body)).toBe(true);
  }
  // Rebuilt: the same content in other bytes gets a receipt for those.
  const rebuilt = await sender.message({ messageId: small.messageId, sbd: small.sbd });
  const answer = await post(receiver.url, rebuilt);
  expect([answer.status, sender.judge(answer.body, rebuilt).verified]).toEqual([200, true]);
  for (const bytes of [2_000, 1_300_000]) {
    const refused = await post(receiver.url, await sender.message({ bytes }));
    expect([refused.status, refused.contentType]).toEqual([503, 'text/plain; charset=utf-8']);
    expect(Number(refused.retryAfter)).toBeGreaterThan(0);
  }
  expect((await fetch(`${receiver.origin}/health/ready`)).status).toBe(503);

  const delivered = (await receiver.inbox()).map((name) => receiver.metadata(name).messageId);
  expect(delivered.sort()).toEqual([small.messageId, large.messageId].sort());
});
