import { describe, expect, test } from 'vitest';
import { storeFixture } from './testing/fixture.ts';
import { noon, sampleMessage } from './testing/sample.ts';

describe('the outbox', () => {
  const fixture = storeFixture();

  async function storeWith(...ids: string[]) {
    const store = await fixture.open();
    for (const id of ids) await store.accept(sampleMessage(id));
    return store;
  }

  test('gives what waits in commit order, within a limit of rows and of bytes', async () => {
    const { outbox } = await storeWith('m1', 'm2', 'm3');
    expect((await outbox.pending(2)).map((h) => h.number)).toEqual([1, 2]);
    expect((await outbox.pending(10, 15_000)).map((h) => h.number)).toEqual([1]);
    expect((await outbox.pending(10, 1)).map((h) => h.number)).toEqual([1]);
  });

  test('a hand-over can be started once; the loser is told, and it is recorded', async () => {
    const { outbox } = await storeWith('m1', 'm2');
    expect(await outbox.startHandingOver([{ number: 1, directory: 'a' }], 'boot', noon)).toEqual([1]);
    const both = [1, 2].map((number) => ({ number, directory: 'b' }));
    expect(await outbox.startHandingOver(both, 'boot2', noon)).toEqual([2]);
    expect(await outbox.inState('handingOver', 10)).toMatchObject([
      { number: 1, directory: 'a', bootId: 'boot' },
      { number: 2, directory: 'b', bootId: 'boot2' },
    ]);
    expect(fixture.value(`SELECT detail FROM decision WHERE decision = 'refusedTransition'`)).toBe(
      '{"number":1,"event":"handOver"}',
    );
  });

  test('delivered is never lowered, whatever comes after it', async () => {
    const { outbox } = await storeWith('m1');
    await outbox.startHandingOver([{ number: 1, directory: 'a' }], 'boot', noon);
    await outbox.delivered([1], noon);
    expect(await outbox.failed(1, 'late', noon)).toBe('delivered');
    for (const event of ['lost', 'restored', 'redeliverAfterPowerLoss', 'reviewAfterPowerLoss'] as const) {
      await outbox.reconcile(1, event, noon);
    }
    expect(await outbox.startHandingOver([{ number: 1, directory: 'b' }], 'boot', noon)).toEqual([]);
    expect(await outbox.inState('delivered', 10)).toMatchObject([{ number: 1, directory: 'a', attempts: 0 }]);
    expect(await outbox.pending(10)).toEqual([]);
    expect(fixture.value(`SELECT count(*) FROM decision WHERE decision = 'refusedTransition'`)).toBe(6);
  });

  test('delivered without having been handed over is refused', async () => {
    const { outbox } = await storeWith('m1');
    await outbox.delivered([1], noon);
    expect((await outbox.pending(10)).map((h) => h.state)).toEqual(['received']);
  });

  test('the fifth failure of its own makes a message undeliverable', async () => {
    const { outbox } = await storeWith('m1');
    const states: string[] = [];
    for (let i = 0; i < 5; i++) states.push(await outbox.failed(1, `error ${i}`, noon));
    expect(states).toEqual(['received', 'received', 'received', 'received', 'undeliverable']);
    expect(await outbox.inState('undeliverable', 10)).toMatchObject([{ attempts: 5, reason: 'error 4' }]);
  });

  test('a failure during hand-over makes it wait again', async () => {
    const { outbox } = await storeWith('m1');
    await outbox.startHandingOver([{ number: 1, directory: 'a' }], 'boot', noon);
    expect(await outbox.failed(1, 'rename', noon)).toBe('received');
    expect(await outbox.pending(1)).toMatchObject([{ attempts: 1, possibleDuplicate: false }]);
  });

  test('after a power loss a message is delivered again as a possible duplicate, or reviewed', async () => {
    const { outbox } = await storeWith('m1', 'm2');
    const rows = [1, 2].map((number) => ({ number, directory: 'a' }));
    await outbox.startHandingOver(rows, 'boot', noon);
    await outbox.reconcile(1, 'redeliverAfterPowerLoss', noon);
    await outbox.reconcile(2, 'reviewAfterPowerLoss', noon);
    expect(await outbox.pending(10)).toMatchObject([
      { number: 1, possibleDuplicate: true, directory: null, bootId: null },
    ]);
    expect(await outbox.inState('review', 10)).toMatchObject([{ number: 2, possibleDuplicate: true }]);
  });

  test('a restored database turns what waits into unknown', async () => {
    const store = await storeWith('m1');
    await store.outbox.reconcile(1, 'restored', noon);
    expect(await store.counts()).toMatchObject({ received: 0, unknown: 1 });
  });

  test('markers are remembered, and the highest number survives purge', async () => {
    const store = await storeWith('m1');
    expect(await store.outbox.markers()).toBeNull();
    await store.outbox.setMarkers({ inbox: 'i', staging: 's' });
    expect(await store.outbox.markers()).toEqual({ inbox: 'i', staging: 's' });
    await store.outbox.startHandingOver([{ number: 1, directory: 'a' }], 'boot', noon);
    await store.outbox.delivered([1], noon);
    await store.purge({ now: noon * 2, payloadRetention: 0, evidenceRetention: 0, dryRun: false });
    expect(fixture.value('SELECT count(*) FROM outbox')).toBe(0);
    expect(await store.outbox.highestHandOver()).toBe(1);
  });

  test('numbers can be raised, never lowered, also before the first hand-over', async () => {
    const store = await fixture.open();
    await store.outbox.raiseHandOvers(7);
    await store.outbox.raiseHandOvers(3);
    expect(await store.outbox.highestHandOver()).toBe(7);
    await store.accept(sampleMessage('m1'));
    await store.outbox.raiseHandOvers(20);
    await store.accept(sampleMessage('m2'));
    expect((await store.outbox.pending(9)).map((row) => row.number)).toEqual([8, 21]);
  });
});
