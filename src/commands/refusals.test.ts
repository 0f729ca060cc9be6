import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSqliteStore } from '../store/sqlite.ts';
import type { Refusal } from '../store/types.ts';
import { listRefusals, type RefusalsOptions } from './refusals.ts';

let cwd: string;
beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'quittance-refusals-'));
  const store = await openSqliteStore({ url: `sqlite:${join(cwd, 'q.db')}` });
  const nobody = { sender: null, messageId: null, claimedMessageId: null, fingerprint: null };
  const each: Refusal[] = [
    {
      ...nobody,
      at: 1_000,
      code: '415',
      reason: 'media-type',
      text: 'Content-Type must be …',
      remoteAddress: '192.0.2.1',
    },
    {
      ...{ at: 2_000, code: 'EBMS:0004', reason: 'not-serviced', text: 'Not serviced', remoteAddress: '192.0.2.2' },
      ...{ sender: 'POP000001', messageId: 'm@x', claimedMessageId: 'm@x', fingerprint: 'ff' },
    },
    {
      ...nobody,
      ...{
        at: 3_000,
        code: 'EBMS:0101',
        reason: 'digest-mismatch',
        text: 'No \u001b[31mred\u202e',
        remoteAddress: '::1',
      },
      claimedMessageId: 'c@x',
    },
  ];
  for (const refusal of each) store.refuse(refusal);
  await store.close();
});
afterAll(() => rmSync(cwd, { recursive: true }));

async function run(o: Partial<RefusalsOptions> = {}): Promise<string[]> {
  const out: string[] = [];
  const env = { QUITTANCE_STORE__URL: `sqlite:${join(cwd, 'q.db')}` };
  const io = { env, cwd, out: (line: string) => out.push(line), err: () => {} };
  expect(await listRefusals({ config: null, json: false, limit: 50, ...o }, io)).toBe(0);
  return out;
}

test('refusals are listed latest first, with who, which message, why and from where', async () => {
  expect(await run()).toEqual([
    '1970-01-01T00:00:03.000Z  EBMS:0101  digest-mismatch  not authenticated  from ::1',
    '    message c@x (claimed)',
    '    No \\u{1b}[31mred\\u{202e}',
    '1970-01-01T00:00:02.000Z  EBMS:0004  not-serviced  POP000001  from 192.0.2.2',
    '    message m@x',
    '    Not serviced',
    '1970-01-01T00:00:01.000Z  415  media-type  not authenticated  from 192.0.2.1',
    '    message -',
    '    Content-Type must be …',
  ]);
});

test('--sender looks for one access point through all of them, --limit takes the latest', async () => {
  const ofOne = JSON.parse((await run({ json: true, limit: 1, sender: 'POP000001' }))[0]!) as object[];
  expect(ofOne).toMatchObject([{ authenticated: true, messageId: 'm@x', at: '1970-01-01T00:00:02.000Z' }]);
  const latest = JSON.parse((await run({ json: true, limit: 1 }))[0]!) as object[];
  expect(latest).toMatchObject([{ authenticated: false, claimedMessageId: 'c@x', code: 'EBMS:0101' }]);
  expect(await run({ sender: 'POP000009' })).toEqual(['No refusals.']);
});
