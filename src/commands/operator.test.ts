import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, expect, test, vi } from 'vitest';
import { type CliResult, runCli } from '../testing/cli.ts';
import { type TestMessage, TestSender } from '../testing/messages.ts';
import { post } from '../testing/post.ts';
import type { ServerProcess } from '../testing/server-process.ts';
import { Site, until } from '../testing/site.ts';

// Each command is a process of its own; a busy machine starts few of them a second.
vi.setConfig({ testTimeout: 120_000 });

const DAY = 86_400_000;
const ALICE = ['--by', 'Alice', '--reason', 'agreed by phone'];
const sender = new TestSender();
let site: Site;
afterEach(() => site.remove());

const cli = (...args: string[]): Promise<CliResult> => runCli(site.directory, args);

/** What a command printed as JSON. */
async function json<T>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await cli(...args, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as T;
}

interface Item {
  readonly id: string;
  readonly kind: string;
  readonly told: string;
  readonly messageId: string;
  readonly why: string;
}
const waiting = () => json<Item[]>('review', 'list');

async function send(server: ServerProcess, message: TestMessage): Promise<Buffer> {
  const { body } = await post(server.url, message);
  expect(sender.judge(body, message).verified).toBe(true);
  return body;
}

/** A message whose signed time is older than its window: receipted, and kept back. */
const stale = () => sender.message({ timestamp: new Date(Date.now() - 400 * DAY) });

/** What a story says, without what is another each time. */
function timeless(text: string, message: TestMessage): string {
  return text
    .replaceAll(message.messageId, 'MESSAGE-ID')
    .replace(/\d{8}T\d{6}\.\d{3}Z_[^\s]+_(\d+)/g, 'DIRECTORY_$1')
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/g, 'TIME')
    .replace(/\b[0-9a-f]{64}\b/g, 'SHA256')
    .replace(/of policy \S+/g, 'of policy VERSION')
    .replace(/\(\S+ on \S+\)/g, '(USER on HOST)')
    .replace(/(invoice )?[0-9a-f]{8}-[0-9a-f-]{27}/g, 'UUID');
}

test('a message in review is listed, shown, approved, and then in the inbox exactly once', async () => {
  site = new Site();
  const server = await site.serve();
  const message = await stale();
  const receipt = await send(server, message);
  expect(site.inbox.names()).toEqual([]);

  const items = await waiting();
  expect(items).toEqual([expect.objectContaining({ kind: 'message', told: 'receipt', messageId: message.messageId })]);
  const id = items[0]!.id;
  const list = await cli('review', 'list');
  expect(list.stdout).toContain(message.messageId);
  const shown = await cli('review', 'show', id);
  expect(shown.stdout).toContain('approve: it goes to the inbox. reject: it is never delivered.');
  expect(shown.stdout).toContain('0208:9876543210');
  expect(shown.stdout).not.toContain('<Invoice');

  const approved = await cli('review', 'approve', id, ...ALICE);
  expect(approved).toMatchObject({ code: 0, stderr: '' });
  await until(() => site.inbox.names().length > 0);
  await site.delivered();
  expect(await waiting()).toEqual([]);
  const again = await cli('review', 'approve', id, ...ALICE);
  expect(again.stderr + again.stdout).not.toContain('Unexpected');
  expect(await post(server.url, message)).toMatchObject({ body: receipt });
  await site.delivered();
  expect(site.inbox.entries().map((e) => e.metadata.messageId)).toEqual([message.messageId]);
  const story = await cli('audit', 'show', message.messageId);
  expect(timeless(story.stdout, message)).toMatchInlineSnapshot(`
    "Message MESSAGE-ID of POP000001 (number 1)
      from 0208:0123456789 to 0208:9876543210, document type urn:oasis:names:specification:ubl:schema:xsd:Invoice-2::Invoice##urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0::2.1
      sbdh: InstanceIdentifier 'UUID'
      warning: eb:Timestamp is older than the duplicate window: this may be a replay of a message that was purged
      now: delivered to the inbox
      its MessageId is remembered until TIME

    TIME  It arrived for the first time from 127.0.0.1. It got its receipt, and was kept back for an operator to decide. Why: eb:Timestamp is older than the duplicate window: this may be a replay of a message that was purged.
                             by rule "invoices and credit notes" of policy VERSION
                             remembered until TIME
                             evidence: signer's certificate, sha256 SHA256
                             evidence: signed digests, sha256 SHA256
    TIME  Alice (USER on HOST) approved it, so it goes to the inbox. The reason: agreed by phone.
    TIME  Hand-over 1 was put into the inbox.
    TIME  The same message came again from 127.0.0.1 (every byte of it was the same). It got the stored receipt once more; nothing was delivered.

    Hand-overs to the backend:
      1: delivered since TIME, directory DIRECTORY_1
    "
  `);
});

