import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSqliteStore } from '../store/sqlite.ts';
import type { NewMessage } from '../store/types.ts';
import { CommandError } from './io.ts';
import { listMessages, showMessage } from './messages.ts';
import { purge } from './purge.ts';

const DAY = 86_400_000;
let cwd: string;
beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'quittance-commands-'));
  const store = await openSqliteStore({ url: `sqlite:${join(cwd, 'q.db')}` });
  await store.accept(message('old@x', Date.now() - 1000 * DAY));
  await store.accept(message('new@x', Date.now()));
  await store.close();
});
afterAll(() => rmSync(cwd, { recursive: true }));

function message(messageId: string, at: number): NewMessage {
  return {
    sender: 'POP000001',
    messageId,
    // A ping has no hand-over that would have to be finished before a purge.
    purpose: 'test',
    ebTimestamp: at,
    ebTimestampText: new Date(at).toISOString(),
    receivedAt: at,
    window: 90 * DAY,
    policyVersion: 'p',
    referenceSet: Buffer.from(messageId),
    contentDigest: Buffer.from(messageId),
    payloads: [],
    routing: {
      service: 's',
      serviceType: null,
      action: 'a',
      conversationId: 'c',
      originalSender: { scheme: 'iso6523-actorid-upis', value: '0208:1' },
      finalRecipient: null,
      documentType: null,
      process: null,
      instanceIdentifier: null,
      sbdhCreationDateAndTime: null,
      countryC1: null,
      messageProperties: [],
    },
    rule: 'default',
    conflict: 'reject',
    outsideWindow: 'deliver',
    staleTimestamp: 'deliver',
    interchanges: { keys: [], onConflict: 'review', replacePending: false },
    warnings: ['a warning'],
    signer: { fingerprint: 'f', chain: [] },
    envelope: Buffer.from('<x/>'),
    receipt: { status: 200, contentType: 'application/soap+xml; charset=UTF-8', body: Buffer.from('<receipt/>') },
    requestDigest: null,
    remoteAddress: '::1',
    rebuilt: 'own-receipt',
  } as NewMessage;
}

function io(database = 'q.db') {
  const out: string[] = [];
  const err: string[] = [];
  return {
    out,
    err,
    io: {
      env: { QUITTANCE_STORE__URL: `sqlite:${database}` },
      cwd,
      out: (l: string) => out.push(l),
      err: (l: string) => err.push(l),
    },
  };
}

test('messages lists the latest first, as a table and as JSON', async () => {
  const table = io();
  expect(await listMessages({ config: null, json: false, limit: 10 }, table.io)).toBe(0);
  expect(table.out[0]).toMatch(/^no +received +sender +state +receipts +repeats +message id$/);
  expect(table.out.slice(1).map((l) => l.split(/ +/).at(-1))).toEqual(['new@x', 'old@x']);
  const json = io();
  await listMessages({ config: null, json: true, limit: 1 }, json.io);
  expect(JSON.parse(json.out.join(''))).toEqual([
    expect.objectContaining({ messageId: 'new@x', sender: 'POP000001', state: 'test' }),
  ]);
});

test('messages of another sender are none', async () => {
  const { out, io: to } = io();
  await listMessages({ config: null, json: false, limit: 10, sender: 'POP000009' }, to);
  expect(out).toEqual(['No messages.']);
});

test('show finds a message by number and by MessageId', async () => {
  const byId = io();
  await showMessage({ id: 'new@x', config: null, json: true, evidence: null }, byId.io);
  const shown = JSON.parse(byId.out.join('')) as { id: number; warnings: string[] };
  expect(shown.warnings).toEqual(['a warning']);
  const byNumber = io();
  await showMessage({ id: String(shown.id), config: null, json: false, evidence: null }, byNumber.io);
  expect(byNumber.out).toContain('message id      new@x');
  expect(byNumber.out).toContain('from            0208:1 (iso6523-actorid-upis)');
});

test('a message that is not there is an error that says where to look', async () => {
  const shown = showMessage({ id: 'none@x', config: null, json: false, evidence: null }, io().io);
  await expect(shown).rejects.toThrow('There is no message none@x; "quittance messages" lists those that there are.');
});

test('to look for messages creates no database', async () => {
  await expect(listMessages({ config: null, json: false, limit: 1 }, io('none.db').io)).rejects.toThrow(CommandError);
  expect(readdirSync(cwd)).not.toContain('none.db');
});

test('purge with --dry-run says what would go and removes nothing; without, the expired message goes and the other stays', async () => {
  const dry = io();
  await purge({ config: null, json: true, dryRun: true }, dry.io);
  expect(JSON.parse(dry.out.join(''))).toEqual({
    dryRun: true,
    keys: 1,
    messages: 1,
    payloads: 0,
    evidence: 1,
    decisions: 0,
    files: 0,
  });
  const both = io();
  await listMessages({ config: null, json: true, limit: 10 }, both.io);
  expect(JSON.parse(both.out.join(''))).toHaveLength(2);

  const wet = io();
  await purge({ config: null, json: false, dryRun: false }, wet.io);
  expect(wet.out).toEqual([
    'Removed 1 keys, 1 messages, 0 payloads (0 of them files), the evidence of 1 messages and 0 decisions.',
  ]);
  const left = io();
  await listMessages({ config: null, json: true, limit: 10 }, left.io);
  expect(JSON.parse(left.out.join(''))).toEqual([expect.objectContaining({ messageId: 'new@x' })]);
});

test('purge keeps what any rule would still remember: a rule that was lengthened since holds for it, too', async () => {
  const store = await openSqliteStore({ url: `sqlite:${join(cwd, 'rules.db')}` });
  await store.accept(message('accepted for 90 days', Date.now() - 100 * DAY));
  await store.close();
  const rules = (window: string) => writeFileSync(join(cwd, 'rules.toml'), `[[rule]]\nwindow = "${window}"\n`);
  const keysThatGo = async () => {
    const { out, io: to } = io('rules.db');
    const env = { ...to.env, QUITTANCE_DUPLICATES__POLICY: join(cwd, 'rules.toml') };
    await purge({ config: null, json: true, dryRun: true }, { ...to, env });
    return (JSON.parse(out.join('')) as { keys: number }).keys;
  };
  rules('365d');
  expect(await keysThatGo()).toBe(0);
  rules('90d');
  expect(await keysThatGo()).toBe(1);
});

test('evidence of what no envelope can be read of is refused without a half-written directory', async () => {
  const { io: to } = io();
  await expect(showMessage({ id: 'new@x', config: null, json: false, evidence: 'proof' }, to)).rejects.toThrow();
  expect(readdirSync(cwd)).not.toContain('proof');
});
