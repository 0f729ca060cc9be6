import { describe, expect, test } from 'vitest';
import { storeFixture } from './testing/fixture.ts';
import { day, noon, otherMessage, rebuiltMessage, sampleMessage, sha256 } from './testing/sample.ts';

const bytes = (b: Uint8Array) => Buffer.from(b).toString('latin1');

describe('accept', () => {
  const fixture = storeFixture();

  test('a new message is stored, found by its references and by its body, and waits in the outbox', async () => {
    const store = await fixture.open();
    const message = sampleMessage('m1');
    const outcome = await store.accept(message);
    expect(outcome).toMatchObject({ kind: 'accepted', outsideWindow: false, answer: message.receipt });

    const found = await store.find(message, message.referenceSet, noon + 1);
    expect(found?.receivedAt).toBe(noon);
    expect(bytes(found!.receipt!.body)).toBe(bytes(message.receipt.body));
    expect(found?.receipt?.contentType).toBe(message.receipt.contentType);

    const known = await store.findRequest(message.requestDigest!, noon + 1);
    expect(known).toMatchObject({ sender: 'POP000001', messageId: 'm1' });
    expect(bytes(known!.referenceSet)).toBe(bytes(message.referenceSet));
    expect(known!.signer.chain.map(bytes)).toEqual(['leaf', 'issuer']);
    expect(known!.signer.fingerprint).toBe(message.signer.fingerprint);

    const [handOver] = await store.outbox.pending(10);
    expect(handOver).toMatchObject({ number: 1, state: 'received', possibleDuplicate: false, redelivery: 0 });
    expect(handOver!.message.routing).toEqual(message.routing);
    expect(bytes(handOver!.payloads[0]!.data as Uint8Array)).toBe(bytes(message.payloads[0]!.data as Uint8Array));
  });

  test('an unknown id, sender or body is not found', async () => {
    const store = await fixture.open();
    const message = sampleMessage('m1');
    await store.accept(message);
    expect(await store.find({ sender: 'POP000002', messageId: 'm1' }, message.referenceSet, noon)).toBeNull();
    expect(await store.find({ sender: 'POP000001', messageId: 'm2' }, message.referenceSet, noon)).toBeNull();
    expect(await store.findRequest(sha256('other'), noon)).toBeNull();
  });

  test('the same references again give the stored bytes, not those that came along', async () => {
    const store = await fixture.open();
    const message = sampleMessage('m1');
    await store.accept(message);
    const again = sampleMessage('m1', {
      receipt: { status: 200, contentType: 'x/y', body: Buffer.from('another receipt') },
      requestDigest: sha256('other mime boundary'),
    });
    const outcome = await store.accept(again);
    expect(outcome.kind).toBe('duplicate');
    if (outcome.kind !== 'duplicate') return;
    expect(outcome.answer.contentType).toBe(message.receipt.contentType);
    expect(bytes(outcome.answer.body)).toBe(bytes(message.receipt.body));
    expect(await store.findRequest(sha256('other mime boundary'), noon)).not.toBeNull();
    // The look-up missed it (two processes at once), so it is recorded here or nowhere.
    expect((await store.audit('m1'))!.rows.at(-1)).toMatchObject({
      ...{
        decision: 'suppress',
        rule: 'default',
        existing: { id: 1, messageId: 'm1' },
        windowExpires: noon + 90 * day,
      },
    });
    expect((await store.messages({ limit: 1 }))[0]).toMatchObject({ suppressions: 1 });
    expect(fixture.value('SELECT count(*) FROM outbox')).toBe(1);
  });

  test('rebuilt headers around the same content get a receipt of their own, and nothing more is delivered', async () => {
    const store = await fixture.open();
    await store.accept(sampleMessage('m1'));
    const copy = rebuiltMessage('m1', 'b');
    expect((await store.find(copy, copy.referenceSet, noon))?.receipt).toBeNull();
    expect(await store.accept(copy)).toMatchObject({ kind: 'rebuilt', answer: copy.receipt });
    expect(bytes((await store.find(copy, copy.referenceSet, noon))!.receipt!.body)).toBe('<receipt b>');
    expect(await store.accept(copy)).toMatchObject({ kind: 'duplicate' });
    expect(fixture.value('SELECT count(*) FROM outbox')).toBe(1);
    expect(fixture.value('SELECT count(*) FROM evidence')).toBe(2);
  });

  test('with `first-receipt` rebuilt headers get the first bytes', async () => {
    const store = await fixture.open();
    const message = sampleMessage('m1');
    await store.accept(message);
    const outcome = await store.accept(rebuiltMessage('m1', 'b', { rebuilt: 'first-receipt' }));
    expect(outcome.kind === 'rebuilt' && bytes(outcome.answer.body)).toBe(bytes(message.receipt.body));
    expect(fixture.value('SELECT count(*) FROM receipt')).toBe(1);
  });

  test('a message keeps at most 50 receipts; a further rebuilt copy gets the first bytes', async () => {
    const store = await fixture.open();
    const message = sampleMessage('m1');
    await store.accept(message);
    const outcomes = await Promise.all(
      Array.from({ length: 60 }, (_, i) => store.accept(rebuiltMessage('m1', `${i}`))),
    );
    expect(fixture.value('SELECT count(*) FROM receipt')).toBe(50);
    const last = outcomes.at(-1)!;
    expect(last.kind === 'rebuilt' && bytes(last.answer.body)).toBe(bytes(message.receipt.body));
  });

  test('a message remembers at most 50 bodies', async () => {
    const store = await fixture.open();
    const copies = Array.from({ length: 60 }, (_, i) => sampleMessage('m1', { requestDigest: sha256(`body ${i}`) }));
    await Promise.all(copies.map((m) => store.accept(m)));
    expect(fixture.value('SELECT count(*) FROM request')).toBe(50);
  });

  test('other content under a known id is held once, counted, and never delivered', async () => {
    const store = await fixture.open();
    await store.accept(sampleMessage('m1'));
    const conflict = otherMessage('m1', 'x');
    expect(await store.accept(conflict)).toMatchObject({ kind: 'conflict', repeats: 0 });
    expect(await store.accept(conflict)).toMatchObject({ kind: 'conflict', repeats: 1 });
    expect(await store.accept(otherMessage('m1', 'y'))).toMatchObject({ kind: 'conflict', repeats: 0 });
    expect(fixture.rows('SELECT repeats FROM held ORDER BY id')).toEqual([{ repeats: 1 }, { repeats: 0 }]);
    expect(fixture.value('SELECT length(data) FROM held_payload')).toBe(10_240);
    expect(fixture.value('SELECT count(*) FROM message')).toBe(1);
    expect(fixture.value('SELECT count(*) FROM outbox')).toBe(1);
    expect(fixture.value(`SELECT count(*) FROM decision WHERE decision = 'conflict'`)).toBe(3);
  });

  test('one sender cannot have more than 1000 conflicts held', async () => {
    const store = await fixture.open();
    await store.accept(sampleMessage('m1'));
    await Promise.all(
      Array.from({ length: 1010 }, (_, i) => store.accept(otherMessage('m1', `${i}`, { payloads: [] }))),
    );
    expect(fixture.value('SELECT count(*) FROM held')).toBe(1000);
    expect(fixture.value(`SELECT sum(count) FROM suppression WHERE decision = 'conflict'`)).toBe(10);
    // Where the policy holds it is a conflict, too, until an operator has decided about one of those that are there.
    const held = otherMessage('m1', 'held', { payloads: [], conflict: 'hold' });
    expect(await store.accept(held)).toMatchObject({ kind: 'conflict' });
    fixture.run(`UPDATE held SET state = 'dismissed' WHERE id = 1`);
    expect(await store.accept(held)).toMatchObject({ kind: 'held' });
  });

  test('the same id of another sender is another message', async () => {
    const store = await fixture.open();
    await store.accept(sampleMessage('m1'));
    expect(await store.accept(otherMessage('m1', 'x', { sender: 'POP000002' }))).toMatchObject({ kind: 'accepted' });
  });

  test('a review is kept back and a ping has no hand-over', async () => {
    const store = await fixture.open();
    await store.accept(sampleMessage('m1', { purpose: 'review' }));
    await store.accept(sampleMessage('m2', { purpose: 'test', payloads: [] }));
    expect(await store.outbox.pending(10)).toEqual([]);
    expect(await store.counts()).toMatchObject({ review: 1, received: 0, delivered: 0 });
    expect((await store.messages({ limit: 10 })).map((m) => m.state)).toEqual(['test', 'review']);
  });
});

