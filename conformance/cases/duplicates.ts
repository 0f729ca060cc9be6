import { randomUUID } from 'node:crypto';
import type { Case, Need } from '../case.ts';
import { fourCorners, type MessageSpec } from '../message.ts';
import type { Reply } from '../runner/judge.ts';
import type { Trial } from '../runner/trial.ts';

const RETRY = 'AS4 §3.2';
const CONFLICT = { codes: ['0003'] } as const;

function duplicate(
  id: string,
  source: string,
  asserts: string,
  run: (trial: Trial) => Promise<void>,
  o: { readonly basis?: Case['basis']; readonly needs?: readonly Need[]; readonly when?: 'alone' } = {},
): Case {
  return { id: `Q-DUP-${id}`, source, asserts, basis: 'norm', ...o, run };
}

/** A message that comes out the same each time it is made, but for keys, IVs and what comes of them. */
function repeatable(more: MessageSpec = {}): () => MessageSpec {
  const seed = randomUUID();
  const timestamp = new Date().toISOString();
  return () => {
    let count = 0;
    return {
      newId: () => `${seed}-${++count}`,
      ...more,
      header: { timestamp, ...more.header },
      sbd: { instanceIdentifier: seed, created: timestamp, ...more.sbd },
    };
  };
}

/** The same message twice at once, or more often. */
async function atOnce(trial: Trial, specs: readonly MessageSpec[]): Promise<readonly Reply[]> {
  const messages = specs.map((spec) => trial.make(spec));
  return await Promise.all(messages.map((message) => trial.send(message)));
}

const named = (): MessageSpec => ({ header: { messageId: `${randomUUID()}@sender.example` } });

/** What comes twice under one MessageId. */
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
    { basis: 'reading', needs: ['bad:sender-renewed'] },
  ),
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
    { basis: 'reading' },
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
    { basis: 'reading' },
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
    { basis: 'reading' },
  ),
  duplicate(
    '12',
    `${RETRY}; facts §2.5`,
    'The same document for another recipient under the same MessageId: EBMS:0003.',
    async (t) => {
      const spec = named();
      const message = t.make(spec);
      const recipient = '0208:0111111111';
      const other = t.make({
        header: { ...spec.header, properties: fourCorners(t.target.participants.sender, recipient) },
        sbd: { receiver: recipient },
      });
      await t.accepted(message);
      t.error(await t.send(other), other, CONFLICT);
      t.delivered(message, 1);
      t.delivered(other, 0);
    },
    { basis: 'reading' },
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
    { basis: 'reading', needs: ['sender2'] },
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
    { needs: ['sender2'] },
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
        editEnvelope: (xml) => xml.replace(/(<ds:SignatureValue>)(.)/, (_, tag, c) => tag + (c === 'A' ? 'B' : 'A')),
      });
      t.error(await t.send(broken), broken, { codes: ['0101'] });
      t.delivered(message, 1);
    },
  ),
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
    { basis: 'reading' },
  ),
  duplicate(
    '19',
    'facts §2.5',
    'Two documents under one MessageId in flight at once: one receipt, one EBMS:0003.',
    async (t) => {
      const spec = named();
      const replies = await atOnce(t, [spec, { ...spec, document: 'creditNote' }]);
      const receipts = replies.filter(({ read }) => 'signal' in read && read.signal.receipt !== null);
      if (receipts.length !== 1) t.fail('accepted', `${receipts.length} receipts`);
      const errors = replies.flatMap(({ read }) => ('signal' in read ? read.signal.errors : []));
      if (errors[0]?.code !== 'EBMS:0003') t.fail('other-code', `the other one got ${errors[0]?.code ?? 'no error'}`);
    },
    { basis: 'reading' },
  ),
  duplicate(
    '20',
    'eD §1.4.3.2; facts §2.1.11',
    'After a failed signature the right message is new: receipt and delivery.',
    async (t) => {
      const spec = repeatable();
      const broken = t.make({
        ...spec(),
        editEnvelope: (xml) => xml.replace(/(<ds:SignatureValue>)(.)/, (_, tag, c) => tag + (c === 'A' ? 'B' : 'A')),
      });
      t.error(await t.send(broken), broken, { codes: ['0101'] });
      const message = t.make(spec());
      await t.accepted(message);
      t.delivered(message, 1);
    },
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
  duplicate('27', 'Core §5.2.2.1', 'MessageIds that differ only in case are two messages.', async (t) => {
    const id = `${randomUUID()}@sender.example`;
    const [lower, upper] = [id, id.toUpperCase()].map((messageId) => t.make({ header: { messageId } }));
    if (lower === undefined || upper === undefined) return;
    await t.accepted(lower);
    await t.accepted(upper);
    t.delivered(lower, 1);
    t.delivered(upper, 1);
  }),
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
    { basis: 'reading' },
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
];
