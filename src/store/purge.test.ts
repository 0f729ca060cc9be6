import { describe, expect, test } from 'vitest';
import { storeFixture } from './testing/fixture.ts';
import { day, noon, otherMessage, sampleMessage } from './testing/sample.ts';
import type { Store } from './types.ts';

describe('purge', () => {
  const fixture = storeFixture();
  const retention = { payloadRetention: 30 * day, evidenceRetention: 400 * day, dryRun: false };
  const nothing = { keys: 0, messages: 0, payloads: 0, evidence: 0, decisions: 0, files: 0 };

  async function deliver(store: Store, ...numbers: number[]) {
    await store.outbox.startHandingOver(
      numbers.map((number) => ({ number, directory: `d${number}` })),
      'boot',
      noon,
    );
    await store.outbox.delivered(numbers, noon);
  }
  async function delivered(...ids: string[]) {
    const store = await fixture.open();
    const outcomes = await Promise.all(ids.map((id) => store.accept(sampleMessage(id))));
    await deliver(store, ...outcomes.map((_, i) => i + 1));
    return store;
  }

  test('leaves what is within window and retentions', async () => {
    const store = await delivered('m1');
    expect(await store.purge({ now: noon + 30 * day - 1, ...retention })).toEqual(nothing);
  });

  test('empties a payload after its retention and keeps what proves the message', async () => {
    const store = await delivered('m1');
    expect(await store.purge({ now: noon + 30 * day, ...retention })).toEqual({ ...nothing, payloads: 1 });
    expect(fixture.rows('SELECT data, bytes FROM payload')).toEqual([{ data: null, bytes: 10_240 }]);
    const message = sampleMessage('m1');
    expect((await store.find(message, message.referenceSet, noon + 30 * day))?.receipt).not.toBeNull();
    expect((await store.evidence('m1'))?.envelope).not.toBeNull();
  });

  test('forgets expired keys, and the message itself once its evidence may go', async () => {
    const store = await delivered('m1');
    const expired = noon + 90 * day;
    // Two keys: its MessageId and its SBDH instance.
    expect(await store.purge({ now: expired, ...retention })).toEqual({ ...nothing, keys: 2, payloads: 1 });
    expect((await store.evidence('m1'))?.receipts).toHaveLength(1);
    const later = noon + 400 * day;
    expect(await store.purge({ now: later, ...retention })).toEqual({ ...nothing, messages: 1, evidence: 1 });
    for (const table of [
      'message',
      'receipt',
      'request',
      'payload',
      'evidence',
      'outbox',
      'message_key',
      'interchange',
      'suppression',
    ]) {
      expect([table, fixture.value(`SELECT count(*) FROM ${table}`)]).toEqual([table, 0]);
    }
    expect(fixture.value('SELECT count(*) FROM decision')).toBe(1);
    expect(await store.purge({ now: later, ...retention })).toEqual(nothing);
  });

  test('a message outlives evidence that is kept shorter than its window', async () => {
    const store = await delivered('m1');
    const short = { payloadRetention: day, evidenceRetention: day, dryRun: false };
    expect(await store.purge({ now: noon + 2 * day, ...short })).toEqual({ ...nothing, payloads: 1, evidence: 1 });
    const message = sampleMessage('m1');
    expect((await store.find(message, message.referenceSet, noon + 2 * day))?.receipt).not.toBeNull();
    expect(await store.purge({ now: noon + 90 * day, ...short })).toEqual({ ...nothing, keys: 2, messages: 1 });
  });

  test('goes by the window in force when that is longer', async () => {
    await delivered('m1');
    const store = await fixture.open({ window: 100 * day });
    expect(await store.purge({ now: noon + 95 * day, ...retention })).toMatchObject({ keys: 0 });
    expect(await store.purge({ now: noon + 100 * day, ...retention })).toMatchObject({ keys: 2 });
  });

  test('never touches a message whose hand-over is still open', async () => {
    const store = await fixture.open();
    await store.accept(sampleMessage('received'));
    await store.accept(sampleMessage('handingOver'));
    await store.accept(sampleMessage('unknown'));
    await store.accept(sampleMessage('review', { purpose: 'review' }));
    await store.accept(sampleMessage('undeliverable'));
    const row = (number: number) => ({ number, directory: 'd' });
    await store.outbox.startHandingOver([row(2), row(3)], 'boot', noon);
    await store.outbox.reconcile(3, 'lost', noon);
    for (let i = 0; i < 5; i++) await store.outbox.failed(5, 'e', noon);
    expect(await store.counts()).toMatchObject({
      received: 1,
      handingOver: 1,
      unknown: 1,
      review: 1,
      undeliverable: 1,
    });
    expect(await store.purge({ now: noon + 1000 * day, ...retention })).toEqual(nothing);
    expect(fixture.value('SELECT count(*) FROM payload WHERE data IS NOT NULL')).toBe(5);
  });

  test('a dry run reports the same and deletes nothing', async () => {
    const store = await delivered('m1', 'm2', 'm3');
    await store.accept(otherMessage('m1', 'x'));
    await store.accept(sampleMessage('waiting'));
    const now = noon + 500 * day;
    const dry = await store.purge({ now, ...retention, dryRun: true });
    expect(dry).toEqual({ keys: 6, messages: 3, payloads: 3, evidence: 4, decisions: 0, files: 0 });
    expect(fixture.value('SELECT count(*) FROM message')).toBe(4);
    expect(await store.purge({ now, ...retention })).toEqual(dry);
    expect(fixture.value('SELECT count(*) FROM message')).toBe(1);
    expect(fixture.value('SELECT count(*) FROM held_payload')).toBe(0);
  });

  test('a message whose key has moved to a newer one goes without it', async () => {
    const store = await delivered('m1');
    const again = { receivedAt: noon + 100 * day, ebTimestamp: noon + 100 * day };
    await store.accept(sampleMessage('m1', again));
    await deliver(store, 2);
    expect(await store.purge({ now: noon + 400 * day, ...retention, payloadRetention: 0 })).toMatchObject({
      messages: 1,
    });
    expect(fixture.rows('SELECT id FROM message')).toEqual([{ id: 2 }]);
  });

  test('what a clock that was ahead has forgotten too early is recognised once the clock is right again', async () => {
    const store = await delivered('m1');
    await store.purge({ now: noon + 100 * day, ...retention });
    const replay = sampleMessage('m1', { receivedAt: noon + 85 * day });
    expect(await store.accept(replay)).toMatchObject({ kind: 'accepted', decision: 'review' });
    // An earlier purge takes nothing back, and what was signed later is new.
    await store.purge({ now: noon + 95 * day, ...retention });
    const later = sampleMessage('m2', { receivedAt: noon + 95 * day, ebTimestamp: noon + 9 * day });
    expect(await store.accept(later)).toMatchObject({ decision: 'review' });
    const fresh = sampleMessage('m3', { receivedAt: noon + 85 * day, ebTimestamp: noon + 11 * day });
    expect(await store.accept(fresh)).toMatchObject({ decision: 'allow' });
  });

  test('works through more rows than one step takes, and gives the space back', async () => {
    const ids = Array.from({ length: 600 }, (_, i) => `m${i}`);
    const store = await delivered(...ids);
    const before = fixture.value('PRAGMA page_count') as number;
    const report = await store.purge({ now: noon + 500 * day, ...retention });
    expect(report).toEqual({ keys: 1200, messages: 600, payloads: 600, evidence: 600, decisions: 0, files: 0 });
    expect(fixture.value('PRAGMA freelist_count')).toBe(0);
    expect(fixture.value('PRAGMA page_count')).toBeLessThan(before / 10);
  });
});
