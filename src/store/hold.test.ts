import { describe, expect, test } from 'vitest';
import { storeFixture } from './testing/fixture.ts';
import {
  carrying,
  day,
  interchange,
  noon,
  otherMessage,
  rebuiltMessage,
  sampleMessage,
  sha256,
} from './testing/sample.ts';
import type { NewMessage, StoredAnswer } from './types.ts';

const actor = { by: 'Alice', reason: 'both are right', osUser: 'alice', host: 'ops' };
const bytes = (answer: StoredAnswer | null | undefined) => Buffer.from(answer?.body ?? []).toString();

describe('a held copy: the same MessageId with other content, where the policy holds', () => {
  const fixture = storeFixture();
  const copy = (mark: string, changes: Partial<NewMessage> = {}) =>
    otherMessage('m1', mark, { conflict: 'hold', payloads: sampleMessage(`m1 ${mark}`).payloads, ...changes });

  async function held(changes: Partial<NewMessage> = {}) {
    const store = await fixture.open();
    await store.accept(sampleMessage('m1'));
    const outcome = await store.accept(copy('x', changes));
    return { store, outcome };
  }

  test('gets a receipt of its own and waits; the first message goes its way', async () => {
    const { store, outcome } = await held();
    expect(outcome).toEqual({ kind: 'held', id: 1, repeats: 0, answer: copy('x').receipt });
    expect((await store.outbox.pending(10)).map((h) => h.message.id)).toEqual([1]);
    expect(await store.reviews({ limit: 10 })).toMatchObject([
      { id: 'held-1', kind: 'held', told: 'receipt', messageId: 'm1', existing: { id: 1, messageId: 'm1' } },
    ]);
    const detail = await store.reviewDetail('held-1');
    expect(Buffer.from(detail!.payloads[0]!.data as Uint8Array)).toEqual(copy('x').payloads[0]!.data);
  });

  test('a retry of it is answered with its stored bytes, by look-up and inside the transaction', async () => {
    const { store } = await held();
    const found = await store.find(copy('x'), copy('x').referenceSet, noon + 1);
    expect(bytes(found?.receipt)).toBe(bytes(copy('x').receipt));
    const receipt = { ...copy('x').receipt, body: Buffer.from('another') };
    const again = await store.accept(copy('x', { receipt }));
    expect(again).toMatchObject({ kind: 'held', repeats: 1 });
    expect(bytes('answer' in again ? again.answer : null)).toBe(bytes(copy('x').receipt));
    expect(await store.find(copy('y'), copy('y').referenceSet, noon)).toMatchObject({ id: 1, receipt: null });
  });

  test('rebuilt with the same content it is the same copy, with another receipt', async () => {
    const { store } = await held();
    const rebuilt = copy('x', { referenceSet: sha256('rebuilt'), receipt: rebuiltMessage('m1', 'rebuilt').receipt });
    expect(await store.accept(rebuilt)).toMatchObject({ kind: 'held', repeats: 1, answer: rebuilt.receipt });
    expect(await store.reviews({ limit: 10 })).toHaveLength(1);
    for (const one of [copy('x'), rebuilt])
      expect(bytes((await store.find(one, one.referenceSet, noon))?.receipt)).toBe(bytes(one.receipt));
  });

  test('approved it keeps the properties of its parts', async () => {
    const store = await fixture.open();
    const properties = [{ name: 'urn:own', type: 'x', value: 'y' }];
    const [part] = sampleMessage('m1').payloads;
    await store.accept(sampleMessage('m1', { payloads: [{ ...part!, properties: [] }] }));
    await store.accept(otherMessage('m1', 'x', { conflict: 'hold', payloads: [{ ...part!, properties }] }));
    await store.review('held-1', 'approve', actor, noon + day);
    const told = (await store.outbox.pending(9)).map((row) => row.payloads.map((p) => p.properties));
    expect(told).toEqual([[[]], [properties]]);
  });

  test('approved it is delivered as a message of its own, once, and its retry still gets its receipt', async () => {
    const { store } = await held();
    const approved = await store.review('held-1', 'approve', actor, noon + day);
    expect(approved).toMatchObject({ kind: 'done', message: 2, messageId: 'm1', state: 'received', already: false });
    const [, second] = await store.outbox.pending(10);
    expect(second?.message).toMatchObject({ id: 2, messageId: 'm1' });
    expect(Buffer.from(second!.payloads[0]!.data as Uint8Array)).toEqual(copy('x').payloads[0]!.data);
    expect(await store.review('held-1', 'approve', actor, noon + day)).toMatchObject({ kind: 'done', already: true });
    expect(await store.outbox.pending(10)).toHaveLength(2);
    expect(bytes((await store.find(copy('x'), copy('x').referenceSet, noon))?.receipt)).toBe(bytes(copy('x').receipt));
    expect((await store.evidence('2'))!.receipts.map(bytes)).toEqual([bytes(copy('x').receipt)]);
    expect((await store.audit('2'))!.rows).toMatchObject([
      { decision: 'approve', actor: { by: 'Alice', osUser: 'alice', host: 'ops' }, reason: 'both are right' },
    ]);
    expect(await store.reviews({ limit: 10 })).toEqual([]);
  });

  test('rejected it is never delivered, and its retry still gets its receipt', async () => {
    const { store } = await held();
    expect(await store.review('held-1', 'reject', actor, noon)).toMatchObject({ kind: 'done', state: 'rejected' });
    for (const action of ['approve', 'confirm'] as const)
      expect(await store.review('held-1', action, actor, noon)).toMatchObject({ kind: 'refused', reason: 'state' });
    expect(bytes((await store.find(copy('x'), copy('x').referenceSet, noon))?.receipt)).toBe(bytes(copy('x').receipt));
    expect(await store.outbox.pending(10)).toHaveLength(1);
  });

  test('its payload file is kept for the approval; that of mere evidence is not', async () => {
    const { writeFile } = await import('node:fs/promises');
    const { readdirSync } = await import('node:fs');
    const large = async (name: string) => {
      const file = `${fixture.directory}/${name}`;
      await writeFile(file, name);
      return [{ ...sampleMessage('m1').payloads[0]!, data: { file } }];
    };
    const { store } = await held({ payloads: await large('kept') });
    await store.accept(copy('y', { conflict: 'reject', payloads: await large('gone') }));
    await store.accept(copy('x', { payloads: await large('again') }));
    expect(readdirSync(`${fixture.path}.content`)).toHaveLength(1);
    await store.review('held-1', 'approve', actor, noon);
    const [, second] = await store.outbox.pending(10);
    expect(second?.payloads[0]?.data).toMatchObject({ file: expect.stringContaining('.content/') });
  });

  test('purge of an old copy leaves the payload file to the message that an approval made of it', async () => {
    const { writeFile, readFile } = await import('node:fs/promises');
    const file = `${fixture.directory}/large`;
    await writeFile(file, 'large');
    const { store } = await held({ payloads: [{ ...sampleMessage('m1').payloads[0]!, data: { file } }] });
    await store.review('held-1', 'approve', actor, noon + 31 * day);
    const limits = { payloadRetention: 30 * day, evidenceRetention: 400 * day, dryRun: false };
    await store.purge({ now: noon + 31 * day, ...limits });
    const kept = (await store.outbox.pending(10))[1]!.payloads[0]!.data as { file: string };
    expect(await readFile(kept.file, 'utf8')).toBe('large');
    // A database written before copy and message were kept apart: both name the file.
    fixture.run(`UPDATE held_payload SET file = (SELECT file FROM payload WHERE message = 2)`);
    await store.purge({ now: noon + 31 * day, ...limits });
    expect(await readFile(kept.file, 'utf8')).toBe('large');
  });

  test('purge keeps its receipt while the MessageId is remembered, and never one that waits', async () => {
    const { store } = await held();
    const limits = { payloadRetention: day, evidenceRetention: day, dryRun: false };
    await store.purge({ now: noon + 1000 * day, ...limits });
    expect(await store.reviews({ limit: 1 })).toHaveLength(1);
    await store.review('held-1', 'reject', actor, noon);
    await store.outbox.startHandingOver([{ number: 1, directory: 'd' }], 'b', noon);
    await store.outbox.delivered([1], noon);
    await store.purge({ now: noon + 50 * day, ...limits });
    expect(bytes((await store.find(copy('x'), copy('x').referenceSet, noon + 50 * day))?.receipt)).toBe(
      bytes(copy('x').receipt),
    );
    expect(fixture.value('SELECT count(*) FROM held_payload WHERE data IS NOT NULL')).toBe(0);
    await store.purge({ now: noon + 91 * day, ...limits });
    expect(fixture.value('SELECT count(*) FROM held')).toBe(0);
  });

  test('names, in the list and when it is approved, the message in which its interchange came meanwhile', async () => {
    const { store } = await held(carrying('m1 x', [interchange('4711', 'a')]));
    expect((await store.reviews({ limit: 10 }))[0]).toMatchObject({ id: 'held-1', same: [] });
    const meanwhile = sampleMessage('m2', carrying('m2', [interchange('4711', 'a')]));
    expect(await store.accept(meanwhile)).toMatchObject({ kind: 'accepted', decision: 'allow' });
    const same = [{ id: 2, messageId: 'm2' }];
    expect((await store.reviewDetail('held-1'))?.item).toMatchObject({ same });
    expect(await store.review('held-1', 'approve', actor, noon)).toMatchObject({ kind: 'done', message: 3, same });
    expect((await store.audit('3'))!.rows[0]).toMatchObject({ decision: 'approve', detail: { same } });
  });

  test('interchange keys of an approved copy are compared with from then on', async () => {
    const { store } = await held(carrying('m1 x', [interchange('4711', 'a')]));
    await store.review('held-1', 'approve', actor, noon);
    const repeat = sampleMessage('m2', carrying('m2', [interchange('4711', 'a')]));
    expect(await store.accept(repeat)).toMatchObject({ kind: 'suppressed', of: { id: 2 } });
    // With the date-time that came with them: a counter that began anew still shows as one.
    const reset = sampleMessage('m3', carrying('m3', [interchange('4711', 'b', '261201:0800')]));
    expect(await store.accept(reset)).toMatchObject({ kind: 'accepted', decision: 'allow' });
  });
});

