import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, expect, test, vi } from 'vitest';
import { TestSender } from '../testing/messages.ts';
import { eachOf, post } from '../testing/post.ts';
import type { ServerProcess } from '../testing/server-process.ts';
import { Site, until } from '../testing/site.ts';

const sender = new TestSender();
/** For a busy machine; nothing here measures time. */
vi.setConfig({ testTimeout: 120_000 });
let site: Site;
afterEach(() => site.remove());

/** One message between the commit of `handingOver` and the rename: what a power loss or a kill may leave. */
async function killedBeforeRename(): Promise<string> {
  site = new Site();
  await (await site.serve()).stop();
  const message = await sender.message();
  const server = await site.serve({ crashAt: 'handing-over' });
  await post(server.url, message).catch(() => null);
  await server.ended;
  expect(site.handOvers()).toEqual({ handingOver: 1 });
  return message.messageId;
}

/** As if the machine had been started anew since. */
function otherBoot(): void {
  const db = new Database(site.database);
  expect(db.prepare("UPDATE outbox SET boot_id = 'another boot' WHERE state = 'handingOver'").run().changes).toBe(1);
  db.close();
}

const staged = () => readdirSync(site.staging).filter((name) => !name.startsWith('.'));
const received = (messageId: string) => site.inbox.entries().filter(({ metadata }) => metadata.messageId === messageId);

async function degraded(server: ServerProcess): Promise<string[]> {
  const response = await fetch(new URL('/health/ready', server.url));
  expect(response.status).toBe(200);
  return ((await response.json()) as { degraded: { what: string }[] }).degraded.map(({ what }) => what);
}

async function sendNew(server: ServerProcess): Promise<string> {
  const message = await sender.message();
  expect(sender.judge((await post(server.url, message)).body, message).verified).toBe(true);
  return message.messageId;
}

test('staged directory there, same boot: it was not renamed, and is delivered once', async () => {
  const id = await killedBeforeRename();
  await site.serve();
  await site.delivered();
  expect(site.handOvers()).toEqual({ delivered: 1 });
  expect(received(id).map(({ metadata }) => metadata.possibleDuplicate)).toEqual([false]);
  expect(staged()).toEqual([]);
});

test.each(['same', 'other'])(
  'staged directory gone, %s boot: it was renamed, and is not delivered again',
  async (boot) => {
    const id = await killedBeforeRename();
    if (boot === 'other') otherBoot();
    // The rename was made, and the backend has taken the directory away.
    rmSync(join(site.staging, staged()[0] as string), { recursive: true });
    const server = await site.serve();
    await site.delivered();
    expect(site.handOvers()).toEqual({ delivered: 1 });
    await sendNew(server);
    await site.delivered();
    expect(received(id)).toEqual([]);
    expect(site.inbox.names()).toHaveLength(1);
  },
);

test('staged directory there, other boot: delivered again, and marked as a possible duplicate', async () => {
  const id = await killedBeforeRename();
  otherBoot();
  await site.serve();
  await site.delivered();
  expect(received(id).map(({ metadata }) => metadata.possibleDuplicate)).toEqual([true]);
  expect(staged()).toEqual([]);
});

test('staged directory there, other boot, afterPowerLoss = review: kept back, and what comes later is delivered', async () => {
  const id = await killedBeforeRename();
  otherBoot();
  const server = await site.serve({ settings: { 'delivery.afterPowerLoss': 'review' } });
  await sendNew(server);
  await site.delivered();
  expect(site.handOvers()).toEqual({ delivered: 1, review: 1 });
  expect(received(id)).toEqual([]);
  expect(await degraded(server)).toEqual(['1 receipted message waits for an operator: quittance review list']);
});