test('a rejected message is never delivered, and its repeat gets the same receipt', async () => {
  site = new Site();
  const server = await site.serve();
  const message = await stale();
  const receipt = await send(server, message);
  const [item] = await waiting();
  const rejected = await cli('review', 'reject', item!.id, ...ALICE);
  expect(rejected).toMatchObject({ code: 0, stderr: '' });
  expect(await waiting()).toEqual([]);
  expect(await post(server.url, message)).toMatchObject({ body: receipt });
  await site.delivered();
  expect(site.inbox.names()).toEqual([]);
  const story = await cli('audit', 'show', message.messageId);
  expect(timeless(story.stdout, message)).toMatchInlineSnapshot(`
    "Message MESSAGE-ID of POP000001 (number 1)
      from 0208:0123456789 to 0208:9876543210, document type urn:oasis:names:specification:ubl:schema:xsd:Invoice-2::Invoice##urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0::2.1
      sbdh: InstanceIdentifier 'UUID'
      warning: eb:Timestamp is older than the duplicate window: this may be a replay of a message that was purged
      now: rejected by an operator; it is not delivered
      its MessageId is remembered until TIME

    TIME  It arrived for the first time from 127.0.0.1. It got its receipt, and was kept back for an operator to decide. Why: eb:Timestamp is older than the duplicate window: this may be a replay of a message that was purged.
                             by rule "invoices and credit notes" of policy VERSION
                             remembered until TIME
                             evidence: signer's certificate, sha256 SHA256
                             evidence: signed digests, sha256 SHA256
    TIME  Alice (USER on HOST) decided that it is not delivered. The reason: agreed by phone.
    TIME  The same message came again from 127.0.0.1 (every byte of it was the same). It got the stored receipt once more; nothing was delivered.

    Hand-overs to the backend:
      1: rejected since TIME
    "
  `);
});

