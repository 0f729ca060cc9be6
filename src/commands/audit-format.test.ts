import { expect, test } from 'vitest';
import type { AuditRow } from '../store/operator-types.ts';
import { type AuditFormat, auditLines } from './audit-format.ts';

const row: AuditRow = {
  id: 7,
  at: Date.UTC(2026, 10, 30),
  message: 17,
  sender: 'POP000001',
  messageId: '=cmd|" /C calc"!A1',
  layer: 'edifact',
  key: '4711',
  decision: 'approve',
  rule: 'invoices',
  policyVersion: '3f2a',
  stateBefore: 'review',
  stateAfter: 'received',
  existing: { id: 12, messageId: 'first@ap' },
  windowExpires: Date.UTC(2027, 1, 28),
  remoteAddress: '::1',
  fingerprint: 'ab',
  referenceSet: 'cd',
  actor: { by: 'Alice', osUser: 'ops', host: 'gw1' },
  reason: 'one, "two"\nthree',
  detail: { handOver: 40 },
};

async function* rows() {
  yield row;
  yield { ...row, id: 8, existing: null, actor: null, reason: null, windowExpires: null, detail: {} };
}

async function lines(format: AuditFormat): Promise<string[]> {
  const found: string[] = [];
  for await (const line of auditLines(rows(), format)) found.push(line);
  return found;
}

test('a line of JSON holds every field, null where there is nothing', async () => {
  const [first, second, ...more] = (await lines('jsonl')).map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(more).toEqual([]);
  expect(first).toMatchObject({
    id: 7,
    at: '2026-11-30T00:00:00.000Z',
    messageId: row.messageId,
    existingMessageId: 'first@ap',
    windowExpires: '2027-02-28T00:00:00.000Z',
    by: 'Alice',
    detail: { handOver: 40 },
  });
  expect(second).toMatchObject({ id: 8, existingMessage: null, windowExpires: null, by: null, reason: null });
  expect(Object.keys(second!)).toEqual(Object.keys(first!));
});

test('CSV quotes what needs it, and no cell is a formula for a spreadsheet', async () => {
  const [head, first, second, ...more] = await lines('csv');
  expect(more).toEqual([]);
  expect(head).toMatch(/^id,at,message,sender,messageId,.*,detail$/);
  expect(first).toBe(
    `7,2026-11-30T00:00:00.000Z,17,POP000001,"'=cmd|"" /C calc""!A1",edifact,4711,approve,invoices,3f2a,review,received,12,first@ap,` +
      `2027-02-28T00:00:00.000Z,::1,ab,cd,Alice,ops,gw1,"one, ""two""\nthree","{""handOver"":40}"`,
  );
  expect(second!.endsWith(',::1,ab,cd,,,,,{}')).toBe(true);
});