describe('a conflict that was rejected', () => {
  const fixture = storeFixture();

  test('cannot be approved: its sender was told failure; an operator who has seen it takes it off the list', async () => {
    const store = await fixture.open();
    await store.accept(sampleMessage('m1'));
    expect(await store.accept(otherMessage('m1', 'x'))).toMatchObject({ kind: 'conflict', repeats: 0 });
    expect(await store.reviews({ limit: 10 })).toMatchObject([{ id: 'held-1', told: 'failure' }]);
    const refused = await store.review('held-1', 'approve', actor, noon);
    expect(refused).toMatchObject({ kind: 'refused', reason: 'told-failure' });
    expect(refused.kind === 'refused' && refused.text).toMatch(/was told that this copy failed/);
    expect(await store.review('held-1', 'reject', actor, noon)).toMatchObject({ kind: 'done', already: false });
    expect(await store.reviews({ limit: 10 })).toEqual([]);
  });

  test('stays a conflict for its sender, also when the policy has changed to hold or it was dismissed', async () => {
    const store = await fixture.open();
    await store.accept(sampleMessage('m1'));
    await store.accept(otherMessage('m1', 'x'));
    const hold = otherMessage('m1', 'x', { conflict: 'hold' });
    expect(await store.accept(hold)).toMatchObject({ kind: 'conflict', repeats: 1 });
    await store.review('held-1', 'reject', actor, noon);
    expect(await store.accept(hold)).toMatchObject({ kind: 'conflict', repeats: 2 });
  });
});