test('without a name and a reason nothing is decided', async () => {
  site = new Site();
  const server = await site.serve();
  await send(server, await stale());
  const [item] = await waiting();
  for (const args of [
    ['review', 'approve', item!.id],
    ['review', 'reject', item!.id, '--by', 'Alice'],
    ['redeliver', item!.id, '--reason', 'lost'],
    ['purge', '--clock-is-right', '--by', ' ', '--reason', 'it is'],
  ]) {
    const { code, stdout, stderr } = await cli(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('must be given, and not be empty');
  }
  expect(await waiting()).toEqual([item]);
});

test('a conflict is kept as evidence: approval is refused, since its sender was told that it failed', async () => {
  site = new Site();
  const server = await site.serve();
  const first = await sender.message();
  await send(server, first);
  await until(() => site.inbox.names().length === 1);
  await site.delivered();
  const other = await sender.message({ messageId: first.messageId });
  const answer = await post(server.url, other);
  expect(answer.body.toString()).toContain('EBMS:0003');
  const [item, ...more] = await waiting();
  expect(more).toEqual([]);
  expect(item).toMatchObject({ kind: 'held', told: 'failure', messageId: first.messageId });
  const approved = await cli('review', 'approve', item!.id, ...ALICE);
  expect(approved.code).toBe(1);
  expect(approved.stderr).toMatch(/told/);
  expect(await cli('review', 'reject', item!.id, ...ALICE)).toMatchObject({ code: 0, stderr: '' });
  expect(await waiting()).toEqual([]);
  await site.delivered();
  expect(site.inbox.entries()).toHaveLength(1);
  const story = await cli('audit', 'show', first.messageId);
  expect(timeless(story.stdout, first)).toMatchInlineSnapshot(`
    "Message MESSAGE-ID of POP000001 (number 1)
      from 0208:0123456789 to 0208:9876543210, document type urn:oasis:names:specification:ubl:schema:xsd:Invoice-2::Invoice##urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0::2.1
      sbdh: InstanceIdentifier 'UUID'
      now: delivered to the inbox
      its MessageId is remembered until TIME

    TIME  It arrived for the first time from 127.0.0.1. It was new: it got its receipt and was accepted for the inbox.
                             by rule "invoices and credit notes" of policy VERSION
                             remembered until TIME
                             evidence: signer's certificate, sha256 SHA256
                             evidence: signed digests, sha256 SHA256
    TIME  Hand-over 1 was put into the inbox.
    TIME  Another content came under the same MessageId from 127.0.0.1. Its sender was told that it failed (EBMS:0003); that copy is kept as evidence and is never delivered.
                             evidence: signed digests, sha256 SHA256
    TIME  Alice (USER on HOST) settled the copy held-1, whose sender was told that it failed; it stays as evidence. The reason: agreed by phone.

    Hand-overs to the backend:
      1: delivered since TIME, directory DIRECTORY_1

    Copies with another content:
      held-1: since TIME, not repeated. The same MessageId was received before with other content; the sender was told that this copy failed, and an operator has seen it
    "
  `);
});

test('where the rule holds a conflict, it has a receipt of its own, and approval delivers it beside the first', async () => {
  site = new Site({ 'duplicates.onConflict': 'hold' });
  const server = await site.serve();
  const first = await sender.message();
  await send(server, first);
  await until(() => site.inbox.names().length === 1);
  await site.delivered();
  const other = await sender.message({ messageId: first.messageId });
  const receipt = await send(server, other);
  const [item, ...more] = await waiting();
  expect(more).toEqual([]);
  expect(item).toMatchObject({ kind: 'held', told: 'receipt', messageId: first.messageId });
  expect(site.inbox.entries()).toHaveLength(1);
  expect(await cli('review', 'approve', item!.id, ...ALICE)).toMatchObject({ code: 0, stderr: '' });
  await until(() => site.inbox.names().length === 2);
  await site.delivered();
  expect(site.inbox.entries().map((e) => site.inbox.file(e, 'payload.xml').equals(other.sbd))).toEqual([false, true]);
  expect(await post(server.url, other)).toMatchObject({ body: receipt });
  const stories = await Promise.all(['1', '2'].map(async (id) => (await cli('audit', 'show', id)).stdout));
  expect(timeless(stories.join('\n'), first)).toMatchInlineSnapshot(`
    "Message MESSAGE-ID of POP000001 (number 1)
      from 0208:0123456789 to 0208:9876543210, document type urn:oasis:names:specification:ubl:schema:xsd:Invoice-2::Invoice##urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0::2.1
      sbdh: InstanceIdentifier 'UUID'
      now: delivered to the inbox
      its MessageId is remembered until TIME

    TIME  It arrived for the first time from 127.0.0.1. It was new: it got its receipt and was accepted for the inbox.
                             by rule "invoices and credit notes" of policy VERSION
                             remembered until TIME
                             evidence: signer's certificate, sha256 SHA256
                             evidence: signed digests, sha256 SHA256
    TIME  Hand-over 1 was put into the inbox.
    TIME  Another content came under the same MessageId from 127.0.0.1. It got a receipt of its own and is held for an operator to decide.
                             evidence: signed digests, sha256 SHA256
    TIME  The held copy came again from 127.0.0.1 (it had the same signed digests). It got the stored receipt once more; nothing was delivered.

    Hand-overs to the backend:
      1: delivered since TIME, directory DIRECTORY_1

    Copies with another content:
      held-1: since TIME, not repeated. The same MessageId was received before with other content; this copy was approved

    Message MESSAGE-ID of POP000001 (number 2)
      from 0208:0123456789 to 0208:9876543210, document type urn:oasis:names:specification:ubl:schema:xsd:Invoice-2::Invoice##urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0::2.1
      sbdh: InstanceIdentifier 'UUID'
      now: delivered to the inbox
      its MessageId was used before: it is remembered with message number 1

    TIME  Alice (USER on HOST) approved the copy held-1 of message MESSAGE-ID (number 1), so it goes to the inbox. The reason: agreed by phone.
    TIME  Hand-over 2 was put into the inbox.

    Hand-overs to the backend:
      2: delivered since TIME, directory DIRECTORY_2
    "
  `);
});

test('the same interchange under a new MessageId is receipted, not delivered, and its story names the first', async () => {
  site = new Site();
  const server = await site.serve();
  const first = await sender.message({ messageId: 'first@ap' });
  await send(server, first);
  await until(() => site.inbox.names().length === 1);
  await site.delivered();
  const again = await sender.message({ sbd: first.sbd });
  await send(server, again);
  await site.delivered();
  expect(site.inbox.entries()).toHaveLength(1);
  const stories = await Promise.all([again, first].map(async (m) => (await cli('audit', 'show', m.messageId)).stdout));
  expect(timeless(stories.join('\n'), again)).toMatchInlineSnapshot(`
    "Message MESSAGE-ID of POP000001 (number 2)
      from 0208:0123456789 to 0208:9876543210, document type urn:oasis:names:specification:ubl:schema:xsd:Invoice-2::Invoice##urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0::2.1
      sbdh: InstanceIdentifier 'UUID'
      now: received before in another message; it is not delivered again
      its MessageId is remembered until TIME
      it repeats message first@ap (number 1)

    TIME  It arrived for the first time from 127.0.0.1, under a new MessageId. But InstanceIdentifier 'UUID' had come before, in message first@ap (number 1): it got a receipt of its own, and nothing is delivered twice.
                             by rule "invoices and credit notes" of policy VERSION
                             remembered until TIME
                             evidence: signer's certificate, sha256 SHA256
                             evidence: signed digests, sha256 SHA256

    Message first@ap of POP000001 (number 1)
      from 0208:0123456789 to 0208:9876543210, document type urn:oasis:names:specification:ubl:schema:xsd:Invoice-2::Invoice##urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0::2.1
      sbdh: InstanceIdentifier 'UUID'
      now: delivered to the inbox
      its MessageId is remembered until TIME

    TIME  It arrived for the first time from 127.0.0.1. It was new: it got its receipt and was accepted for the inbox.
                             by rule "invoices and credit notes" of policy VERSION
                             remembered until TIME
                             evidence: signer's certificate, sha256 SHA256
                             evidence: signed digests, sha256 SHA256
    TIME  Hand-over 1 was put into the inbox.

    Hand-overs to the backend:
      1: delivered since TIME, directory DIRECTORY_1

    Messages that repeat its interchange, and were not delivered:
      MESSAGE-ID (number 2), TIME
    "
  `);
});

test('a message redelivered twice is in three directories, each marked with its number and its reason', async () => {
  site = new Site();
  const server = await site.serve();
  const message = await sender.message();
  await send(server, message);
  await until(() => site.inbox.names().length === 1);
  await site.delivered();
  for (const [n, reason] of ['the ERP lost it', 'and again'].entries()) {
    const done = await cli('redeliver', message.messageId, '--by', 'Alice', '--reason', reason);
    expect(done).toMatchObject({ code: 0, stderr: '' });
    await until(() => site.inbox.names().length === n + 2);
    await site.delivered();
  }
  const limited = await runCli(site.directory, ['redeliver', message.messageId, ...ALICE], {
    'review.exceptionsPerHour': '2',
  });
  expect(limited).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('review.exceptionsPerHour') });
  const found = site.inbox.entries().map(({ metadata: m }) => [m.messageId, m.redelivery, m.redeliveryReason]);
  expect(found).toEqual([
    [message.messageId, 0, null],
    [message.messageId, 1, 'the ERP lost it'],
    [message.messageId, 2, 'and again'],
  ]);
  const story = await cli('audit', 'show', message.messageId);
  expect(timeless(story.stdout, message)).toMatchInlineSnapshot(`
    "Message MESSAGE-ID of POP000001 (number 1)
      from 0208:0123456789 to 0208:9876543210, document type urn:oasis:names:specification:ubl:schema:xsd:Invoice-2::Invoice##urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0::2.1
      sbdh: InstanceIdentifier 'UUID'
      now: delivered to the inbox
      its MessageId is remembered until TIME

    TIME  It arrived for the first time from 127.0.0.1. It was new: it got its receipt and was accepted for the inbox.
                             by rule "invoices and credit notes" of policy VERSION
                             remembered until TIME
                             evidence: signer's certificate, sha256 SHA256
                             evidence: signed digests, sha256 SHA256
    TIME  Hand-over 1 was put into the inbox.
    TIME  Alice (USER on HOST) had it handed over again, in a directory of its own. The reason: the ERP lost it.
    TIME  Hand-over 2 was put into the inbox.
    TIME  Alice (USER on HOST) had it handed over again, in a directory of its own. The reason: and again.
    TIME  Hand-over 3 was put into the inbox.

    Hand-overs to the backend:
      1: delivered since TIME, directory DIRECTORY_1
      2: delivered since TIME, redelivery 1 (the ERP lost it), directory DIRECTORY_2
      3: delivered since TIME, redelivery 2 (and again), directory DIRECTORY_3
    "
  `);
});