describe('the window', () => {
  const fixture = storeFixture();
  const message = sampleMessage('m1', { window: 10 * day });

  test('ends the promise exactly at received_at plus window, whether or not purge has run', async () => {
    const store = await fixture.open();
    await store.accept(message);
    expect(await store.find(message, message.referenceSet, noon + 10 * day - 1)).not.toBeNull();
    expect(await store.find(message, message.referenceSet, noon + 10 * day)).toBeNull();
    expect(await store.findRequest(message.requestDigest!, noon + 10 * day - 1)).not.toBeNull();
    expect(await store.findRequest(message.requestDigest!, noon + 10 * day)).toBeNull();
  });

  test('counts from the signed eb:Timestamp when that is later', async () => {
    const store = await fixture.open();
    await store.accept({ ...message, ebTimestamp: noon + day });
    expect(await store.find(message, message.referenceSet, noon + 11 * day - 1)).not.toBeNull();
    expect(await store.find(message, message.referenceSet, noon + 11 * day)).toBeNull();
  });

  test('outside of it the same message is new: the key and the body move to it and it says so', async () => {
    const store = await fixture.open();
    await store.accept(message);
    const later = { ...message, receivedAt: noon + 10 * day, ebTimestamp: noon + 10 * day };
    expect(await store.accept(later)).toMatchObject({ kind: 'accepted', id: 2, outsideWindow: true });
    expect((await store.find(message, message.referenceSet, later.receivedAt + 1))?.id).toBe(2);
    expect(await store.findRequest(message.requestDigest!, later.receivedAt + 1)).not.toBeNull();
    expect(fixture.value('SELECT message FROM request')).toBe(2);
    const [, second] = await store.outbox.pending(10);
    expect(second?.message.outsideWindow).toBe(true);
    expect(fixture.value('SELECT detail FROM decision WHERE message = 2')).toContain('"outsideWindow":true');
  });

  test('just inside of it other content is still a conflict', async () => {
    const store = await fixture.open();
    await store.accept(message);
    const late = otherMessage('m1', 'x', { window: 10 * day, receivedAt: noon + 10 * day - 1 });
    expect(await store.accept(late)).toMatchObject({ kind: 'conflict' });
    expect(await store.accept({ ...late, receivedAt: noon + 10 * day })).toMatchObject({ kind: 'accepted' });
  });

  test('a lengthened window extends what is stored, also what the old one would have ended', async () => {
    const store = await fixture.open({ window: 20 * day });
    await store.accept(message);
    const at = noon + 15 * day;
    expect(await store.find(message, message.referenceSet, at)).not.toBeNull();
    expect(await store.findRequest(message.requestDigest!, at)).not.toBeNull();
    expect(await store.find(message, message.referenceSet, at, 12 * day)).toBeNull();
    expect(await store.accept({ ...message, receivedAt: at, window: 20 * day })).toMatchObject({ kind: 'duplicate' });
    expect(fixture.value(`SELECT expires_at FROM message_key`)).toBe(noon + 20 * day);
  });

  test('a shortened window does not cut', async () => {
    const store = await fixture.open({ window: day });
    await store.accept(message);
    const at = noon + 9 * day;
    expect(await store.find(message, message.referenceSet, at)).not.toBeNull();
    expect(await store.accept({ ...message, receivedAt: at, window: day })).toMatchObject({ kind: 'duplicate' });
    expect(fixture.value(`SELECT expires_at FROM message_key`)).toBe(noon + 10 * day);
  });
});
