import { describe, expect, test } from 'vitest';
import { storeFixture } from './testing/fixture.ts';
import { deliver } from './testing/operator.ts';
import { day, noon, sampleMessage } from './testing/sample.ts';
import type { HandOverState } from './types.ts';

describe('purge', () => {
  const fixture = storeFixture();

  test.each(['received', 'review', 'unknown', 'undeliverable'] as HandOverState[])(
    'never takes a message that is %s, nor its interchange keys',
    async (state) => {
      const store = await fixture.open();
      await store.accept(sampleMessage('m1', state === 'review' ? { purpose: 'review' } : {}));
      if (state === 'unknown') await store.outbox.reconcile(1, 'lost', noon);
      for (let i = 0; state === 'undeliverable' && i < 5; i++) await store.outbox.failed(1, 'no', noon);
      expect(await store.counts()).toMatchObject({ [state]: 1 });
      const now = noon + 9999 * day;
      const report = await store.purge({ now, payloadRetention: day, evidenceRetention: day, dryRun: false });
      expect(report).toMatchObject({ keys: 0, messages: 0, payloads: 0, evidence: 0 });
      expect(fixture.value('SELECT count(*) FROM interchange')).toBe(1);
    },
  );

  test('repeat after purge: an expired key that is gone makes the repeat new, stale or fresh by its own timestamp', async () => {
    const store = await fixture.open();
    const message = sampleMessage('m1');
    await store.accept(message);
    await deliver(store, 1);
    const now = noon + 91 * day;
    await store.purge({ now, payloadRetention: day, evidenceRetention: day, dryRun: false });
    expect(fixture.value('SELECT count(*) FROM message')).toBe(0);
    expect(await store.accept({ ...message, receivedAt: now })).toMatchObject({ decision: 'review' });
    const fresh = sampleMessage('m2', { receivedAt: now, ebTimestamp: now });
    expect(await store.accept(fresh)).toMatchObject({ decision: 'allow', outsideWindow: false });
  });

  test.each([
    ['review', { kind: 'accepted', decision: 'review' }],
    ['deliver', { kind: 'accepted', decision: 'allow' }],
    ['refuse', { kind: 'stale' }],
  ] as const)('a replay older than the window, by the rule %s', async (staleTimestamp, outcome) => {
    const store = await fixture.open();
    const old = { receivedAt: noon + 91 * day, ebTimestamp: noon, staleTimestamp } as const;
    expect(await store.accept(sampleMessage('m1', old))).toMatchObject(outcome);
    const rows = staleTimestamp === 'refuse' ? 0 : 1;
    expect(fixture.value('SELECT count(*) FROM message')).toBe(rows);
    // Refused, it leaves nothing but the decision.
    if (staleTimestamp === 'refuse') {
      expect(fixture.rows('SELECT * FROM decision')).toMatchObject([
        {
          ...{ decision: 'stale', message: null, sender: 'POP000001', message_id: 'm1', layer: 'message', key: 'm1' },
          ...{ rule: 'default', policy_version: '1', window_expires: noon + 90 * day, remote_address: '192.0.2.1' },
        },
      ]);
    }
    // A ping delivers nothing, so nothing can be replayed with it.
    expect(await store.accept(sampleMessage('p', { ...old, purpose: 'test' }))).toMatchObject({ kind: 'accepted' });
  });
});
