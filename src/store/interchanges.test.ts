import { describe, expect, test } from 'vitest';
import { storeFixture } from './testing/fixture.ts';
import { carrying, day, instanceKey, interchange, noon, sampleMessage, sha256 } from './testing/sample.ts';
import type { AcceptOutcome, Interchanges, NewMessage, Store } from './types.ts';

const hour = 3_600_000;
const actor = { by: 'Alice', reason: 'agreed', osUser: 'alice', host: 'ops' };

describe('the second layer', () => {
  const fixture = storeFixture();
  const order = (id: string, keys: Interchanges['keys'], changes: Partial<NewMessage> & Partial<Interchanges> = {}) => {
    const { onConflict, replacePending, ...rest } = changes;
    const rules = { ...(onConflict && { onConflict }), ...(replacePending !== undefined && { replacePending }) };
    return sampleMessage(id, { ...carrying(id, keys, rules), ...rest });
  };
  const waiting = async (store: Store) => (await store.outbox.pending(100)).map((h) => h.message.messageId);
  const kindOf = (outcome: AcceptOutcome) => (outcome.kind === 'accepted' ? outcome.decision : outcome.kind);

  test('a new key per retransmission: the same interchange under another MessageId gets its own receipt and no delivery', async () => {
    const store = await fixture.open();
    await store.accept(order('m1', [interchange('4711', 'an order')]));
    const again = order('m2', [interchange('4711', 'an order')], { receivedAt: noon + hour });
    expect(await store.accept(again)).toEqual({
      ...{ kind: 'suppressed', id: 2, of: { id: 1, messageId: 'm1' }, warnings: [], answer: again.receipt },
    });
    expect(await waiting(store)).toEqual(['m1']);
    expect((await store.messages({ limit: 1 }))[0]).toMatchObject({
      messageId: 'm2',
      state: 'suppressed',
      receipts: 1,
    });
    const found = await store.find(again, again.referenceSet, noon + hour);
    expect(Buffer.from(found!.receipt!.body)).toEqual(Buffer.from(again.receipt.body));
    const [row] = (await store.audit('m2'))!.rows;
    expect(row).toMatchObject({
      ...{ decision: 'suppressInterchange', layer: 'edifact', key: interchange('4711', '').key, rule: 'default' },
      ...{ existing: { id: 1, messageId: 'm1' }, stateAfter: 'suppressed', windowExpires: noon + 90 * day },
      ...{ referenceSet: Buffer.from(again.referenceSet).toString('hex'), remoteAddress: '192.0.2.1' },
    });
    expect((await store.audit('m1'))!.duplicates).toEqual([{ id: 2, messageId: 'm2', receivedAt: noon + hour }]);
  });

  test('the same SBDH instance under another MessageId is suppressed', async () => {
    const store = await fixture.open();
    await store.accept(sampleMessage('m1'));
    const keys = [instanceKey('m1')];
    const again = sampleMessage('m2', { interchanges: { keys, onConflict: 'review', replacePending: false } });
    expect(await store.accept(again)).toMatchObject({ kind: 'suppressed', of: { messageId: 'm1' } });
  });

  test('counters reset to 1 after a restart: other content and another date-time is allowed, with a warning', async () => {
    const store = await fixture.open();
    await store.accept(order('m1', [interchange('1', 'the first order', '261130:1159')]));
    const reset = await store.accept(order('m2', [interchange('1', 'another order', '261201:0800')]));
    expect(reset).toMatchObject({ kind: 'accepted', decision: 'allow' });
    expect(reset.kind === 'accepted' && reset.warnings.join()).toMatch(
      /interchange 1 .*counter seems to have begun anew/,
    );
    expect(await waiting(store)).toEqual(['m1', 'm2']);
    // From now on the key knows both contents.
    for (const [id, content] of [
      ['m3', 'the first order'],
      ['m4', 'another order'],
    ] as const) {
      const date = content === 'another order' ? '261201:0800' : '261130:1159';
      expect(await store.accept(order(id, [interchange('1', content, date)]))).toMatchObject({ kind: 'suppressed' });
    }
  });

  test('two distinct orders with equal content, under their own references, are both delivered', async () => {
    const store = await fixture.open();
    await store.accept(order('m1', [interchange('4711', 'ten apples')], { contentDigest: sha256('ten apples') }));
    const second = order('m2', [interchange('4712', 'ten apples')], { contentDigest: sha256('ten apples') });
    expect(await store.accept(second)).toMatchObject({ kind: 'accepted', decision: 'allow', warnings: [] });
    expect(await waiting(store)).toEqual(['m1', 'm2']);
  });

  test('replay with other content under the same reference and date-time waits for an operator, receipted', async () => {
    const store = await fixture.open();
    await store.accept(order('m1', [interchange('4711', 'ten apples')]));
    const changed = order('m2', [interchange('4711', 'ten thousand apples')]);
    expect(await store.accept(changed)).toMatchObject({
      kind: 'accepted',
      decision: 'review',
      answer: changed.receipt,
    });
    expect(await waiting(store)).toEqual(['m1']);
    const [item] = await store.reviews({ limit: 10 });
    expect(item).toMatchObject({ id: '2', kind: 'message', told: 'receipt', existing: { id: 1, messageId: 'm1' } });
    expect(item?.why).toBe('interchange 4711 was received before in message m1 with other content');
  });

  test.each([
    ['allow', 'allow', ['m1', 'm2']],
    ['suppress', 'suppressed', ['m1']],
    ['review', 'review', ['m1']],
  ] as const)(
    'a conflict by the rule %s is decided so, and never silently',
    async (onConflict, decision, delivered) => {
      const store = await fixture.open();
      await store.accept(order('m1', [interchange('4711', 'a')]));
      const outcome = await store.accept(order('m2', [interchange('4711', 'b')], { onConflict }));
      expect(kindOf(outcome)).toBe(decision);
      expect('warnings' in outcome && outcome.warnings).toEqual([
        'interchange 4711 was received before in message m1 with other content',
      ]);
      expect(await waiting(store)).toEqual(delivered);
      expect((await store.audit('m2'))!.rows[0]?.detail.warnings).toHaveLength(1);
    },
  );

  test('of several interchanges all repeat: suppressed; only some: the whole payload waits, each named', async () => {
    const store = await fixture.open();
    const [a, b, c] = [interchange('1', 'a'), interchange('2', 'b'), interchange('3', 'c')];
    await store.accept(order('m1', [a, b]));
    expect(await store.accept(order('m2', [b, a]))).toMatchObject({ kind: 'suppressed' });
    const partly = await store.accept(order('m3', [a, c]));
    expect(partly).toMatchObject({
      ...{ kind: 'accepted', decision: 'review' },
      warnings: ['interchange 1 was received before in message m1', 'not received before: interchange 3'],
    });
    expect(await waiting(store)).toEqual(['m1']);
  });

  test('a suppression by rule never takes a new interchange along with it', async () => {
    const store = await fixture.open();
    await store.accept(order('m1', [interchange('1', 'a')]));
    const mixed = order('m2', [interchange('1', 'other'), interchange('2', 'new')], { onConflict: 'suppress' });
    expect(await store.accept(mixed)).toMatchObject({ kind: 'accepted', decision: 'review' });
    // Nor does one that only knows the SBDH's instance.
    const keys = [instanceKey('m1', { content: 'other' }), interchange('3', 'new')];
    const sameInstance = sampleMessage('m3', { interchanges: { keys, onConflict: 'suppress', replacePending: false } });
    expect(await store.accept(sameInstance)).toMatchObject({ kind: 'accepted', decision: 'review' });
  });

  test('a known interchange under an SBDH instance that is known with other content waits, unless the rule suppresses', async () => {
    const store = await fixture.open();
    await store.accept(order('m1', [interchange('1', 'a')]));
    const keys = [instanceKey('m1', { content: 'to somebody else' }), interchange('1', 'a')];
    const again = (id: string, onConflict: Interchanges['onConflict']) =>
      store.accept(sampleMessage(id, { interchanges: { keys, onConflict, replacePending: false } }));
    expect(await again('m2', 'suppress')).toMatchObject({ kind: 'suppressed' });
    expect(await again('m3', 'allow')).toMatchObject({
      decision: 'review',
      warnings: [
        'SBDH instance m1 was received before in message m1 with other content',
        'interchange 1 was received before in message m1',
      ],
    });
  });

  test('what has no key is never suppressed for what has: the payload waits, unless the whole of it came before', async () => {
    const store = await fixture.open();
    const key = interchange('1', 'a');
    const mixed = (
      id: string,
      content: string,
      keys: Interchanges['keys'] = [key],
      rules: Partial<Interchanges> = {},
    ) =>
      sampleMessage(id, {
        ...carrying(id, keys, { unkeyed: ['payload 2'], ...rules }),
        contentDigest: sha256(content),
      });
    await store.accept(order('m1', [key]));
    expect(await store.accept(mixed('m2', 'with a drawing'))).toMatchObject({
      decision: 'review',
      warnings: [
        'interchange 1 was received before in message m1',
        'it cannot be told whether this came before: payload 2',
      ],
    });
    expect(await store.accept(mixed('m3', 'with a drawing'))).toMatchObject({
      kind: 'suppressed',
      of: { messageId: 'm2' },
    });
    const rule = { onConflict: 'suppress' } as const;
    expect(await store.accept(mixed('m4', 'x', [interchange('1', 'b')], rule))).toMatchObject({ decision: 'review' });
    expect(await store.accept(mixed('m5', 'y', [interchange('2', 'a')]))).toMatchObject({ decision: 'allow' });
    expect(await store.accept(mixed('m6', 'z', [interchange('2', 'a'), interchange('3', 'a')]))).toMatchObject({
      decision: 'review',
      warnings: [
        'interchange 2 was received before in message m5',
        'not received before: interchange 3',
        'it cannot be told whether this came before: payload 2',
      ],
    });
  });

  test('no partner blocks the references of another', async () => {
    const store = await fixture.open();
    const key = interchange('4711', 'a');
    await store.accept(order('m1', [key]));
    const other = order('m2', [{ ...key, scope: 'POP000002 9915:other' }], { sender: 'POP000002' });
    expect(await store.accept(other)).toMatchObject({ kind: 'accepted', decision: 'allow' });
  });

  test('what an operator rejected stands in the way of no corrected one; what it was compared with still does', async () => {
    const store = await fixture.open();
    await store.accept(order('m1', [interchange('4711', 'a')]));
    await store.accept(order('m2', [interchange('4711', 'wrong')]));
    await store.review('m2', 'reject', actor, noon);
    expect(await store.accept(order('m3', [interchange('4711', 'wrong')]))).toMatchObject({ decision: 'review' });
    expect(await store.accept(order('m4', [interchange('4711', 'a')]))).toMatchObject({ kind: 'suppressed' });
    await store.accept(order('m5', [interchange('4712', 'wrong')], { purpose: 'review' }));
    await store.review('m5', 'reject', actor, noon);
    expect(await store.accept(order('m6', [interchange('4712', 'wrong')]))).toMatchObject({ decision: 'allow' });
  });

  test('repeat outside the window: an expired interchange in a fresh message is delivered, with a warning everywhere', async () => {
    const store = await fixture.open();
    await store.accept(order('m1', [interchange('4711', 'a')]));
    const later = { receivedAt: noon + 90 * day, ebTimestamp: noon + 90 * day };
    const outcome = await store.accept(order('m2', [interchange('4711', 'a')], later));
    expect(outcome).toMatchObject({ kind: 'accepted', decision: 'allow', outsideWindow: true });
    expect('warnings' in outcome && outcome.warnings).toEqual([
      'interchange 4711 is known from a time before the duplicate window',
    ]);
    const [, second] = await store.outbox.pending(10);
    expect(second?.message).toMatchObject({
      outsideWindow: true,
      warnings: outcome.kind === 'accepted' && outcome.warnings,
    });
    const cautious = { ...later, outsideWindow: 'review' } as const;
    await store.accept(order('m3', [interchange('4712', 'a')]));
    expect(await store.accept(order('m4', [interchange('4712', 'a')], cautious))).toMatchObject({ decision: 'review' });
  });

  test('a lengthened window extends an interchange key, a shortened one does not cut', async () => {
    const store = await fixture.open();
    await store.accept(order('m1', [interchange('4711', 'a')], { window: 10 * day }));
    const at = { receivedAt: noon + 15 * day, ebTimestamp: noon + 15 * day };
    expect(await store.accept(order('m2', [interchange('4711', 'a')], { ...at, window: 20 * day }))).toMatchObject({
      kind: 'suppressed',
    });
    const soon = { receivedAt: noon + 9 * day, ebTimestamp: noon + 9 * day, window: day };
    expect(await store.accept(order('m3', [interchange('4711', 'a')], soon))).toMatchObject({ kind: 'suppressed' });
  });

  test('a partner that never changes its reference costs a bounded look, and other content is then a conflict', async () => {
    const store = await fixture.open();
    const each = (i: number) => interchange('1', `content ${i}`, `26113${i}:1200`);
    for (let i = 0; i < 205; i++) await store.accept(order(`m${i}`, [each(i)]));
    expect(await store.accept(order('same', [each(203)]))).toMatchObject({ kind: 'suppressed' });
    expect(await store.accept(order('other', [each(9999)]))).toMatchObject({ decision: 'review' });
  });
});