test('a message whose payload was purged cannot be redelivered, and the command says so', async () => {
  site = new Site();
  const server = await site.serve();
  const message = await sender.message();
  await send(server, message);
  await until(() => site.inbox.names().length === 1);
  await site.delivered();
  expect(await runCli(site.directory, ['purge'], { 'retention.payload': '1ms' })).toMatchObject({ code: 0 });
  const { code, stderr } = await cli('redeliver', message.messageId, ...ALICE);
  expect(code).toBe(1);
  expect(stderr).toMatch(/payload.*(purged|retention\.payload)/);
});

test('that the clock is right is recorded with who said so, and then purge goes on', async () => {
  site = new Site();
  const server = await site.serve();
  await send(server, await sender.message());
  expect(await cli('purge', '--clock-is-right', ...ALICE)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Removed'),
  });
  const { stdout } = await cli('audit', 'export', '--from', '2020-01-01', '--to', '2100-01-01');
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(rows).toContainEqual(
    expect.objectContaining({ decision: 'clockIsRight', by: 'Alice', reason: 'agreed by phone', message: null }),
  );
  expect((await cli('purge', ...ALICE)).code).toBe(2);
  expect((await cli('purge', '--dry-run', '--clock-is-right', ...ALICE)).code).toBe(2);
});

