import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { certFile } from '../../certs/read.ts';
import { type TestMessage, TestSender } from '../testing/messages.ts';
import { type PostedAnswer, post } from '../testing/post.ts';
import { startReceiver } from '../testing/receiver.ts';
import { type ServeOptions, Site } from '../testing/site.ts';

const PATIENCE = 120_000;
const DAY = 86_400_000;
const sender = new TestSender();
let site: Site;
afterEach(() => site.remove());

const same = (a: PostedAnswer, b: PostedAnswer) =>
  a.status === b.status && a.contentType === b.contentType && a.body.equals(b.body);
const verified = (answer: PostedAnswer, message: TestMessage, by = sender) => by.judge(answer.body, message).verified;

const identity = (certificate: string, key: string, previousKey?: string): ServeOptions => ({
  settings: {
    'identity.certificate': certFile(`${certificate}.crt`),
    'identity.key': certFile(`${key}.key`),
    ...(previousKey === undefined ? {} : { 'identity.previousKey': certFile(`${previousKey}.key`) }),
  },
});

/** What an operator may change between two starts; none of it changes a receipt that was given. */
const CHANGES: readonly (readonly [string, ServeOptions])[] = [
  ['nothing', {}],
  ['port, path and limits', { settings: { 'http.path': '/other', 'http.maxBody': '50MB', 'limits.buffer': '4KiB' } }],
  ['window and retention', { settings: { 'duplicates.window': '1d', 'retention.payload': '1d' } }],
  ['the policy for rebuilt messages', { settings: { 'duplicates.rebuilt': 'first-receipt' } }],
  ['who is trusted how', { settings: { 'trust.revocation': 'off' } }],
  ['our certificate, on the same key', identity('receiver-renewed', 'receiver-renewed')],
  ['our key, the old one still opening', identity('receiver-next', 'receiver-next', 'receiver')],
  ['our key, the old one gone', identity('receiver-next', 'receiver-next')],
];

test(
  'a message sent again after a restart gets the stored bytes, whatever was changed in between',
  async () => {
    site = new Site();
    const first = await site.serve();
    // Small ones are known again by their bytes; large ones stream and are known by their references; a rebuilt one has a receipt of its own.
    const small = await sender.message();
    const messages = [small, await sender.message({ bytes: 1_300_000 }), await sender.message(small)];
    const answers: PostedAnswer[] = [];
    for (const message of messages) answers.push(await post(first.url, message));
    expect(answers.map((answer, i) => verified(answer, messages[i] as TestMessage))).toEqual([true, true, true]);
    expect(new Set(answers.map(({ body }) => body.toString())).size).toBe(3);
    await site.delivered();
    await first.stop();

    for (const [what, options] of CHANGES) {
      const server = await site.serve(options);
      const again = await Promise.all(messages.map((message) => post(server.url, message)));
      expect([what, ...again.map((answer, i) => same(answer, answers[i] as PostedAnswer))]).toEqual([
        what,
        true,
        true,
        true,
      ]);
      expect(await server.stop()).toEqual({ code: 0, signal: null });
    }
    expect(site.inbox.names()).toHaveLength(2);
    expect(site.handOvers()).toEqual({ delivered: 2 });
  },
  PATIENCE,
);

test(
  'after a change of key, new messages for either key are received, and receipts are signed with the new one',
  async () => {
    site = new Site();
    const server = await site.serve(identity('receiver-next', 'receiver-next', 'receiver'));
    const toNext = new TestSender('receiver-next');
    const [old, current] = [await sender.message(), await toNext.message()];
    expect(verified(await post(server.url, current), current, toNext)).toBe(true);
    const answer = await post(server.url, old);
    expect([verified(answer, old, toNext), verified(answer, old)]).toEqual([true, false]);
  },
  PATIENCE,
);

test(
  'a rebuilt copy after a change of configuration is still the same message: first-receipt gives the first bytes',
  async () => {
    site = new Site();
    const message = await sender.message();
    const server = await site.serve();
    const first = await post(server.url, message);
    await server.stop();
    const changed = await site.serve({ settings: { 'duplicates.rebuilt': 'first-receipt' } });
    expect(same(await post(changed.url, await sender.message(message)), first)).toBe(true);
    await site.delivered();
    expect(site.inbox.names()).toHaveLength(1);
  },
  PATIENCE,
);

/** Two years ahead, where the test PKI must still be valid. */
const later = () => new Date(Date.now() + 731 * DAY);

test(
  'with the clock two years ahead a message is received and delivered (in this process)',
  async () => {
    site = new Site();
    const receiver = await startReceiver({ now: () => later().getTime() });
    const message = await sender.message({ timestamp: later() });
    const answer = await post(receiver.url, message);
    expect(verified(answer, message)).toBe(true);
    expect(await receiver.inbox()).toHaveLength(1);
    await receiver.stop();
  },
  PATIENCE,
);

/** What `faketime` would set for a program whose clock it moves; it stays in between otherwise, and would not pass SIGKILL on. */
function movedClock(): Record<string, string> | null {
  try {
    const library = execFileSync('faketime', ['-m', '-f', '+731d', 'printenv', 'LD_PRELOAD'], { encoding: 'utf8' });
    // Timers go by the other clock, which stays as it is.
    return { LD_PRELOAD: library.trim(), FAKETIME: '+731d', FAKETIME_DONT_FAKE_MONOTONIC: '1' };
  } catch {
    console.warn('skipped: a whole process with the clock two years ahead needs the command faketime');
    return null;
  }
}

test(
  'with the clock of the whole process two years ahead it starts, receives, delivers and stops',
  async (t) => {
    site = new Site();
    const env = movedClock();
    if (env === null) return t.skip();
    const server = await site.serve({ env });
    const message = await sender.message({ messageId: `${randomUUID()}@later.test`, timestamp: later() });
    const answer = await post(server.url, message);
    expect(verified(answer, message)).toBe(true);
    expect(same(await post(server.url, message), answer)).toBe(true);
    await site.delivered();
    const [entry] = site.inbox.entries();
    const receivedAt = Date.parse(entry?.metadata.receivedAt ?? '');
    expect(receivedAt).toBeGreaterThan(Date.now() + 730 * DAY);
    expect(site.handOvers()).toEqual({ delivered: 1 });
  },
  PATIENCE,
);
