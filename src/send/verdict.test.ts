import { expect, test } from 'vitest';
import type { Attempt } from './send.ts';
import { judgeAttempts } from './verdict.ts';

const receipt: Attempt = {
  status: 200,
  receipt: true,
  verified: true,
  error: null,
  sha256: 'aa',
  bytes: 3,
  ms: 1,
};
const error: Attempt = {
  ...receipt,
  receipt: false,
  error: { code: 'EBMS:0004', description: 'Other.', detail: 'already handled' },
};

test('receipts that hold and are the same bytes are all right', () => {
  expect(judgeAttempts([receipt, receipt], true)).toEqual({ code: 'receipted', complaint: null });
});

test('receipts that hold and differ are told', () => {
  expect(judgeAttempts([receipt, receipt], false)).toMatchObject({ code: 'answers-differ' });
});

test('an error for the first answer is a refusal, with code, Description and ErrorDetail', () => {
  expect(judgeAttempts([error], true)).toEqual({
    code: 'refused',
    complaint: 'The receiver refused the message with EBMS:0004: Other. (already handled)',
  });
});

test('an error for a repeat after a receipt says that the message has arrived, and which answer refused it', () => {
  const { code, complaint } = judgeAttempts([receipt, receipt, error], false);
  expect(code).toBe('repeat-refused');
  expect(complaint).toContain('refused its repeat (answer 3) with EBMS:0004: Other. (already handled)\n');
  expect(complaint).toContain('The message has arrived.');
});

test('an error after a receipt that does not hold is no proof that the message has arrived', () => {
  const { code } = judgeAttempts([{ ...receipt, verified: false, fault: 'it is for m2' }, error], false);
  expect(code).toBe('unproven');
});

test('an error that somebody else signed is told as such', () => {
  const { complaint } = judgeAttempts([{ ...error, verified: false, fault: 'it is signed by CN=X' }], true);
  expect(complaint).toMatch(/\(The error itself proves nothing: it is signed by CN=X\.\)$/);
});

test('a receipt that does not hold says why', () => {
  expect(judgeAttempts([{ ...receipt, verified: false, fault: 'it is for m2' }], true)).toEqual({
    code: 'unproven',
    complaint: 'The receipt does not hold: it is for m2.',
  });
});

test('a 503 asks for the same MessageId again, another status does not', () => {
  const none = { ...receipt, receipt: false, verified: false };
  expect(judgeAttempts([{ ...none, status: 503 }], true).complaint).toMatch(/HTTP 503 .*same --message-id\.$/);
  expect(judgeAttempts([{ ...none, status: 500 }], true)).toEqual({
    code: 'no-receipt',
    complaint: 'The receiver answered HTTP 500 without a receipt.',
  });
});
