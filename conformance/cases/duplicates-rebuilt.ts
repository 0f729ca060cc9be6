import { randomUUID } from 'node:crypto';
import type { Case } from '../case.ts';
import { fourCorners } from '../message.ts';
import { breakSignature, CONFLICT, duplicate, named, RETRY, repeatable } from './duplicate-case.ts';

/** What comes under a known MessageId and is not the same: rebuilt, another document, another signer. */
export const REBUILT_CASES: readonly Case[] = [
  duplicate(
    '09',
    `${RETRY}; facts §2.5`,
    'Header built anew over the same document: a receipt that fits the retry’s own digests; one delivery.',
    async (t) => {
      const spec = { ...named(), sbd: { instanceIdentifier: randomUUID(), created: new Date().toISOString() } };
      const [message, again] = [t.make(spec), t.make(spec)];
      await t.accepted(message);
      t.same(await t.accepted(again), await t.accepted(again));
      t.delivered(message, 1);
    },
  ),
  duplicate(
    '10',
    `${RETRY}; facts §2.5`,
    'SBDH built anew around the same document: the same message; its own receipt; not delivered again.',
    async (t) => {
      const spec = named();
      const [message, again] = [t.make(spec), t.make(spec)];
      await t.accepted(message);
      await t.accepted(again);
      t.delivered(message, 1);
      t.delivered(again, 0);
    },
  ),
  duplicate(
    '11',
    `${RETRY}; facts §2.5`,
    'Another document under the same MessageId: EBMS:0003, never delivered; the first receipt stands.',
    async (t) => {
      const spec = named();
      const message = t.make(spec);
      const other = t.make({ ...spec, document: 'creditNote' });
      const first = await t.accepted(message);
      t.error(await t.send(other), other, CONFLICT);
      t.error(await t.send(other), other, CONFLICT);
      t.same(first, await t.accepted(message));
      t.delivered(message, 1);
      t.delivered(other, 0);
    },
  ),
  duplicate(
    '12',
    `${RETRY}; facts §2.5`,
    'The same document for another recipient under the same MessageId: EBMS:0003, never delivered.',
    async (t) => {
      const spec = named();
      const message = t.make(spec);
      const recipient = '0208:0111111111';
      const other = t.make({
        header: { ...spec.header, properties: fourCorners(t.target.participants.sender, recipient) },
        sbd: { receiver: recipient },
      });
      await t.accepted(message);
      // Of an endpoint of somebody else's it is not known whether it services that one.
      t.error(await t.send(other), other, t.target.serviced === null ? { codes: ['0003', '0004'] } : CONFLICT);
      t.delivered(message, 1);
      t.delivered(other, 0);
    },
  ),
  duplicate(
    '13',
    'facts §2.5',
    'The same MessageId from another access point: never the receipt of the first one.',
    async (t) => {
      const spec = named();
      const [message, other] = [t.make(spec), t.make({ ...spec, as: 'sender2' })];
      await t.accepted(message);
      const reply = await t.send(other);
      // Accepted as a message of its own, or refused (Domibus: EBMS:0003).
      if ('signal' in reply.read && reply.read.signal.receipt === null) t.error(reply, other, CONFLICT);
      else {
        t.receipt(reply, other);
        t.delivered(other, 1);
      }
      t.delivered(message, 1);
    },
    { needs: ['sender2'] },
  ),
  duplicate(
    '14',
    'facts §2.5',
    'A known MessageId signed by somebody else in the sender’s name: 0101, never the stored receipt.',
    async (t) => {
      const spec = named();
      const message = t.make(spec);
      const from = message.envelope.match(/<eb:From><eb:PartyId type="([^"]*)">([^<]*)</);
      const forged = t.make({
        as: 'sender2',
        header: { ...spec.header, from: [{ type: from?.[1], value: from?.[2] ?? '' }] },
      });
      await t.accepted(message);
      t.error(await t.send(forged), forged, { codes: ['0101'] });
      t.delivered(message, 1);
      t.delivered(forged, 0);
    },
    { basis: 'norm', needs: ['sender2'] },
  ),
  duplicate(
    '15',
    'facts §2.5',
    'A known MessageId with a broken signature: 0101, never the stored receipt.',
    async (t) => {
      const spec = repeatable();
      const message = t.make(spec());
      await t.accepted(message);
      const broken = t.make({
        ...spec(),
        editEnvelope: breakSignature,
      });
      t.error(await t.send(broken), broken, { codes: ['0101'] });
      t.delivered(message, 1);
    },
    { basis: 'norm' },
  ),
];
