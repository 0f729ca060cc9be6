import { randomUUID } from 'node:crypto';
import type { Case } from '../case.ts';
import { breakSignature, duplicate, named, repeatable } from './duplicate-case.ts';

/** Copies in flight at once, and repeats of what had failed. */
export const AT_ONCE_CASES: readonly Case[] = [
  duplicate(
    '16',
    'Core §8.2.2',
    'Two copies in flight at once: the same receipt for both; one delivery.',
    async (t) => {
      const spec = repeatable();
      const message = t.make(spec());
      const [first, second] = await Promise.all([t.accepted(message), t.accepted(message)]);
      t.same(first, second);
      t.delivered(message, 1);
    },
  ),
  duplicate(
    '17',
    'Core §8.2.2',
    'Eight copies in flight at once: the same receipt for all; one delivery.',
    async (t) => {
      const message = t.make();
      const replies = await Promise.all(Array.from({ length: 8 }, () => t.accepted(message)));
      for (const reply of replies) t.same(replies[0] ?? reply, reply);
      t.delivered(message, 1);
    },
  ),
  duplicate(
    '18',
    'Core §8.2.2',
    'A copy and a rebuilt one in flight at once: a receipt for each; one delivery.',
    async (t) => {
      const spec = { ...named(), sbd: { instanceIdentifier: randomUUID(), created: new Date().toISOString() } };
      const [message, again] = [t.make(spec), t.make(spec)];
      await Promise.all([t.accepted(message), t.accepted(again)]);
      t.delivered(message, 1);
    },
  ),
  duplicate(
    '19',
    'facts §2.5',
    'Two documents under one MessageId in flight at once: one receipt, one EBMS:0003.',
    async (t) => {
      const spec = named();
      const messages = [t.make(spec), t.make({ ...spec, document: 'creditNote' })];
      const replies = await Promise.all(messages.map((message) => t.send(message)));
      const won = replies.map(({ read }) => 'signal' in read && read.signal.receipt !== null);
      if (won.filter((each) => each).length !== 1) t.fail('accepted', `${won.filter((each) => each).length} receipts`);
      for (const [index, message] of messages.entries()) t.delivered(message, won[index] === true ? 1 : 0);
      const errors = replies.flatMap(({ read }) => ('signal' in read ? read.signal.errors : []));
      if (errors[0]?.code !== 'EBMS:0003') t.fail('other-code', `the other one got ${errors[0]?.code ?? 'no error'}`);
    },
  ),
  duplicate(
    '20',
    'eD §1.4.3.2; facts §2.1.11',
    'After a failed signature the right message is new: receipt and delivery.',
    async (t) => {
      const spec = repeatable();
      const broken = t.make({
        ...spec(),
        editEnvelope: breakSignature,
      });
      t.error(await t.send(broken), broken, { codes: ['0101'] });
      const message = t.make(spec());
      await t.accepted(message);
      t.delivered(message, 1);
    },
    { basis: 'norm' },
  ),
  duplicate(
    '21',
    'eD §1.4.3.2; facts §2.1.11',
    'After a damaged ciphertext the right message is new: receipt and delivery.',
    async (t) => {
      const spec = repeatable();
      const broken = t.make({ ...spec(), editCipher: (octets) => Buffer.from(octets).fill(0, 20, 21) });
      const message = t.make(spec());
      t.error(await t.send(broken), broken, { codes: ['0102'] });
      await t.accepted(message);
      t.delivered(message, 1);
    },
    { basis: 'norm' },
  ),
  duplicate(
    '22',
    'eD §1.4.3.2; facts §2.1.11',
    'After damaged gzip a right message with the same MessageId is new: receipt and delivery.',
    async (t) => {
      const spec = named();
      const broken = t.make({ ...spec, payload: { octets: Buffer.from('not gzip') } });
      t.error(await t.send(broken), broken, { codes: ['0303'] });
      const message = t.make(spec);
      await t.accepted(message);
      t.delivered(message, 1);
    },
    { basis: 'norm' },
  ),
  duplicate(
    '23',
    'eD §1.4.3.2; facts §2.1.11',
    'After a wrong SBDH a right message with the same MessageId is new: receipt and delivery.',
    async (t) => {
      const spec = named();
      const broken = t.make({ ...spec, sbd: { country: 'Belgium' } });
      t.error(await t.send(broken), broken, { codes: ['0004'] });
      const message = t.make(spec);
      await t.accepted(message);
      t.delivered(message, 1);
    },
    { basis: 'norm' },
  ),
  duplicate(
    '24',
    'eD §1.4.3.2',
    'After an upload that broke off the message is new: receipt and delivery.',
    async (t) => {
      const message = t.make();
      await t.send(message, { cutUpload: message.body.length - 300 }).catch(() => null);
      await t.accepted(message);
      t.delivered(message, 1);
    },
    { basis: 'norm' },
  ),
];
