import { Agent } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { type TestMessage, TestSender } from '../testing/messages.ts';
import { eachOf, type PostedAnswer, post } from '../testing/post.ts';
import { seeded } from '../testing/seeded.ts';
import { Site, until } from '../testing/site.ts';

const sender = new TestSender();
const agent = new Agent({ keepAlive: true, maxSockets: 32 });
let site: Site;
afterEach(() => site.remove());

/** A retry storm as of 14,000 repeats of 200 messages; the whole one, with figures, is `bench/storm.ts`. */
const originals = 20;
const repeats = 140;
const between = 100;
const rowsPerMessage = 100;

const made = (count: number) => Promise.all(Array.from({ length: count }, () => sender.message()));
const text = ({ status, contentType, body }: PostedAnswer) => `${status} ${contentType}\n${body}`;

test('retry storm: every answer is the stored one, what is new gets in between, and the audit stays small', async () => {
  site = new Site();
  const { url } = await site.serve();
  const [old, fresh] = [await made(originals), await made(between)];
  const first = new Map<TestMessage, string>();
  for (const message of old) first.set(message, text(await post(url, message, agent)));

  const random = seeded(20261130);
  const storm = [...Array.from({ length: repeats }, () => old).flat(), ...fresh]
    .map((message) => ({ message, at: random() }))
    .sort((a, b) => a.at - b.at);
  const wrong: string[] = [];
  await eachOf(storm, 32, async ({ message }) => {
    const answer = await post(url, message, agent);
    const stored = first.get(message);
    const right = stored === undefined ? sender.judge(answer.body, message).receipt : text(answer) === stored;
    if (!right) wrong.push(text(answer));
  });
  expect(wrong).toEqual([]);

  const recorded = () => {
    const rows = site
      .rows<{ n: number }>(`SELECT count(*) AS n FROM decision WHERE decision = 'suppress' GROUP BY message`)
      .map(({ n }) => n);
    const counters = site.rows<{ n: number }>('SELECT count AS n FROM suppression').map(({ n }) => n);
    return { rows, counters, sum: [...rows, ...counters].reduce((a, b) => a + b, 0) };
  };
  await until(() => recorded().sum === originals * repeats);
  const { rows, counters } = recorded();
  expect(rows).toEqual(Array.from({ length: originals }, () => rowsPerMessage));
  // One for each message; two when the storm rages over the turn of an hour.
  expect(counters.length).toBeLessThanOrEqual(2 * originals);
  await site.delivered();
  const ids = [...old, ...fresh].map(({ messageId }) => messageId).sort();
  expect(
    site.inbox
      .entries()
      .map(({ metadata }) => metadata.messageId)
      .sort(),
  ).toEqual(ids);
}, 120_000);