test('an acknowledgement names the directory or a path to it, and may come any number of times', async () => {
  site = new Site();
  const server = await site.serve();
  const message = await sender.message();
  await send(server, message);
  await until(() => site.inbox.names().length === 1);
  await site.delivered();
  const [name] = site.inbox.names();
  const [number] = await json<{ id: number }[]>('messages');
  expect(await json('ack', name!)).toMatchObject({
    messageId: message.messageId,
    state: 'acknowledged',
    already: false,
  });
  for (const id of [name!, join(site.inbox.path, name!), message.messageId, String(number!.id)]) {
    expect(await json('ack', id)).toMatchObject({ state: 'acknowledged', already: true });
  }
  expect(site.handOvers()).toEqual({ acknowledged: 1 });
  expect((await cli('ack', 'nobody@knows')).code).toBe(1);
});

/** A hand-over that was begun when the process died, and whose inbox was another one when the next process looked. */
async function ofUnknownFate(): Promise<{ server: ServerProcess; message: TestMessage }> {
  site = new Site();
  await (await site.serve()).stop();
  const message = await sender.message();
  const crashing = await site.serve({ crashAt: 'handing-over' });
  await post(crashing.url, message).catch(() => null);
  await crashing.ended;
  const marker = readFileSync(site.inbox.marker);
  rmSync(site.inbox.marker);
  const server = await site.serve();
  await until(() => site.handOvers().unknown === 1);
  writeFileSync(site.inbox.marker, marker);
  return { server, message };
}

