import { afterEach, describe, expect, test } from 'vitest';
import { sbdOf, type TestMessage, TestSender } from '../testing/messages.ts';
import { post } from '../testing/post.ts';
import { removeDirectory, startReceiver, type TestReceiver } from '../testing/receiver.ts';

const sender = new TestSender();
const day = 24 * 3_600_000;
let receiver: TestReceiver;
afterEach(async () => {
  await receiver.stop();
  removeDirectory(receiver);
});

/** Posts it and demands a receipt of its own; gives the bytes. */
async function receipted(message: TestMessage): Promise<string> {
  const answer = await post(receiver.url, message);
  expect(sender.judge(answer.body, message)).toEqual({ receipt: true, verified: true, error: null });
  return answer.body.toString();
}

/** An order as EDIFACT; each call wraps it in an SBD of its own, as gateways do for each attempt. */
function order(reference: string, content: string, prepared = '261130:1159'): Buffer {
  const unb = `UNB+UNOC:3+4012345000009:14+4098765000004:14+${prepared}+${reference}'`;
  return sbdOf(Buffer.from(`UNA:+.? '${unb}UNH+1+ORDERS:D:96A:UN'BGM+220+${content}+9'UNT+3+1'UNZ+1+${reference}'`));
}
const states = async () => (await receiver.quittance.store.messages({ limit: 10 })).map((m) => m.state).reverse();

