import { describe, expect, test } from 'vitest';
import { storeFixture } from './testing/fixture.ts';
import { actor, deliver } from './testing/operator.ts';
import { carrying, day, interchange, noon, sampleMessage } from './testing/sample.ts';
import type { NewMessage } from './types.ts';

describe('the earlier content again, after a later one took its place', () => {
  const fixture = storeFixture();

  test('waits for an operator: nobody has got it, so it cannot be suppressed as known', async () => {
    const store = await fixture.open();
    const carried = (id: string, content: string) =>
      sampleMessage(id, carrying(id, [interchange('4711', content)], { replacePending: true }));
    await store.accept(carried('m1', 'a'));
    expect(await store.accept(carried('m2', 'b'))).toMatchObject({ decision: 'replacePending' });
    const again = await store.accept(carried('m3', 'a'));
    expect(again).toMatchObject({ kind: 'accepted', decision: 'review' });
    expect('warnings' in again && again.warnings.join()).toMatch(/message m1, which a later one has replaced/);
    // Once it is delivered, it is known like any other.
    await store.review('m3', 'approve', actor, noon);
    expect(await store.accept(carried('m4', 'a'))).toMatchObject({ kind: 'suppressed' });
  });

  test.each([['first'], ['last']])('the replaced one of several waits too, in whatever place: %s', async (place) => {
    const store = await fixture.open();
    const carried = (id: string, ...keys: ReturnType<typeof interchange>[]) =>
      sampleMessage(id, carrying(id, keys, { replacePending: true }));
    const [known, earlier] = [interchange('1', 'a'), interchange('2', 'b')];
    await store.accept(carried('m1', known));
    await store.accept(carried('m2', earlier));
    expect(await store.accept(carried('m3', interchange('2', 'c')))).toMatchObject({ decision: 'replacePending' });
    const again = carried('m4', ...(place === 'first' ? [earlier, known] : [known, earlier]));
    expect(await store.accept(again)).toMatchObject({ kind: 'accepted', decision: 'review' });
  });
});

