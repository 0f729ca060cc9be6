import { Agent } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { type TestMessage, TestSender } from '../testing/messages.ts';
import { eachOf, type PostedAnswer, post } from '../testing/post.ts';
import type { ServerProcess } from '../testing/server-process.ts';
import { Site } from '../testing/site.ts';

const sender = new TestSender();
const agent = new Agent({ keepAlive: true, maxSockets: 32 });
let site: Site;
afterEach(() => site.remove());

async function two(): Promise<[ServerProcess, ServerProcess]> {
  site = new Site();
  const first = await site.serve();
  return [first, await site.serve()];
}

/** The same or different messages to both processes at the same time. */
function toBoth(
  [a, b]: readonly [ServerProcess, ServerProcess],
  toFirst: TestMessage,
  toSecond = toFirst,
): Promise<[PostedAnswer, PostedAnswer]> {
  return Promise.all([post(a.url, toFirst, agent), post(b.url, toSecond, agent)]);
}

const made = (count: number) => Promise.all(Array.from({ length: count }, () => sender.message()));
const text = ({ status, contentType, body }: PostedAnswer) => `${status} ${contentType}\n${body}`;
const ids = (messages: readonly TestMessage[]) => messages.map(({ messageId }) => messageId).sort();
const inbox = () => site.inbox.entries().map(({ metadata }) => metadata.messageId);

test('the same 500 messages to two processes at once: 500 directories, and one receipt for each message', async () => {
  const servers = await two();
  const messages = await made(500);
  const wrong: string[] = [];
  await eachOf(messages, 16, async (message) => {
    const [one, other] = await toBoth(servers, message);
    const { receipt, verified } = sender.judge(one.body, message);
    if (!receipt || !verified || text(one) !== text(other)) wrong.push(`${text(one)}\n---\n${text(other)}`);
  });
  expect(wrong).toEqual([]);
  await site.delivered();
  expect(inbox().sort()).toEqual(ids(messages));
}, 120_000);

test('one id with two contents to two processes at once: one receipt, one 0003, one directory, and it stays so', async () => {
  const servers = await two();
  const pairs = await Promise.all(
    (await made(40)).map(async (one) => [one, await sender.message({ messageId: one.messageId })] as const),
  );
  const accepted: TestMessage[] = [];
  await eachOf(pairs, 8, async ([one, other]) => {
    const answers = await toBoth(servers, one, other);
    // Each again, at the other process: nobody changes his mind.
    const again = await toBoth([servers[1], servers[0]], one, other);
    const judged = [sender.judge(answers[0].body, one), sender.judge(answers[1].body, other)];
    const winner = judged.findIndex(({ receipt }) => receipt);
    const loser = 1 - winner;
    expect(judged[winner]).toEqual({ receipt: true, verified: true, error: null });
    expect(judged[loser]).toMatchObject({ receipt: false, verified: true, error: { code: 'EBMS:0003' } });
    expect(text(again[winner] as PostedAnswer)).toBe(text(answers[winner] as PostedAnswer));
    const repeated = sender.judge((again[loser] as PostedAnswer).body, [one, other][loser] as TestMessage);
    expect(repeated.error?.code).toBe('EBMS:0003');
    accepted.push([one, other][winner] as TestMessage);
  });
  await site.delivered();
  const entries = site.inbox.entries();
  const delivered = new Map(entries.map(({ metadata }) => [metadata.messageId, metadata.files[0]?.sha256]));
  expect(entries).toHaveLength(pairs.length);
  for (const { messageId, payloadSha256 } of accepted) expect(delivered.get(messageId)).toBe(payloadSha256);
  expect(site.rows('SELECT 1 FROM held')).toHaveLength(pairs.length);
}, 120_000);

test('one message with rebuilt headers to two processes at once: two receipts, one directory, and it stays so', async () => {
  const servers = await two();
  const pairs = await Promise.all((await made(40)).map(async (one) => [one, await sender.message(one)] as const));
  await eachOf(pairs, 8, async ([one, other]) => {
    const answers = await toBoth(servers, one, other);
    const again = await toBoth([servers[1], servers[0]], one, other);
    expect(again.map(text)).toEqual(answers.map(text));
    expect(text(answers[0])).not.toBe(text(answers[1]));
    expect(sender.judge(answers[0].body, one)).toEqual({ receipt: true, verified: true, error: null });
    expect(sender.judge(answers[1].body, other)).toEqual({ receipt: true, verified: true, error: null });
  });
  await site.delivered();
  expect(inbox().sort()).toEqual(ids(pairs.map(([one]) => one)));
}, 120_000);

test.each(['the one that delivers', 'the other one'])(
  'of two processes %s is killed half-way: the one that is left finishes, and each message is there once',
  async (which) => {
    const [first, second] = await two();
    const [victim, survivor] = which === 'the one that delivers' ? [first, second] : [second, first];
    const messages = await made(300);
    const receipts = new Map<string, Set<string>>();
    let answered = 0;
    await eachOf(messages, 16, async (message) => {
      const seen = new Set<string>();
      receipts.set(message.messageId, seen);
      const urls = [victim.url, survivor.url];
      const answers = await Promise.all(urls.map((url) => post(url, message, agent).catch(() => null)));
      if (++answered === 150) victim.signal('SIGKILL');
      // As a sender does whose connection broke: again, until there is a receipt.
      answers.push(await post(survivor.url, message, agent));
      for (const answer of answers) if (answer !== null) seen.add(text(answer));
    });
    expect((await victim.ended).signal).toBe('SIGKILL');
    expect([...receipts.values()].filter((seen) => seen.size !== 1)).toEqual([]);
    await site.delivered();
    expect(inbox().sort()).toEqual(ids(messages));
    expect(site.inbox.entries().filter(({ metadata }) => metadata.possibleDuplicate)).toEqual([]);
    expect(survivor.log.some(({ msg }) => msg === 'delivered')).toBe(true);
  },
  120_000,
);