test.each(['missing', 'other'])(
  'marker of the inbox %s: receipts go on, nothing is delivered or called delivered',
  async (how) => {
    const id = await killedBeforeRename();
    const marker = readFileSync(site.inbox.marker);
    rmSync(site.inbox.marker);
    if (how === 'other') writeFileSync(site.inbox.marker, '{"quittance":"inbox","id":"of another database"}\n');
    const server = await site.serve();
    const late = await sendNew(server);
    await until(() => site.handOvers().unknown === 1);
    expect(site.handOvers()).toEqual({ unknown: 1, received: 1 });
    expect(site.inbox.names()).toEqual([]);
    expect((await degraded(server)).some((what) => what.includes(site.inbox.path))).toBe(true);

    // The right file system is mounted again: deliveries go on by themselves, and what is unknown stays so.
    writeFileSync(site.inbox.marker, marker);
    await site.delivered();
    expect(site.handOvers()).toEqual({ unknown: 1, delivered: 1 });
    expect([received(id).length, received(late).length]).toEqual([0, 1]);
  },
);

test('a restored database: refused with the word to say, then what was pending in it is unknown, and nothing comes twice', async () => {
  site = new Site();
  await (await site.serve()).stop();
  const messages = await Promise.all(Array.from({ length: 5 }, () => sender.message()));
  const crashing = await site.serve({ crashAt: 'staging-half' });
  await eachOf(messages, 5, async (message) => void (await post(crashing.url, message).catch(() => null)));
  await crashing.ended;
  const pending = site.rows('SELECT 1 FROM outbox').length;
  expect(pending).toBeGreaterThan(0);
  const files = () => readdirSync(site.directory).filter((name) => /^quittance\.db(-wal|-shm)?$/.test(name));
  const backup = join(site.directory, 'backup');
  for (const name of files()) cpSync(join(site.directory, name), join(backup, name));

  const before = await site.serve();
  for (const message of messages) await post(before.url, message);
  for (let i = 0; i < 3; i++) await sendNew(before);
  await site.delivered();
  await before.stop();
  const consumed = site.inbox.consume(join(site.directory, 'consumed'));
  expect(consumed).toHaveLength(8);

  for (const name of files()) rmSync(join(site.directory, name));
  cpSync(backup, site.directory, { recursive: true });
  const refused = site.spawn();
  expect(await refused.ended).toEqual({ code: 1, signal: null });
  expect(refused.stderr()).toMatch(/hand-over number 8, but the database knows only \d.*Start with --restored/);
  expect(site.handOvers()).toEqual({ received: pending });

  const server = await site.serve({ arguments: ['--restored'] });
  const late = await sendNew(server);
  await site.delivered();
  expect(site.handOvers()).toEqual({ unknown: pending, delivered: 1 });
  expect(site.inbox.entries().map(({ metadata }) => metadata.messageId)).toEqual([late]);
  await server.stop();
  // Said once: the next start needs no word and changes nothing.
  await (await site.serve()).stop();
  expect(site.handOvers()).toEqual({ unknown: pending, delivered: 1 });
});

test('an inbox that hangs stops no receipt, and is delivered to when it answers again', async () => {
  site = new Site();
  const server = await site.serve();
  await sendNew(server);
  await site.delivered();
  // Reading a FIFO blocks in the kernel until somebody writes, as any call does on a mount whose server is gone.
  const marker = readFileSync(site.inbox.marker);
  rmSync(site.inbox.marker);
  execFileSync('mkfifo', [site.inbox.marker]);
  const messages = await Promise.all(Array.from({ length: 200 }, () => sender.message()));
  const unanswered: string[] = [];
  await eachOf(messages, 32, async (message) => {
    const { body } = await post(server.url, message);
    if (!sender.judge(body, message).verified) unanswered.push(message.messageId);
  });
  expect(unanswered).toEqual([]);
  expect(site.handOvers()).toEqual({ delivered: 1, received: 200 });
  await until(async () => (await degraded(server)).some((what) => /does not answer/.test(what)));

  // Away from its name, so that only the call that hangs sees it, and answered.
  renameSync(site.inbox.marker, join(site.directory, 'fifo'));
  writeFileSync(site.inbox.marker, marker);
  writeFileSync(join(site.directory, 'fifo'), marker);
  await site.delivered();
  expect(site.inbox.entries()).toHaveLength(201);
  expect(await degraded(server)).toEqual([]);
});
