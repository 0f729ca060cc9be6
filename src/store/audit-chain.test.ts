import { describe, expect, test } from 'vitest';
import type { AuditRow } from './operator-types.ts';
import { storeFixture } from './testing/fixture.ts';
import { day, noon, rebuiltMessage, sampleMessage } from './testing/sample.ts';

describe('the decisions', () => {
  const fixture = storeFixture();
  const all = async (rows: AsyncGenerator<AuditRow>) => {
    const found: AuditRow[] = [];
    for await (const row of rows) found.push(row);
    return found;
  };

  test('are exported in order, of a half-open time, page after page', async () => {
    const store = await fixture.open();
    // More refused events than one page takes.
    const events = Array.from({ length: 5200 }, () => store.outbox.reconcile(99, 'lost', noon));
    await Promise.all(events);
    for (let i = 0; i < 20; i++) await store.accept(sampleMessage(`m${i}`, { receivedAt: noon + i }));
    const found = await all(store.auditRange(noon + 5, noon + 15));
    expect(found.map((r) => r.messageId)).toEqual(Array.from({ length: 10 }, (_, i) => `m${i + 5}`));
  });

  test('are chained: a changed or removed row is found out', async () => {
    const store = await fixture.open();
    await store.accept(sampleMessage('m1'));
    await store.accept(sampleMessage('m2'));
    const first = await store.auditHash(noon);
    expect(first).toMatchObject({ upTo: 2, since: 0, hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(await store.auditHash(noon)).toEqual(first);
    await store.accept(rebuiltMessage('m1', 'b'));
    expect((await store.auditHash(noon)).hash).not.toBe(first.hash);
    expect(await store.verifyAudit()).toBeNull();
    fixture.run(`DROP TRIGGER decision_no_update; UPDATE decision SET rule = 'another' WHERE id = 1`);
    expect(await store.verifyAudit()).toMatch(/up to number 2 are not what they were/);
    fixture.run(`UPDATE decision SET rule = 'default' WHERE id = 1`);
    expect(await store.verifyAudit()).toBeNull();
    fixture.run(`DROP TRIGGER decision_no_delete; DELETE FROM decision WHERE id = 3`);
    expect(await store.verifyAudit()).toMatch(/missing/);
  });

  test('go after their retention, up to a recorded checkpoint at which the chain begins anew', async () => {
    const store = await fixture.open();
    await store.accept(sampleMessage('m1'));
    const old = await store.auditHash(noon);
    await store.accept(sampleMessage('m2', { receivedAt: noon + day }));
    await store.auditHash(noon + day);
    const limits = { payloadRetention: 9999 * day, evidenceRetention: 9999 * day, dryRun: false };
    const now = noon + 1000 * day;
    expect(await store.purge({ now, ...limits })).toMatchObject({ decisions: 0 });
    const retained = { now, ...limits, auditRetention: 1000 * day };
    expect(await store.purge({ ...retained, dryRun: true })).toMatchObject({ decisions: 1 });
    expect(await store.purge(retained)).toMatchObject({ decisions: 1 });
    expect(fixture.rows('SELECT up_to, hash FROM audit_checkpoint')).toEqual([{ up_to: 1, hash: old.hash }]);
    expect(await store.verifyAudit()).toBeNull();
    expect(await store.auditHash(now)).toMatchObject({ upTo: 2, since: 1 });
    expect(() => fixture.run('DELETE FROM decision')).toThrow('append-only');
    expect(() => fixture.run('DELETE FROM audit_checkpoint')).toThrow('append-only');
  });
});
