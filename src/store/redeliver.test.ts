import { describe, expect, test } from 'vitest';
import { storeFixture } from './testing/fixture.ts';
import { actor, deliver, handOver } from './testing/operator.ts';
import { carrying, day, interchange, noon, sampleMessage } from './testing/sample.ts';

describe('a redelivery', () => {
  const fixture = storeFixture();

  test('is a new hand-over with its number and reason, and lowers nothing', async () => {
    const store = await fixture.open();
    await store.accept(sampleMessage('m1'));
    await deliver(store, 1);
    expect(await store.redeliver('m1', actor, noon)).toMatchObject({ kind: 'done', handOver: 2, state: 'received' });
    expect(await store.outbox.pending(10)).toMatchObject([{ number: 2, redelivery: 1, reason: 'agreed by phone' }]);
    expect((await store.evidence('m1'))!.handOvers.map((h) => h.state)).toEqual(['delivered', 'received']);
    expect(await store.redeliver('m1', actor, noon)).toMatchObject({ kind: 'refused', reason: 'state' });
  });

  test('lets a suppressed message through', async () => {
    const store = await fixture.open();
    await store.accept(sampleMessage('m1', carrying('m1', [interchange('4711', 'a')])));
    await store.accept(sampleMessage('m2', carrying('m2', [interchange('4711', 'a')])));
    expect(await store.redeliver('m2', actor, noon)).toMatchObject({ kind: 'done', message: 2 });
    expect((await store.outbox.pending(10))[1]?.payloads[0]?.data).not.toBeNull();
    expect((await store.audit('m2'))!.rows.at(-1)).toMatchObject({ stateBefore: 'suppressed', stateAfter: 'received' });
  });

  test('of what was rejected makes its interchange known again: the next repeat is suppressed', async () => {
    const store = await fixture.open();
    const carried = (id: string) => sampleMessage(id, { ...carrying(id, [interchange('4711', 'a')]) });
    await store.accept({ ...carried('m1'), purpose: 'review' });
    await store.review('m1', 'reject', actor, noon);
    await store.redeliver('m1', actor, noon);
    expect(await store.accept(carried('m2'))).toMatchObject({ kind: 'suppressed', of: { messageId: 'm1' } });
  });

  test('of the twin of a rejected message makes its interchange known: the next repeat is suppressed', async () => {
    const store = await fixture.open();
    const carried = (id: string) => sampleMessage(id, { ...carrying(id, [interchange('4711', 'a')]) });
    await store.accept({ ...carried('m1'), purpose: 'review' });
    await store.accept(carried('m2'));
    await store.review('m1', 'reject', actor, noon);
    await store.redeliver('m2', actor, noon);
    expect(await store.accept(carried('m3'))).toMatchObject({ kind: 'suppressed', of: { messageId: 'm2' } });
  });

  test('an id that is the number of one message and the MessageId of another names neither', async () => {
    const store = await fixture.open();
    await store.accept(sampleMessage('m1', { purpose: 'review' }));
    await store.accept(sampleMessage('1', { purpose: 'review' }));
    expect(await store.review('1', 'approve', actor, noon)).toMatchObject({ kind: 'refused', reason: 'not-found' });
    for (const id of ['m1', '2'])
      expect(await store.review(id, 'approve', actor, noon)).toMatchObject({ kind: 'done' });
    await deliver(store, 1);
    await deliver(store, 2);
    expect(await store.redeliver('1', actor, noon)).toMatchObject({ kind: 'refused', reason: 'not-found' });
    expect(await store.acknowledge('1', actor, noon)).toMatchObject({ kind: 'refused', reason: 'not-found' });
    for (const id of ['m1', '2']) expect(await store.acknowledge(id, actor, noon)).toMatchObject({ kind: 'done' });
  });

  test('says so when the payload is gone, when nothing was received, and when it was only a test', async () => {
    const store = await fixture.open();
    await store.accept(sampleMessage('m1'));
    await deliver(store, 1);
    await store.accept(sampleMessage('ping', { purpose: 'test', payloads: [] }));
    await store.purge({ now: noon + 2 * day, payloadRetention: day, evidenceRetention: 400 * day, dryRun: false });
    const reasons = await Promise.all(['m1', 'ping', 'nobody'].map((id) => store.redeliver(id, actor, noon)));
    expect(reasons).toMatchObject([{ reason: 'payload-purged' }, { reason: 'test' }, { reason: 'not-found' }]);
    expect(reasons[0]).toMatchObject({ text: expect.stringContaining('retention.payload') });
  });

  test('is allowed so many times in any hour', async () => {
    const store = await fixture.open({ exceptionsPerHour: 1 });
    for (const number of [1, 2]) {
      await store.accept(sampleMessage(`m${number}`));
      await deliver(store, number);
    }
    expect(await store.redeliver('m1', actor, noon)).toMatchObject({ kind: 'done' });
    expect(await store.redeliver('m2', actor, noon)).toMatchObject({ reason: 'limit' });
  });
});