test('a hand-over of unknown fate that the backend has is confirmed, and nothing is delivered again', async () => {
  const { message } = await ofUnknownFate();
  const [item, ...more] = await waiting();
  expect(more).toEqual([]);
  expect(item).toMatchObject({ kind: 'unknown', messageId: message.messageId });
  expect((await cli('review', 'show', item!.id)).stdout).toContain('Look whether the backend has it.');
  expect(await cli('review', 'confirm', item!.id, ...ALICE)).toMatchObject({ code: 0, stderr: '' });
  expect(site.handOvers()).toEqual({ delivered: 1 });
  expect(site.inbox.names()).toEqual([]);
  const story = await cli('audit', 'show', message.messageId);
  expect(timeless(story.stdout, message)).toMatchInlineSnapshot(`
    "Message MESSAGE-ID of POP000001 (number 1)
      from 0208:0123456789 to 0208:9876543210, document type urn:oasis:names:specification:ubl:schema:xsd:Invoice-2::Invoice##urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0::2.1
      sbdh: InstanceIdentifier 'UUID'
      now: delivered to the inbox
      its MessageId is remembered until TIME

    TIME  It arrived for the first time from 127.0.0.1. It was new: it got its receipt and was accepted for the inbox.
                             by rule "invoices and credit notes" of policy VERSION
                             remembered until TIME
                             evidence: signer's certificate, sha256 SHA256
                             evidence: signed digests, sha256 SHA256
    TIME  Whether the backend has hand-over 1 cannot be known: the folders were not those of this database, or a directory vanished. It waits for an operator.
    TIME  Alice (USER on HOST) has seen that the backend has it: hand-over 1 counts as delivered. The reason: agreed by phone.

    Hand-overs to the backend:
      1: delivered since TIME, directory DIRECTORY_1
    "
  `);
});

test('a hand-over of unknown fate that is approved is in the inbox, marked as a possible duplicate', async () => {
  const { message } = await ofUnknownFate();
  const [item] = await waiting();
  expect(await cli('review', 'approve', item!.id, ...ALICE)).toMatchObject({ code: 0, stderr: '' });
  await until(() => site.inbox.names().length === 1);
  expect(site.inbox.entries()[0]!.metadata).toMatchObject({ messageId: message.messageId, possibleDuplicate: true });
});

test('a receipted message that waits is told by health and measured', async () => {
  site = new Site();
  const server = await site.serve({ settings: { 'review.maxWaiting': '1', 'review.maxAge': '1ms' } });
  await send(server, await stale());
  const health = async () =>
    (await fetch(new URL('/health/ready', server.url))).json() as Promise<{ degraded: { what: string }[] }>;
  expect((await health()).degraded.map(({ what }) => what)).toEqual([
    'a receipted message waits for an operator for longer than review.maxAge',
  ]);
  await send(server, await stale());
  expect((await health()).degraded[0]).toMatchObject({
    what: '2 receipted messages wait for an operator: quittance review list',
  });
  const metrics = await (await fetch(new URL('/metrics', server.url))).text();
  expect(metrics).toMatch(/^quittance_reviews_waiting 2$/m);
  expect(metrics).toMatch(/^quittance_review_oldest_seconds [0-9.]+$/m);
});