describe('the second layer, end to end', () => {
  test('the same interchange under a new MessageId and a new SBD gets its own receipt and is not delivered', async () => {
    receiver = await startReceiver();
    const first = await receipted(await sender.message({ sbd: order('4711', 'PO-1') }));
    const repeat = await sender.message({ sbd: order('4711', 'PO-1') });
    const second = await receipted(repeat);
    expect(second).not.toBe(first);
    expect((await post(receiver.url, repeat)).body.toString()).toBe(second);
    expect(await receiver.inbox()).toHaveLength(1);
    expect(await states()).toEqual(['delivered', 'suppressed']);
  });

  test('the same SBDH instance under a new MessageId is not delivered again; the same content in a new one is', async () => {
    receiver = await startReceiver();
    const first = await sender.message();
    await receipted(first);
    await receipted(await sender.message({ sbd: first.sbd }));
    const other = first.sbd.toString().replace(/(<InstanceIdentifier>)[^<]*/, '$1another-instance');
    expect(other).not.toBe(first.sbd.toString());
    await receipted(await sender.message({ sbd: Buffer.from(other) }));
    expect(await receiver.inbox()).toHaveLength(2);
    expect(await states()).toEqual(['delivered', 'suppressed', 'delivered']);
  });

  test('the same SBDH instance and document with another further payload, or to somebody else, is not suppressed', async () => {
    receiver = await startReceiver();
    const first = await sender.message({ further: [Buffer.from('drawing A')] });
    await receipted(first);
    await receipted(await sender.message({ sbd: first.sbd, further: [Buffer.from('drawing B')] }));
    const elsewhere = Buffer.from(first.sbd.toString().replaceAll('0208:9876543210', '0208:1111111111'));
    await receipted(await sender.message({ sbd: elsewhere, finalRecipient: '0208:1111111111' }));
    await receipted(await sender.message({ sbd: first.sbd, further: [Buffer.from('drawing A')] }));
    expect(await receiver.inbox()).toHaveLength(1);
    expect(await states()).toEqual(['delivered', 'review', 'review', 'suppressed']);
  });

  test('an interchange in a further payload is compared, and does not take along what stands beside it', async () => {
    receiver = await startReceiver();
    const edi = (reference: string) =>
      Buffer.from(`UNB+UNOC:3+A:14+B:14+261130:1159+${reference}'BGM+220'UNZ+0+${reference}'`);
    await receipted(await sender.message({ further: [edi('1')] }));
    await receipted(await sender.message({ further: [edi('1')] }));
    await receipted(await sender.message({ sbd: order('4711', 'PO-1') }));
    await receipted(await sender.message({ sbd: order('4711', 'PO-1'), further: [edi('1')] }));
    await receipted(await sender.message({ sbd: order('4711', 'PO-1'), further: [edi('2')] }));
    expect(await receiver.inbox()).toHaveLength(2);
    expect(await states()).toEqual(['delivered', 'review', 'delivered', 'suppressed', 'review']);
    const why = (await receiver.quittance.store.reviews({ limit: 10 })).map((item) => item.why);
    expect(why[0]).toContain('it cannot be told whether this came before: the business document');
    expect(why[1]).toContain("not received before: EDIFACT interchange '2'");
  });

  test.each([
    ['an interchange whose reference cannot be read', "UNB+UNOC:3+A:14+B:14+261130:1159'BGM+220+new'UNZ+0+'"],
    ['something that is no interchange', 'a letter'],
    ['a further payload', null],
  ])('a known interchange with %s beside it waits, and is not suppressed', async (_, beside) => {
    receiver = await startReceiver();
    const known = "UNB+UNOC:3+A:14+B:14+261130:1159+1'BGM+220'UNZ+0+1'";
    await receipted(await sender.message({ sbd: sbdOf(Buffer.from(known)) }));
    const more = {
      sbd: sbdOf(Buffer.from(known + (beside ?? ''))),
      further: beside === null ? [Buffer.from('new')] : [],
    };
    await receipted(await sender.message(more));
    expect(await states()).toEqual([expect.any(String), 'review']);
  });

  test('a counter that began anew is delivered with a warning; a reference used twice waits for an operator', async () => {
    receiver = await startReceiver();
    await receipted(await sender.message({ sbd: order('1', 'PO-1') }));
    await receipted(await sender.message({ sbd: order('1', 'PO-2', '261201:0800') }));
    await receipted(await sender.message({ sbd: order('1', 'PO-3') }));
    const [, second] = (await receiver.inbox()).sort();
    expect(await states()).toEqual(['delivered', 'delivered', 'review']);
    expect(String(receiver.metadata(second!).warnings)).toContain('counter seems to have begun anew');
  });

  test('where the policy holds, other content under a known MessageId gets a receipt that never changes', async () => {
    receiver = await startReceiver({ settings: { 'duplicates.onConflict': 'hold' } });
    const first = await sender.message();
    await receipted(first);
    const other = await sender.message({ messageId: first.messageId });
    const receipt = await receipted(other);
    expect((await post(receiver.url, other)).body.toString()).toBe(receipt);
    expect(await receiver.inbox()).toHaveLength(1);
    const actor = { by: 'Alice', reason: 'both are right', osUser: 'alice', host: 'ops' };
    await receiver.quittance.store.review('held-1', 'approve', actor, Date.now());
    await expect.poll(() => receiver.inbox(), { timeout: 10_000 }).toHaveLength(2);
    expect((await post(receiver.url, other)).body.toString()).toBe(receipt);
  });

  test.each([
    ['review', 'review'],
    ['deliver', 'delivered'],
  ])('a signed timestamp older than the window, by %s', async (rule, state) => {
    receiver = await startReceiver({ settings: { 'duplicates.staleTimestamp': rule } });
    await receipted(await sender.message({ timestamp: new Date(Date.now() - 400 * day) }));
    await receiver.inbox();
    expect(await states()).toEqual([state]);
  });

  test('a signed timestamp older than the window can be refused, and then nothing is stored', async () => {
    receiver = await startReceiver({ settings: { 'duplicates.staleTimestamp': 'refuse' } });
    const message = await sender.message({ timestamp: new Date(Date.now() - 400 * day) });
    const answer = await post(receiver.url, message);
    expect(sender.judge(answer.body, message)).toMatchObject({ receipt: false });
    expect(answer.body.toString()).toContain('EBMS:0004');
    expect(await states()).toEqual([]);
  });
});
