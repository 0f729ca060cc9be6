import { randomUUID } from 'node:crypto';
import type { Case } from '../case.ts';
import { parseAnswer } from '../wire/head.ts';
import { duplicate, RETRY, repeatable } from './duplicate-case.ts';

/** What comes again under its MessageId, and what only looks like it. */
export const DUPLICATE_CASES: readonly Case[] = [
  duplicate(
    '01',
    RETRY,
    'The same octets again: the same receipt to the octet, Content-Type included; one delivery.',
    async (t) => {
      const message = t.make();
      t.same(await t.accepted(message), await t.accepted(message));
      t.delivered(message, 1);
    },
  ),
  duplicate('02', RETRY, 'The same octets ten times: the same receipt each time; one delivery.', async (t) => {
    const message = t.make();
    const first = await t.accepted(message);
    for (let n = 1; n < 10; n++) t.same(first, await t.send(message));
    t.delivered(message, 1);
  }),
  duplicate('03', RETRY, 'The same octets, chunked now: the same receipt.', async (t) => {
    const message = t.make();
    t.same(await t.accepted(message), await t.accepted(message, { chunked: 700 }));
    t.delivered(message, 1);
  }),
  duplicate(
    '04',
    RETRY,
    'The same octets from a client that takes gzip: the same receipt, without Content-Encoding.',
    async (t) => {
      const message = t.make();
      const first = await t.accepted(message);
      const second = await t.accepted(message, { extraHeaders: ['Accept-Encoding: gzip, deflate, br'] });
      if (second.headers['content-encoding'] !== undefined) t.fail('changed', 'the second one has a Content-Encoding');
      t.same(first, second);
      t.delivered(message, 1);
    },
  ),
  duplicate('05', RETRY, 'Encrypted again, all digests equal: the same receipt; one delivery.', async (t) => {
    const spec = repeatable();
    const message = t.make(spec());
    t.same(await t.accepted(message), await t.accepted(t.make(spec())));
    t.delivered(message, 1);
  }),
  duplicate('06', RETRY, 'Packed again with another boundary and other MIME headers: the same receipt.', async (t) => {
    const spec = repeatable();
    const message = t.make(spec());
    const again = { ...spec(), mime: { boundary: `again-${randomUUID()}`, headerCase: 'lower' as const } };
    t.same(await t.accepted(message), await t.accepted(t.make(again)));
    t.delivered(message, 1);
  }),
  duplicate('07', RETRY, 'Signed again over equal references: the same receipt.', async (t) => {
    const spec = repeatable();
    const message = t.make(spec());
    const again = t.make({ ...spec(), signature: { signedInfoPrefixes: 'S12' } });
    t.same(await t.accepted(message), await t.accepted(again));
    t.delivered(message, 1);
  }),
  duplicate(
    '08',
    RETRY,
    'Signed again with the renewed key of the same access point, references equal: the same receipt.',
    async (t) => {
      const spec = repeatable();
      const message = t.make(spec());
      t.same(await t.accepted(message), await t.accepted(t.make({ ...spec(), as: 'bad:sender-renewed' })));
      t.delivered(message, 1);
    },
    { needs: ['bad:sender-renewed'] },
  ),
  duplicate('25', RETRY, 'After 100 other messages the retry still gets the first receipt.', async (t) => {
    const message = t.make();
    const first = await t.accepted(message);
    const others = Array.from({ length: 100 }, () => t.make({ document: null }));
    for (let at = 0; at < others.length; at += 10) {
      await Promise.all(others.slice(at, at + 10).map((other) => t.send(other)));
    }
    t.same(first, await t.accepted(message));
    t.delivered(message, 1);
  }),
  duplicate('26', 'eD §1.4.2.4', 'A ping that comes twice gets the same receipt twice.', async (t) => {
    const message = t.make({ document: null });
    t.same(await t.accepted(message), await t.accepted(message));
    t.nothing(message);
  }),
  duplicate(
    '27',
    'Core §5.2.2.1',
    'MessageIds that differ only in case are two messages.',
    async (t) => {
      const id = `${randomUUID()}@sender.example`;
      const [lower, upper] = [id, id.toUpperCase()].map((messageId) => t.make({ header: { messageId } }));
      if (lower === undefined || upper === undefined) return;
      await t.accepted(lower);
      await t.accepted(upper);
      t.delivered(lower, 1);
      t.delivered(upper, 1);
    },
    { basis: 'norm' },
  ),
  duplicate(
    '28',
    'SBDH; facts §8.3',
    'A new MessageId with the same SBD: a receipt of its own; not delivered again.',
    async (t) => {
      const sbd = { instanceIdentifier: randomUUID(), created: new Date().toISOString() };
      const [message, again] = [t.make({ sbd }), t.make({ sbd })];
      await t.accepted(message);
      await t.accepted(again);
      t.delivered(message, 1);
    },
  ),
  duplicate(
    '29',
    'facts §8.3',
    'The same document in another envelope under another MessageId is delivered as well.',
    async (t) => {
      const [message, again] = [t.make(), t.make()];
      await t.accepted(message);
      await t.accepted(again);
      t.delivered(message, 1);
      t.delivered(again, 1);
    },
    { basis: 'norm' },
  ),
  duplicate(
    '30',
    RETRY,
    'A message with several payloads that comes twice: the same receipt; each payload once.',
    async (t) => {
      const message = t.make({
        more: [{ content: Buffer.from(`%PDF-1.4 ${randomUUID()}`), mimeType: 'application/pdf' }],
      });
      t.same(await t.accepted(message), await t.accepted(message));
      t.delivered(message, 1);
    },
  ),
  duplicate(
    '31',
    RETRY,
    'After the receiver was killed and started again the retry gets the same receipt; one delivery.',
    async (t) => {
      const message = t.make();
      const first = await t.accepted(message);
      await t.target.restart?.();
      t.same(first, await t.accepted(message));
      t.delivered(message, 1);
    },
    { needs: ['restart'], when: 'alone' },
  ),
  duplicate(
    '32',
    RETRY,
    'A receipt is lost in the middle, and again just before its end: what was seen is the beginning of the one that comes in the end.',
    async (t) => {
      const message = t.make();
      const partials = [await t.sendAndLose(message, 'mid-body'), await t.sendAndLose(message, 'last-octet')];
      const { body } = await t.accepted(message);
      for (const partial of partials) {
        const seen = parseAnswer(partial, false)?.body ?? Buffer.alloc(0);
        if (seen.length === 0) t.fail('form', 'the answer was too short to be cut');
        if (!body.subarray(0, seen.length).equals(seen)) t.fail('changed', 'the retry gets another receipt');
      }
      t.delivered(message, 1);
    },
  ),
];
