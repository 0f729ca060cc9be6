import { describe, expect, test } from 'vitest';
import { storeFixture } from './testing/fixture.ts';
import { actor, handOver } from './testing/operator.ts';
import { carrying, interchange, noon, otherMessage, sampleMessage } from './testing/sample.ts';

const hour = 3_600_000;

describe('a review', () => {
  const fixture = storeFixture();
  const waiting = async (purposes: Partial<Parameters<typeof sampleMessage>[1]> = {}) => {
    const store = await fixture.open();
    await store.accept(sampleMessage('m1', { purpose: 'review', ...purposes }));
    return store;
  };

  test('approved delivers the message once, and is recorded with who, why and where', async () => {
    const store = await waiting();
    const done = { kind: 'done', message: 1, messageId: 'm1', handOver: 1, state: 'received', already: false };
    expect(await store.review('m1', 'approve', actor, noon)).toEqual(done);
    expect(await store.review('m1', 'approve', actor, noon)).toMatchObject({ kind: 'refused', reason: 'not-found' });
    expect((await store.outbox.pending(10)).map((h) => h.number)).toEqual([1]);
    expect((await store.audit('1'))!.rows.at(-1)).toMatchObject({
      ...{ decision: 'approve', stateBefore: 'review', stateAfter: 'received', reason: 'agreed by phone' },
      actor: { by: 'Alice', osUser: 'alice', host: 'ops' },
    });
  });

  test('lists the oldest first, by message, held copy and unknown hand-over, each with its own id', async () => {
    const store = await waiting({ receivedAt: noon + 2 });
    await store.accept(sampleMessage('m2'));
    await store.accept(otherMessage('m1', 'x', { conflict: 'hold', receivedAt: noon + 1 }));
    await store.outbox.reconcile(2, 'lost', noon + 3);
    const items = await store.reviews({ limit: 10 });
    expect(items.map((i) => [i.id, i.kind])).toEqual([
      ['held-1', 'held'],
      ['1', 'message'],
      ['2', 'unknown'],
    ]);
    // Two things of m1 wait: only an id of their own tells which is meant.
    expect(await store.review('m1', 'approve', actor, noon)).toMatchObject({ kind: 'refused', reason: 'not-found' });
    expect((await store.reviewDetail('1'))?.item.id).toBe('1');
    expect(await store.reviews({ limit: 1 })).toHaveLength(1);
  });

  test('of an unknown hand-over delivers it again, marked, or confirms it, or ends it', async () => {
    const store = await fixture.open();
    for (const id of ['m1', 'm2', 'm3']) await store.accept(sampleMessage(id));
    for (const number of [1, 2, 3]) {
      await handOver(store, number);
      await store.outbox.reconcile(number, 'lost', noon);
    }
    expect(await store.review('m1', 'approve', actor, noon)).toMatchObject({ state: 'received' });
    expect(await store.review('m2', 'confirm', actor, noon)).toMatchObject({ state: 'delivered' });
    expect(await store.review('m3', 'reject', actor, noon)).toMatchObject({ state: 'rejected' });
    expect(await store.outbox.pending(10)).toMatchObject([{ number: 1, possibleDuplicate: true, directory: null }]);
  });

  test('what the backend may have seen stays known: a rejected unknown one still suppresses its repeat', async () => {
    const store = await fixture.open();
    await store.accept(sampleMessage('m1', carrying('m1', [interchange('4711', 'a')])));
    await handOver(store, 1);
    await store.outbox.reconcile(1, 'lost', noon);
    await store.review('m1', 'reject', actor, noon);
    const repeat = sampleMessage('m2', carrying('m2', [interchange('4711', 'a')]));
    expect(await store.accept(repeat)).toMatchObject({ kind: 'suppressed' });
  });

  test('after a power loss: approved it is marked as a possible duplicate, rejected it still suppresses its repeat', async () => {
    const store = await fixture.open();
    for (const id of ['m1', 'm2']) await store.accept(sampleMessage(id, carrying(id, [interchange(id, 'a')])));
    for (const number of [1, 2]) {
      await handOver(store, number);
      await store.outbox.reconcile(number, 'reviewAfterPowerLoss', noon);
    }
    await store.review('m1', 'approve', actor, noon);
    expect(await store.outbox.pending(10)).toMatchObject([{ number: 1, possibleDuplicate: true }]);
    await store.review('m2', 'reject', actor, noon);
    const repeat = sampleMessage('m3', carrying('m3', [interchange('m2', 'a')]));
    expect(await store.accept(repeat)).toMatchObject({ kind: 'suppressed' });
  });

  test('names what was suppressed as its repeat, before and when it is rejected: none of it is delivered then', async () => {
    const store = await waiting(carrying('m1', [interchange('4711', 'a')]));
    for (const id of ['m2', 'm3'])
      expect(await store.accept(sampleMessage(id, carrying(id, [interchange('4711', 'a')])))).toMatchObject({
        kind: 'suppressed',
      });
    const same = [
      { id: 3, messageId: 'm3' },
      { id: 2, messageId: 'm2' },
    ];
    expect(await store.reviews({ limit: 10 })).toMatchObject([{ id: '1', repeats: 2, same }]);
    expect((await store.reviewDetail('1'))?.item).toMatchObject({ repeats: 2, same });
    expect(await store.review('1', 'reject', actor, noon)).toMatchObject({ kind: 'done', state: 'rejected', same });
  });

  test('those whose sender holds a receipt are counted by themselves, and the oldest of them gives the age', async () => {
    const store = await waiting({ receivedAt: noon + 5 });
    expect(await store.waitingReviews()).toEqual({ count: 1, oldest: noon + 5 });
    // More evidence than any list shows: their senders were told failure.
    const copies = Array.from({ length: 1000 }, (_, i) => otherMessage('m1', `${i}`, { payloads: [] }));
    await Promise.all(copies.map((m) => store.accept(m)));
    await store.accept(sampleMessage('m2'));
    await store.accept(otherMessage('m2', 'x', { conflict: 'hold', sender: 'POP000001', receivedAt: noon + 3 }));
    expect(await store.waitingReviews()).toEqual({ count: 1, oldest: noon + 5 });
    await store.accept(sampleMessage('m3', { sender: 'POP000002' }));
    await store.accept(otherMessage('m3', 'x', { conflict: 'hold', sender: 'POP000002', receivedAt: noon + 4 }));
    expect(await store.waitingReviews()).toEqual({ count: 2, oldest: noon + 4 });
  });

  test('cannot confirm what was never handed over', async () => {
    const store = await waiting();
    expect(await store.review('m1', 'confirm', actor, noon)).toMatchObject({ kind: 'refused', reason: 'state' });
    expect(fixture.value(`SELECT actor FROM decision WHERE decision = 'refusedTransition'`)).toBe('Alice');
  });

  test('there are at most so many exceptions in any hour', async () => {
    const store = await fixture.open({ exceptionsPerHour: 2 });
    for (const id of ['m1', 'm2', 'm3']) await store.accept(sampleMessage(id, { purpose: 'review' }));
    for (const id of ['m1', 'm2'])
      expect(await store.review(id, 'approve', actor, noon)).toMatchObject({ kind: 'done' });
    expect(await store.review('m3', 'approve', actor, noon + hour - 1)).toMatchObject({ reason: 'limit' });
    // Not to deliver something is no exception.
    expect(await store.review('m3', 'approve', actor, noon + hour)).toMatchObject({ kind: 'done' });
  });

  test('an exception changes one message: the next repeat is decided by the rules', async () => {
    const store = await fixture.open();
    const carried = (id: string, content: string) => sampleMessage(id, carrying(id, [interchange('4711', content)]));
    await store.accept(carried('m1', 'a'));
    await store.accept(carried('m2', 'b'));
    await store.review('m2', 'approve', actor, noon);
    expect(await store.accept(carried('m3', 'c'))).toMatchObject({ decision: 'review' });
    expect(await store.accept(carried('m4', 'b'))).toMatchObject({ kind: 'suppressed', of: { messageId: 'm2' } });
  });
});
