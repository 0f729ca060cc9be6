import { Agent } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { TestSender } from '../testing/messages.ts';
import { eachOf, type PostedAnswer, post } from '../testing/post.ts';
import { Site } from '../testing/site.ts';

const sender = new TestSender();
let site: Site;
afterEach(() => site.remove());

test.each([
  ['buffered', 2_000],
  ['streamed', 1_300_000],
])(
  'the same bytes 1,000 times, 50 at a time, give one directory and 1,000 identical answers (%s)',
  async (how, bytes) => {
    site = new Site();
    const server = await site.serve();
    const message = await sender.message({ bytes });
    const agent = new Agent({ keepAlive: true, maxSockets: 50 });
    const answers: PostedAnswer[] = [];
    const times = how === 'buffered' ? 1000 : 60;
    await eachOf(Array.from({ length: times }), 50, async () => {
      answers.push(await post(server.url, message, agent));
    });
    agent.destroy();

    const [first] = answers as [PostedAnswer];
    expect(answers).toHaveLength(times);
    expect(new Set(answers.map(({ body }) => body.toString('latin1'))).size).toBe(1);
    expect(new Set(answers.map(({ status, contentType }) => `${status} ${contentType}`)).size).toBe(1);
    expect(sender.judge(first.body, message)).toEqual({ receipt: true, verified: true, error: null });
    await site.delivered();
    const entries = site.inbox.entries();
    expect(entries.map(({ metadata }) => metadata.messageId)).toEqual([message.messageId]);
    expect(entries[0]?.metadata.files[0]?.sha256).toBe(message.payloadSha256);
  },
  120_000,
);