test('decisions are exported a line each, and a changed one is found out', async () => {
  site = new Site();
  const server = await site.serve();
  const message = await sender.message();
  await send(server, message);
  await post(server.url, message);
  await until(() => site.rows<{ n: number }>('SELECT count(*) AS n FROM decision')[0]!.n >= 2);
  const span = ['--from', '2020-01-01', '--to', '2100-01-01'];
  const lines = (await cli('audit', 'export', ...span)).stdout.trim().split('\n');
  const rows = lines.map((line) => JSON.parse(line) as { decision: string; messageId: string });
  expect(rows.filter((r) => r.messageId === message.messageId).map((r) => r.decision)).toEqual(
    expect.arrayContaining(['allow', 'suppress']),
  );
  expect((await cli('audit', 'export', '--from', '2020-01-01', '--to', '2021-01-01')).stdout).toBe('');
  const file = join(site.directory, 'audit.csv');
  expect(await cli('audit', 'export', ...span, '--format', 'csv', '--output', file)).toMatchObject({
    code: 0,
    stdout: '',
  });
  expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(lines.length + 1);
  const twice = await cli('audit', 'export', ...span, '--output', file);
  expect(twice).toMatchObject({ code: 1, stderr: expect.stringContaining('exists') });
  expect(readFileSync(file, 'utf8')).toContain('suppress');
  expect((await cli('audit', 'export', '--from', 'monday', '--to', '2021-01-01')).code).toBe(2);

  expect(await cli('audit', 'verify')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/ is [0-9a-f]{64}\.\n$/),
  });
  const db = new Database(site.database);
  db.exec(`DROP TRIGGER decision_no_update; UPDATE decision SET decision = 'allow' WHERE decision = 'suppress'`);
  db.close();
  const { code, stderr } = await cli('audit', 'verify');
  expect(code).toBe(1);
  expect(stderr).not.toContain('Unexpected');
});

test('a backup made while messages arrive holds all that was receipted before it, and starts only with --restored', async () => {
  site = new Site();
  let server = await site.serve();
  const large = await sender.message({ bytes: 2_000_000 });
  const before = [large, await sender.message(), await sender.message()];
  for (const message of before) await send(server, message);
  const receipts = await Promise.all(before.map(async (m) => (await post(server.url, m)).body));
  let stop = false;
  const arriving = (async () => {
    while (!stop) await send(server, await sender.message());
  })();
  const file = join(site.directory, 'copy.db');
  const made = await cli('backup', file);
  stop = true;
  await arriving;
  expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining('1 content files') });
  expect(made.stderr).toContain('Copying');
  const again = await cli('backup', file);
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('exists') });
  // More than the copy knows of.
  await send(server, await sender.message());
  await site.delivered();
  await server.stop();
  const inboxBefore = site.inbox.names();

  site.restore(file);
  const refused = site.spawn();
  expect(await refused.ended).toMatchObject({ code: 1 });
  expect(refused.stderr()).toContain('--restored');
  server = await site.serve({ arguments: ['--restored'] });
  for (const [at, message] of before.entries()) {
    expect((await post(server.url, message)).body.equals(receipts[at]!)).toBe(true);
  }
  const redelivered = await cli('redeliver', large.messageId, ...ALICE);
  expect(redelivered).toMatchObject({ code: 0, stderr: '' });
  await until(() => site.inbox.names().length === inboxBefore.length + 1);
  const copy = site.inbox.entries().find((e) => e.metadata.redelivery === 1)!;
  expect(copy.metadata.messageId).toBe(large.messageId);
});
