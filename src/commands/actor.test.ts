import { expect, test } from 'vitest';
import { actorOf } from './actor.ts';

test('who decides and why are recorded with the account and the machine that it was done on', () => {
  expect(actorOf({ by: ' Alice ', reason: 'agreed by phone' })).toEqual({
    by: 'Alice',
    reason: 'agreed by phone',
    osUser: expect.stringMatching(/./),
    host: expect.stringMatching(/./),
  });
});

test.each([
  [{}, '--by (who decides) and --reason (why) must be given'],
  [{ by: 'Alice' }, '--reason (why) must be given'],
  [{ by: 'Alice', reason: ' \t' }, '--reason (why) must be given'],
  [{ by: '', reason: 'because' }, '--by (who decides) must be given'],
  [{ by: 'Alice', reason: 'x'.repeat(1001) }, 'at most 1000 characters'],
])('an exception without a name or a reason is wrong usage: %j', (account, text) => {
  expect(() => actorOf(account)).toThrow(
    expect.objectContaining({ exitCode: 2, message: expect.stringContaining(text) }),
  );
});
