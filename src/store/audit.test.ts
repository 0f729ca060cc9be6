import { describe, expect, test } from 'vitest';
import { storeFixture } from './testing/fixture.ts';
import { actor } from './testing/operator.ts';
import { day, noon, rebuiltMessage, sampleMessage, sha256 } from './testing/sample.ts';
import type { Refusal, Suppression } from './types.ts';

describe('the audit', () => {
  const fixture = storeFixture();
  const message = sampleMessage('m1');
  const suppression = (at: number): Suppression => ({
    ...{ sender: message.sender, messageId: message.messageId, id: 1, at, referenceSet: message.referenceSet },
    ...{ requestDigest: null, fingerprint: 'f', remoteAddress: '192.0.2.1', how: 'same-bytes' },
  });
  const refusal = (text: string): Refusal => ({
    ...{ at: noon, code: 'EBMS:0101', reason: 'signature', text, remoteAddress: '192.0.2.1' },
    ...{ sender: null, messageId: null, claimedMessageId: 'm', fingerprint: null },
  });

  test('the first 100 suppressions of a message get a row each, later ones one counter an hour', async () => {
    const store = await fixture.open();
    await store.accept(message);
    for (let i = 0; i < 130; i++) store.suppress(suppression(noon + i));
    for (let i = 0; i < 5; i++) store.suppress(suppression(noon + 3_600_000));
    expect((await store.evidence('m1'))?.summary.suppressions).toBe(135);
    expect(fixture.value(`SELECT count(*) FROM decision WHERE decision = 'suppress'`)).toBe(100);
    expect(fixture.rows('SELECT hour, count FROM suppression ORDER BY hour')).toEqual([
      { hour: noon, count: 30 },
      { hour: noon + 3_600_000, count: 5 },
    ]);
    expect(store.gaps()).toBe(0);
  });

  test('a suppression names the key, the rule and policy that remember it, the message that it repeats, and until when', async () => {
    const store = await fixture.open();
    await store.accept(message);
    store.suppress(suppression(noon));
    expect((await store.audit('m1'))!.rows.at(-1)).toMatchObject({
      ...{ decision: 'suppress', layer: 'message', key: 'm1', rule: 'default', policyVersion: '1' },
      ...{ existing: { id: 1, messageId: 'm1' }, windowExpires: noon + 90 * day },
    });
  });

  test('an order and what becomes of a hand-over name the policy under which the message was taken', async () => {
    const store = await fixture.open();
    await store.accept(sampleMessage('m1', { purpose: 'review', policyVersion: 'of Monday' }));
    await store.review('m1', 'approve', actor, noon);
    await store.outbox.failed(1, 'disk full', noon);
    const rows = (await store.audit('m1'))!.rows.map((r) => [r.decision, r.policyVersion]);
    expect(rows).toEqual([
      ['review', 'of Monday'],
      ['approve', 'of Monday'],
      ['fail', 'of Monday'],
    ]);
  });

  test('a rebuilt copy counts as a suppression', async () => {
    const store = await fixture.open();
    await store.accept(message);
    await store.accept(rebuiltMessage('m1', 'b'));
    expect((await store.messages({ limit: 1 }))[0]).toMatchObject({ suppressions: 1, receipts: 2 });
  });

  test('the body of a suppressed copy takes the shortcut the next time', async () => {
    const store = await fixture.open();
    await store.accept(message);
    store.suppress({ ...suppression(noon), how: 'same-references', requestDigest: sha256('body') });
    await store.counts(); // takes along what was gathered; a look-up would not wait for it
    expect(await store.findRequest(sha256('body'), noon)).toMatchObject({ messageId: 'm1' });
  });

  test('a suppression that cannot be recorded rejects nothing and is counted as a gap', async () => {
    const store = await fixture.open();
    await store.accept(message);
    await store.close();
    store.suppress(suppression(noon));
    await new Promise((resolve) => setImmediate(resolve));
    expect(store.gaps()).toBe(1);
  });

  test('decisions cannot be changed or deleted', async () => {
    const store = await fixture.open();
    await store.accept(message);
    expect(() => fixture.value(`UPDATE decision SET decision = 'x' RETURNING id`)).toThrow('append-only');
    expect(() => fixture.value('DELETE FROM decision RETURNING id')).toThrow('append-only');
    expect(fixture.value('SELECT decision FROM decision')).toBe('allow');
  });

  test('refusals are kept in a ring, the newest first, cut to a bounded length', async () => {
    const store = await fixture.open({ refusalRing: 300 });
    for (let i = 0; i < 700; i++) store.refuse(refusal(`r${i} ${'x'.repeat(5000)}`));
    const newest = await store.refusals({ limit: 1000 });
    expect(newest).toHaveLength(300);
    expect(newest[0]?.text).toMatch(/^r699 /);
    expect(newest[0]?.text).toHaveLength(1000);
    expect(newest[299]?.text).toMatch(/^r400 /);
    expect(newest[0]).toMatchObject({ code: 'EBMS:0101', claimedMessageId: 'm', sender: null });
    expect(store.droppedRefusals()).toBe(0);
  });

  test('a flood of refusals is dropped and counted, not queued', async () => {
    const store = await fixture.open();
    for (let i = 0; i < 9000; i++) store.refuse(refusal('flood'));
    await store.refusals({ limit: 1 });
    const kept = fixture.value('SELECT count(*) FROM refusal') as number;
    expect(store.droppedRefusals()).toBeGreaterThan(0);
    expect(kept + store.droppedRefusals()).toBe(9000);
  });

  test('refusals of an access point are decisions that no flood of strangers pushes out or keeps from being recorded', async () => {
    const store = await fixture.open({ refusalRing: 300 });
    const known = { sender: 'POP000001', messageId: 'm1', fingerprint: 'f' };
    for (let i = 0; i < 6000; i++) store.refuse({ ...refusal('flood'), at: noon + 2 });
    store.refuse({ ...refusal('known'), ...known, at: noon + 1 });
    store.refuse({ ...refusal('no id'), ...known, messageId: null, at: noon });
    expect(store.droppedRefusals()).toBeGreaterThan(0);
    const all = await store.refusals({ limit: 1000 });
    expect(all).toHaveLength(302);
    expect(all.at(-2)).toEqual({ ...refusal('known'), ...known, at: noon + 1 });
    expect(all.at(-1)).toEqual({ ...refusal('no id'), ...known, messageId: null });
    expect(fixture.rows('SELECT decision, sender, message_id FROM decision ORDER BY id')).toEqual([
      { decision: 'refuse', sender: 'POP000001', message_id: 'm1' },
      { decision: 'refuse', sender: 'POP000001', message_id: null },
    ]);
    expect(fixture.value('SELECT count(*) FROM refusal WHERE sender IS NOT NULL')).toBe(0);
    expect(await store.verifyAudit()).toBeNull();
  });

  test('an access point that does nothing right has 100 decisions an hour and the rest in the ring', async () => {
    const store = await fixture.open({ refusalRing: 300 });
    const by = (sender: string, at: number) => store.refuse({ ...refusal('x'), sender, at });
    for (let i = 0; i < 130; i++) by('POP000001', noon);
    by('POP000002', noon);
    expect(await store.refusals({ limit: 1000 })).toHaveLength(131);
    for (let i = 0; i < 500; i++) by('POP000001', noon);
    by('POP000001', noon + 3_600_000);
    expect((await store.refusals({ limit: 1000 })).map(({ at }) => at)).toEqual([
      noon + 3_600_000,
      ...Array.from({ length: 401 }, () => noon),
    ]);
    expect(fixture.rows('SELECT sender, count(*) AS n FROM decision GROUP BY sender ORDER BY sender')).toEqual([
      { sender: 'POP000001', n: 101 },
      { sender: 'POP000002', n: 1 },
    ]);
  });

  test('refusals are written without being asked for', async () => {
    const store = await fixture.open();
    store.refuse(refusal('one'));
    await store.close();
    expect(fixture.value('SELECT text FROM refusal')).toBe('one');
  });

  test('the evidence of a message is found by its row and by its MessageId', async () => {
    const store = await fixture.open();
    await store.accept(message);
    const byId = await store.evidence('1');
    expect(byId).toEqual(await store.evidence('m1'));
    expect(Buffer.from(byId!.envelope!)).toEqual(Buffer.from(message.envelope));
    expect(byId!.chain.map((c) => Buffer.from(c).toString())).toEqual(['leaf', 'issuer']);
    expect(byId!.handOvers).toEqual([{ number: 1, state: 'received', directory: null, at: noon }]);
    expect(byId!.decisions.map((d) => d.decision)).toEqual(['allow']);
    expect(byId!.routing).toEqual(message.routing);
    expect(await store.evidence('nobody')).toBeNull();
  });

  test('messages are listed from the newest, by sender, by id, and page by page', async () => {
    const store = await fixture.open();
    for (const id of ['a', 'b', 'c']) await store.accept(sampleMessage(id));
    await store.accept(sampleMessage('a', { sender: 'POP000002' }));
    const list = async (o: Parameters<typeof store.messages>[0]) => (await store.messages(o)).map((m) => m.id);
    expect(await list({ limit: 10 })).toEqual([4, 3, 2, 1]);
    expect(await list({ limit: 2, before: 3 })).toEqual([2, 1]);
    expect(await list({ limit: 10, sender: 'POP000001' })).toEqual([3, 2, 1]);
    expect(await list({ limit: 10, messageId: 'a' })).toEqual([4, 1]);
    expect(await list({ limit: 10, messageId: 'a', sender: 'POP000001' })).toEqual([1]);
    expect((await store.messages({ limit: 1 }))[0]).toMatchObject({
      ...{ state: 'received', finalRecipient: '9915:receiver', originalSender: '9915:sender', receipts: 1 },
      documentType: 'urn:oasis:names:specification:ubl:schema:xsd:Invoice-2',
    });
  });
});