describe('replacing what is still pending', () => {
  const fixture = storeFixture();
  const version = (
    id: string,
    content: string,
    changes: Partial<NewMessage> = {},
    keys = [interchange('4711', content)],
  ) => sampleMessage(id, { ...carrying(id, keys, { replacePending: true }), ...changes });
  const states = () =>
    fixture.rows(
      'SELECT m.message_id AS id, o.state FROM outbox o JOIN message m ON m.id = o.message ORDER BY o.number',
    );

  test('the later one takes the place of a waiting one, and says whose', async () => {
    const store = await fixture.open();
    await store.accept(version('m1', 'a'));
    const outcome = await store.accept(version('m2', 'b'));
    expect(outcome).toMatchObject({ kind: 'accepted', decision: 'replacePending', supersedes: 'm1' });
    expect(states()).toEqual([
      { id: 'm1', state: 'superseded' },
      { id: 'm2', state: 'received' },
    ]);
    const [handOver] = await store.outbox.pending(10);
    expect(handOver?.message).toMatchObject({ messageId: 'm2', supersedes: 'm1' });
    expect((await store.audit('m1'))!.rows.at(-1)).toMatchObject({
      ...{ decision: 'supersede', stateBefore: 'received', stateAfter: 'superseded', existing: { messageId: 'm2' } },
    });
  });

  test('again and again: what was replaced before, and what is past its window, is not in the way', async () => {
    const store = await fixture.open();
    await store.accept(version('m0', 'z', { receivedAt: noon - 91 * day, ebTimestamp: noon - 91 * day }));
    await deliver(store, 1);
    for (const id of ['m1', 'm2', 'm3']) await store.accept(version(id, `content of ${id}`));
    expect(states()).toEqual([
      { id: 'm0', state: 'delivered' },
      { id: 'm1', state: 'superseded' },
      { id: 'm2', state: 'superseded' },
      { id: 'm3', state: 'received' },
    ]);
  });

  test('a message past its window that still waits is another matter: it is not replaced', async () => {
    const store = await fixture.open();
    await store.accept(version('m1', 'a', { receivedAt: noon - 91 * day, ebTimestamp: noon - 91 * day }));
    await store.accept(version('m2', 'b'));
    expect(await store.accept(version('m3', 'c'))).toMatchObject({ decision: 'replacePending', supersedes: 'm2' });
    expect(states().map((s) => s.state)).toEqual(['received', 'superseded', 'received']);
  });

  test('what a power loss sent to review may have been seen, and is not replaced', async () => {
    const store = await fixture.open();
    await store.accept(version('m1', 'a'));
    await store.outbox.startHandingOver([{ number: 1, directory: 'd' }], 'boot', noon);
    await store.outbox.reconcile(1, 'reviewAfterPowerLoss', noon);
    expect(await store.accept(version('m2', 'b'))).toMatchObject({ decision: 'review' });
    expect(states().map((s) => s.state)).toEqual(['review', 'review']);
  });

  test('the race with the hand-over is decided by the row: what has begun is not replaced', async () => {
    const store = await fixture.open();
    await store.accept(version('m1', 'a'));
    const [started, replaced] = await Promise.all([
      store.outbox.startHandingOver([{ number: 1, directory: 'd' }], 'boot', noon),
      store.accept(version('m2', 'b')),
    ]);
    expect(started).toEqual([1]);
    expect(replaced).toMatchObject({ decision: 'review', supersedes: null });
    await store.accept(version('m3', 'a', {}, [interchange('4712', 'a')]));
    const [second, late] = await Promise.all([
      store.accept(version('m4', 'b', {}, [interchange('4712', 'b')])),
      store.outbox.startHandingOver([{ number: 3, directory: 'e' }], 'boot', noon),
    ]);
    expect(second).toMatchObject({ decision: 'replacePending' });
    expect(late).toEqual([]);
  });

  test('one of two contents under the key was handed over already: nothing is replaced', async () => {
    const store = await fixture.open();
    await store.accept(version('m1', 'a'));
    await store.outbox.startHandingOver([{ number: 1, directory: 'd' }], 'boot', noon);
    await store.accept(version('m2', 'b'));
    expect(await store.accept(version('m3', 'c'))).toMatchObject({ decision: 'review' });
    expect(states().map((s) => s.state)).toEqual(['handingOver', 'review', 'review']);
  });

  test('a payload that holds more than the later one is not replaced by it', async () => {
    const store = await fixture.open();
    await store.accept(version('m1', '', {}, [interchange('1', 'a'), interchange('2', 'b')]));
    expect(await store.accept(version('m2', '', {}, [interchange('1', 'c')]))).toMatchObject({ decision: 'review' });
    const both = version('m3', '', {}, [interchange('1', 'd'), interchange('2', 'e')]);
    // Only now m2 waits under the same key as well, and holds nothing that this one lacks.
    const warnings = ['takes the place of messages m1, m2'];
    expect(await store.accept(both)).toMatchObject({ decision: 'replacePending', warnings });
    expect((await store.outbox.pending(10))[0]?.message.warnings).toEqual(warnings);
    expect(states().map((s) => s.state)).toEqual(['superseded', 'superseded', 'received']);
  });

  test('a message that holds something without a key is not replaced: it would be lost', async () => {
    const store = await fixture.open();
    const rules = { replacePending: true, unkeyed: ['payload 2'] };
    await store.accept(sampleMessage('m1', carrying('m1', [interchange('4711', 'a')], rules)));
    expect(await store.accept(version('m2', 'b'))).toMatchObject({ decision: 'review' });
    expect(states().map((s) => s.state)).toEqual(['received', 'review']);
  });

  test("a counter that began anew is another interchange: it is delivered too, and takes nobody's place", async () => {
    const store = await fixture.open();
    await store.accept(version('m1', 'a'));
    const begun = await store.accept(version('m2', 'b', {}, [interchange('4711', 'b', '261231:0000')]));
    expect(begun).toMatchObject({ decision: 'allow', supersedes: null });
    expect('warnings' in begun && begun.warnings.join()).toContain('counter seems to have begun anew');
    // Of two under one reference only the one with this date-time is replaced.
    expect(await store.accept(version('m3', 'c'))).toMatchObject({ decision: 'replacePending', supersedes: 'm1' });
    expect(states().map((s) => s.state)).toEqual(['superseded', 'received', 'received']);
  });

  test('a payload is not replaced by one that has an interchange of it with another date-time only', async () => {
    const store = await fixture.open();
    await store.accept(version('m1', '', {}, [interchange('1', 'a'), interchange('2', 'b')]));
    const keys = [interchange('1', 'c'), interchange('2', 'd', '261231:0000')];
    expect(await store.accept(version('m2', '', {}, keys))).toMatchObject({ decision: 'review' });
    expect(states().map((s) => s.state)).toEqual(['received', 'review']);
  });

  test('a message that is held for a key outside its window replaces nothing, and the conflict is named', async () => {
    const store = await fixture.open();
    const past = { receivedAt: noon - 91 * day, ebTimestamp: noon - 91 * day };
    await store.accept(version('m0', 'z', past, [interchange('1', 'z')]));
    await store.accept(version('m1', 'a'));
    const cautious = { outsideWindow: 'review' } as const;
    const known = 'interchange 4711 was received before in message m1 with other content';
    const keys = [interchange('4711', 'b'), interchange('1', 'z')];
    const held = await store.accept(version('m2', '', cautious, keys));
    expect(held).toMatchObject({ decision: 'review', supersedes: null });
    expect('warnings' in held && held.warnings).toContain(known);
    // The MessageId is outside its window.
    const again = await store.accept(version('m0', 'c', cautious));
    expect(again).toMatchObject({ decision: 'review', supersedes: null });
    expect('warnings' in again && again.warnings.join()).toContain('interchange 4711 was received before');
    expect(states()).toContainEqual({ id: 'm1', state: 'received' });
  });

  test('the same content is suppressed, not replaced, so that no review is got round', async () => {
    const store = await fixture.open();
    await store.accept(version('m1', 'a', { purpose: 'review' }));
    expect(await store.accept(version('m2', 'a'))).toMatchObject({ kind: 'suppressed' });
    expect(states()).toEqual([{ id: 'm1', state: 'review' }]);
  });

  test('a message that has to wait itself replaces nothing', async () => {
    const store = await fixture.open();
    await store.accept(version('m1', 'a'));
    const outcome = await store.accept(version('m2', 'b', { purpose: 'review' }));
    expect(outcome).toMatchObject({ decision: 'review', supersedes: null });
    expect(states()[0]).toEqual({ id: 'm1', state: 'received' });
  });
});
