import { afterEach, expect, it } from 'vitest';
import type { AuditRow } from '../store/operator-types.ts';
import { TestSender } from '../testing/messages.ts';
import { post } from '../testing/post.ts';
import { removeDirectory, startReceiver, type TestReceiver } from '../testing/receiver.ts';

const day = 86_400_000;
let receiver: TestReceiver;
afterEach(async () => {
  await receiver.stop();
  removeDirectory(receiver);
});

it('a refusal of an authenticated access point is a decision, one of a stranger is not; both are listed and counted by code and reason', async () => {
  receiver = await startReceiver({ settings: { 'duplicates.staleTimestamp': 'refuse' } });
  const sender = new TestSender();
  const refused = await sender.message({ timestamp: new Date(Date.now() - 400 * day) });
  expect((await post(receiver.url, refused)).body.toString()).toContain('EBMS:0004');
  const forged = await sender.message();
  const at = forged.body.indexOf('SignatureValue>') + 20;
  forged.body[at] = forged.body[at] === 0x41 ? 0x42 : 0x41;
  expect((await post(receiver.url, forged)).body.toString()).toContain('EBMS:0101');

  const { store } = receiver.quittance;
  const listed = await store.refusals({ limit: 10 });
  expect(listed.map(({ code, sender: who }) => [code, who])).toEqual([
    ['EBMS:0101', null],
    ['EBMS:0004', 'POP000001'],
  ]);
  const rows: AuditRow[] = [];
  for await (const row of store.auditRange(0, Number.MAX_SAFE_INTEGER)) rows.push(row);
  const decisions = rows.filter(({ decision }) => decision === 'refuse');
  expect(decisions).toMatchObject([
    {
      sender: 'POP000001',
      messageId: refused.messageId,
      remoteAddress: '127.0.0.1',
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      detail: { code: 'EBMS:0004', reason: 'stale-timestamp' },
    },
  ]);
  const metrics = await (await fetch(`${receiver.origin}/metrics`)).text();
  expect(metrics).toContain('quittance_refusals_total{code="EBMS:0004",reason="stale-timestamp"} 1');
  expect(metrics).toMatch(/^quittance_refusals_total\{code="EBMS:0101",reason="[a-z-]+"\} 1$/m);
});
