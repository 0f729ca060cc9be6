import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FIXTURE_TIME } from '../../fixtures/time.ts';
import type { Answer } from '../exchange.ts';
import { seeded } from '../testing/seeded.ts';
import { type Case, changedOnTheWay, readSeeds, type Seed, signedAnew } from './cases.ts';
import { isReceipt, judge, judgeRemains, type Understood, understood } from './judge.ts';
import { loadShared, openWorld, type Shared, type Taken, type World } from './world.ts';

/** The fuzzer is only worth something when it sees what must never be: each fault here is planted in what a real receiver did. */

interface Done {
  readonly answer: Answer;
  readonly taken: readonly Taken[];
}
let shared: Shared;
let world: World;
const seeds = new Map(readSeeds().map((seed) => [seed.id, seed]));
const done = new Map<string, Done>();

async function send(at: World, { contentType, body }: Pick<Case, 'contentType' | 'body'>): Promise<Done> {
  async function* whole(): AsyncGenerator<Buffer> {
    yield body;
  }
  const request = { contentType, contentLength: body.length, body: whole(), remoteAddress: '192.0.2.1' };
  return { answer: await at.buffered(request), taken: at.taken() };
}

beforeAll(async () => {
  shared = await loadShared(() => FIXTURE_TIME);
  world = await openWorld(shared);
  for (const id of ['order', 'ping-soap', 'uncompressed-xml']) done.set(id, await send(world, seeds.get(id) as Seed));
});
afterAll(async () => {
  await world.end();
  await shared.revocation.stop();
  shared.policy.close();
});

const seedOf = (id: string) => seeds.get(id) as Seed;
const doneWith = (id: string) => done.get(id) as Done;
const meant = (id: string): Understood => understood((doneWith(id).taken[0] as Taken).message);
const onTheWay = (id: string): Case => ({ ...seedOf(id), name: id, seed: seedOf(id), signed: null });
const withBody = (answer: Answer, edit: (text: string) => string): Answer => ({
  ...answer,
  body: Buffer.from(edit(Buffer.from(answer.body ?? []).toString())),
});

describe('what is right is no finding', () => {
  test.each(['order', 'ping-soap', 'uncompressed-xml'])('%s as it is gets a receipt for what it says', (id) => {
    const { answer, taken } = doneWith(id);
    expect(isReceipt(answer)).toBe(true);
    expect(judge(onTheWay(id), answer, taken, meant(id))).toBeNull();
  });

  test('random changes, signed anew and not, in a database that has not seen their seeds', async () => {
    const random = seeded(7);
    const fresh = await openWorld(shared);
    const receipts: string[] = [];
    for (let i = 0; i < 60; i++) {
      const c = i % 3 === 0 ? signedAnew(`judge-${i}`, random) : changedOnTheWay([seedOf('order')], random);
      if (c === null || receipts.includes(c.seed?.id ?? '')) continue;
      const { answer, taken } = await send(fresh, c);
      expect(judge(c, answer, taken, c.seed === null ? null : meant(c.seed.id))).toBeNull();
      if (isReceipt(answer)) receipts.push(c.seed?.id ?? c.name);
    }
    const remains = await fresh.end();
    expect(remains).toMatchObject({ messages: receipts.length, held: 0, spooled: 0 });
  });
});

describe('a finding is', () => {
  test('a fault of ours, or an answer that asks to try again', () => {
    const answer = { status: 500, contentType: 'text/plain', body: Buffer.from('x') };
    expect(judge(onTheWay('order'), answer, [], meant('order'))).toMatch(/^status 500/);
  });

  test('a receipt for a message that says something else than its signer did', () => {
    const { answer, taken } = doneWith('order');
    for (const key of ['messageId', 'sender', 'routing', 'payloads', 'canonical', 'references'] as const) {
      const other = { ...meant('order'), [key]: meant('ping-soap')[key] } as Understood;
      if (key === 'sender') Object.assign(other, { sender: 'POP000009' });
      expect(judge(onTheWay('order'), answer, taken, other)).toMatch(`a receipt, but ${key} is not as signed`);
    }
  });

  test('a receipt for a payload that was changed behind the signature, unless its canonical form is the same', () => {
    const { answer, taken } = doneWith('uncompressed-xml');
    const { references, payloads } = meant('uncompressed-xml');
    const payload = (payloads[0] as { sha256: string }).sha256;
    const judged = (octets: string, after: string, more = {}) => {
      const before = { octets: Buffer.from(octets), after: Buffer.from(after), isXml: true };
      const signed = { references: references as never, payload, before, ...more };
      return judge({ ...onTheWay('uncompressed-xml'), seed: null, signed }, answer, taken, null);
    };
    expect(judged('<a b="1"/>', "<a  b='1'></a>")).toBeNull();
    expect(judged('<a b="1"/>', '<a b="2"/>')).toBe('a receipt for another payload than the signed one');
    expect(judged('<a/>', '<a/>', { payload: 'ff' })).toBe('another payload than the one that was sent');
    expect(judged('<a/>', '<a/>', { references: [] })).toMatch(/^a receipt for other references/);
  });

  test('a message that is stored without a receipt, a receipt without a message, and one that is not the stored one', () => {
    const { answer, taken } = doneWith('order');
    const nothing = { status: 204, contentType: null, body: null };
    expect(judge(onTheWay('order'), nothing, taken, meant('order'))).toMatch(/^stored without a receipt/);
    expect(judge(onTheWay('order'), answer, [], meant('order'))).toBe('a receipt, and 0 messages stored');
    const other = withBody(answer, (text) => `${text} `);
    expect(judge(onTheWay('order'), other, taken, meant('order'))).toBe('another receipt than the stored one');
  });

  test('an error that is no XML, or no error', () => {
    const answer = (text: string) => ({ status: 200, contentType: 'x', body: Buffer.from(text) });
    expect(judge(onTheWay('order'), answer('<S:Envelope>&</S:Envelope>'), [], null)).toMatch(
      /^an answer that is no XML/,
    );
    expect(judge(onTheWay('order'), answer('<Envelope/>'), [], null)).toMatch(/^a signal that is neither/);
  });

  test('an entry of the folder without a receipt, a receipt without one, and whatever else is left', () => {
    const fine = { messages: 2, held: 0, spooled: 0, delivered: ['a', 'b'] };
    const given = { receipts: 2, toDeliver: ['b', 'a'] };
    expect(judgeRemains(fine, given)).toEqual([]);
    expect(judgeRemains({ ...fine, delivered: ['a', 'b', 'c'] }, given)).toEqual([
      expect.stringMatching(/^in the folder without a receipt: c; not/),
    ]);
    expect(judgeRemains({ ...fine, delivered: ['a', 'a', 'b'] }, given)).toHaveLength(1);
    expect(judgeRemains({ ...fine, delivered: ['a'] }, given)).toEqual([expect.stringMatching(/not in the folder: b/)]);
    expect(judgeRemains({ ...fine, messages: 3, held: 1, spooled: 1 }, given)).toHaveLength(3);
  });
});