describe('an acknowledgement', () => {
  const fixture = storeFixture();
  const acknowledged = { kind: 'done', state: 'acknowledged' };

  test('is idempotent, by row, MessageId, directory and path, and recorded once', async () => {
    const store = await fixture.open();
    await store.accept(sampleMessage('m1'));
    await deliver(store, 1, '20261130T120000.000Z_m1_1');
    for (const [i, id] of ['20261130T120000.000Z_m1_1', '/in/20261130T120000.000Z_m1_1/', 'm1', '1'].entries())
      expect(await store.acknowledge(id, null, noon)).toMatchObject({ ...acknowledged, already: i > 0 });
    expect(fixture.value(`SELECT count(*) FROM decision WHERE decision = 'acknowledge'`)).toBe(1);
  });

  test('may come before the delivery is marked: the late mark changes nothing', async () => {
    const store = await fixture.open();
    await store.accept(sampleMessage('m1'));
    await handOver(store, 1);
    expect(await store.acknowledge('m1', null, noon)).toMatchObject({ ...acknowledged, already: false });
    await store.outbox.delivered([1], noon);
    expect(await store.counts()).toMatchObject({ acknowledged: 1, delivered: 0 });
    expect(fixture.value(`SELECT count(*) FROM decision WHERE decision = 'refusedTransition'`)).toBe(0);
  });

  test('after a redelivery means the hand-over that was seen; by its directory exactly that one', async () => {
    const store = await fixture.open();
    await store.accept(sampleMessage('m1'));
    await deliver(store, 1, 'a_m1_1');
    await store.redeliver('m1', actor, noon);
    expect(await store.acknowledge('m1', null, noon)).toMatchObject({ ...acknowledged, handOver: 1 });
    await deliver(store, 2, 'b_m1_2');
    expect(await store.acknowledge('a_m1_1', null, noon)).toMatchObject({ handOver: 1, already: true });
    expect(await store.acknowledge('b_m1_2', null, noon)).toMatchObject({ handOver: 2, already: false });
  });

  test('of what the backend cannot have is refused and recorded', async () => {
    const store = await fixture.open();
    await store.accept(sampleMessage('m1', { purpose: 'review' }));
    expect(await store.acknowledge('m1', actor, noon)).toMatchObject({ kind: 'refused', reason: 'state' });
    expect(await store.acknowledge('nobody', null, noon)).toMatchObject({ kind: 'refused', reason: 'not-found' });
    expect(await store.acknowledge('x_nobody_1', null, noon)).toMatchObject({ kind: 'refused', reason: 'not-found' });
  });

  test('settles an unknown hand-over: the backend has it', async () => {
    const store = await fixture.open();
    await store.accept(sampleMessage('m1'));
    await handOver(store, 1);
    await store.outbox.reconcile(1, 'lost', noon);
    expect(await store.acknowledge('m1', null, noon)).toMatchObject(acknowledged);
  });
});
