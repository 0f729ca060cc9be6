import { afterEach, describe, expect, test } from 'vitest';
import { sbdOf, type TestMessage, TestSender } from '../testing/messages.ts';
import { openUpload, post } from '../testing/post.ts';
import { removeDirectory, startReceiver, type TestReceiver } from '../testing/receiver.ts';
import { Site, until } from '../testing/site.ts';

/** The situations in which a receiver is in danger of delivering twice, or not at all; each end to end, over HTTP and into the inbox. */

const PATIENCE = 120_000;
/** The samples are invoices: 365 days. */
const day = 24 * 3_600_000;
const actor = { by: 'Alice', reason: 'the clock is right', osUser: 'alice', host: 'ops' };
const retention = { payloadRetention: 30 * day, evidenceRetention: 365 * day, dryRun: false };
const sender = new TestSender();
let offset = 0;
let receiver: TestReceiver | undefined;
let site: Site | undefined;
afterEach(async () => {
  await receiver?.stop();
  if (receiver) removeDirectory(receiver);
  await site?.remove();
  [receiver, site, offset] = [undefined, undefined, 0];
});

const now = (): number => Date.now() + offset;

async function start(): Promise<TestReceiver> {
  receiver = await startReceiver({ now });
  return receiver;
}

/** So many days later; an operator has said that the clock is right, since the receiver was away for long. */
async function later(days: number, { directory }: TestReceiver): Promise<TestReceiver> {
  await receiver?.stop();
  offset += days * day;
  receiver = await startReceiver({ directory, now });
  await receiver.quittance.store.clockIsRight(actor, now());
  return receiver;
}

const message = (o: Parameters<TestSender['message']>[0] = {}) => sender.message({ timestamp: new Date(now()), ...o });

/** Posts it and demands a receipt of its own: signed, and with its MessageId and its digests. Gives the bytes. */
async function receipted(one: TestMessage, url = receiver!.url): Promise<string> {
  const { body } = await post(url, one);
  expect(sender.judge(body, one)).toEqual({ receipt: true, verified: true, error: null });
  expect(body.toString()).toContain(`RefToMessageId>${one.messageId}<`);
  return body.toString();
}

/** An EDIFACT interchange in an SBD that is made anew each time, as gateways do. */
function interchange(reference: string, content: string, prepared = '261130:1159'): Buffer {
  const unb = `UNB+UNOC:3+4012345000009:14+4098765000004:14+${prepared}+${reference}'`;
  return sbdOf(Buffer.from(`UNA:+.? '${unb}UNH+1+ORDERS:D:96A:UN'BGM+220+${content}+9'UNT+3+1'UNZ+1+${reference}'`));
}

async function inbox(): Promise<Record<string, unknown>[]> {
  const names = await receiver!.inbox();
  return names.sort().map((name) => receiver!.metadata(name));
}
const states = async () => (await receiver!.quittance.store.messages({ limit: 50 })).map((m) => m.state).reverse();

describe('each situation, end to end', () => {
  test('new key per retransmission: one delivery, and a receipt of its own for each attempt', async () => {
    await start();
    const attempts = await Promise.all(Array.from({ length: 4 }, () => message({ sbd: interchange('4711', 'PO-1') })));
    const receipts = await Promise.all(attempts.map((one) => receipted(one)));
    expect(new Set(receipts).size).toBe(4);
    for (const [i, one] of attempts.entries()) expect(await receipted(one)).toBe(receipts[i]);
    expect(await inbox()).toHaveLength(1);
    expect((await states()).sort()).toEqual(['delivered', 'suppressed', 'suppressed', 'suppressed']);
  });

  test('counters reset to 1 after a restart: what is new is delivered, with a warning, and what repeats is not', async () => {
    await start();
    for (const n of ['1', '2', '3']) await receipted(await message({ sbd: interchange(n, `PO-${n}`) }));
    for (const n of ['1', '2']) await receipted(await message({ sbd: interchange(n, `PO-1${n}`, '261201:0800') }));
    await receipted(await message({ sbd: interchange('1', 'PO-11', '261201:0800') }));
    const warnings = (await inbox()).map((m) => String(m.warnings).includes('counter seems to have begun anew'));
    expect(warnings).toEqual([false, false, false, true, true]);
    expect((await states()).at(-1)).toBe('suppressed');
  });

  test('lost receipt: who got no answer gets the stored one by sending again, and the document is there once', async () => {
    const { url, quittance } = await start();
    const one = await message();
    const upload = await openUpload(url, one);
    await upload.write();
    await until(async () => (await quittance.store.messages({ limit: 1 })).length === 1);
    upload.destroy();
    const stored = (await quittance.store.evidence(one.messageId))!.receipts.map((r) => Buffer.from(r.body).toString());
    expect(stored).toEqual([await receipted(one)]);
    expect(await inbox()).toHaveLength(1);
  });

  test('two distinct orders with equal content, under references of their own, are both delivered', async () => {
    await start();
    await receipted(await message({ sbd: interchange('4711', 'PO-1') }));
    await receipted(await message({ sbd: interchange('4712', 'PO-1') }));
    // And without any interchange: the same invoice in another SBDH instance.
    const invoice = await message();
    const again = invoice.sbd.toString().replace(/(<InstanceIdentifier>)[^<]*/, '$1another-instance');
    await receipted(invoice);
    await receipted(await message({ sbd: Buffer.from(again) }));
    expect(await inbox()).toHaveLength(4);
  });

  test('replay with other content: under a known MessageId it fails, under a known interchange it waits; neither is delivered', async () => {
    const { url, quittance } = await start();
    const first = await message({ sbd: interchange('4711', 'PO-1') });
    await receipted(first);
    const other = await message({ messageId: first.messageId, sbd: interchange('4711', 'PO-2') });
    for (let i = 0; i < 2; i++) {
      expect(sender.judge((await post(url, other)).body, other).error?.code).toBe('EBMS:0003');
    }
    await receipted(await message({ sbd: interchange('4711', 'PO-3') }));
    expect(await inbox()).toHaveLength(1);
    expect(await states()).toEqual(['delivered', 'review']);
    const waiting = await quittance.store.reviews({ limit: 10 });
    expect(waiting.map(({ kind, told }) => `${kind} ${told}`).sort()).toEqual(['held failure', 'message receipt']);
  });

  test(
    'repeat outside the window: a rebuilt message after a year and a day is delivered, and is told to be outside',
    async () => {
      const first = await start();
      const one = await message();
      const receipt = await receipted(one);
      await later(360, first);
      expect(await receipted(one)).toBe(receipt);
      expect(await inbox()).toHaveLength(1);
      await later(6, first);
      await receipted(await message({ messageId: one.messageId, sbd: one.sbd }));
      const [before, after] = await inbox();
      expect([before?.outsideWindow, after?.outsideWindow]).toEqual([false, true]);
      expect(after?.messageId).toBe(one.messageId);
    },
    PATIENCE,
  );

  test(
    'repeat after purge: rebuilt with a fresh timestamp it is new; the old bytes wait for an operator',
    async () => {
      const first = await start();
      const [one, two] = [await message(), await message()];
      const receipt = await receipted(one);
      await receipted(two);
      expect(await inbox()).toHaveLength(2);
      const { quittance } = await later(366, first);
      expect(await quittance.store.purge({ now: now(), ...retention })).toMatchObject({ messages: 2 });
      expect(await receipted(one)).not.toBe(receipt);
      await receipted(await message({ messageId: two.messageId, sbd: two.sbd }));
      expect(await inbox()).toHaveLength(3);
      expect(await states()).toEqual(['review', 'delivered']);
      expect((await inbox()).at(-1)).toMatchObject({ messageId: two.messageId, outsideWindow: false });
    },
    PATIENCE,
  );

  test('replay older than the window: whatever was purged, a signed timestamp that is older waits, with a receipt that stays', async () => {
    const { quittance } = await start();
    const replay = await message({ timestamp: new Date(now() - 366 * day) });
    const receipt = await receipted(replay);
    expect(await receipted(replay)).toBe(receipt);
    expect(await inbox()).toEqual([]);
    expect(await states()).toEqual(['review']);
    expect(await quittance.store.review(replay.messageId, 'approve', actor, now())).toMatchObject({ kind: 'done' });
    await expect.poll(inbox, { timeout: 10_000 }).toHaveLength(1);
    expect(await receipted(replay)).toBe(receipt);
  });

  test(
    'clock +400 days and back: nothing is forgotten, what is new is delivered, and purge takes nothing',
    async () => {
      const { quittance, origin } = await start();
      const degraded = async () => JSON.stringify(await (await fetch(`${origin}/health/ready`)).json());
      const sent = [await message(), await message({ sbd: interchange('4711', 'PO-1') })];
      const receipts = await Promise.all(sent.map((one) => receipted(one)));
      for (const days of [400, -400]) {
        offset += days * day;
        for (const [i, one] of sent.entries()) expect(await receipted(one)).toBe(receipts[i]);
        await receipted(await message({ sbd: interchange('4711', 'PO-1'), timestamp: new Date() }));
        await receipted(await message({ timestamp: new Date() }));
        const purge = quittance.store.purge({ now: now(), ...retention });
        if (days > 0) {
          await expect(purge).rejects.toMatchObject({ code: 'clock' });
          expect(await degraded()).toContain('Nothing expires');
        } else {
          expect(await purge).toMatchObject({ keys: 0, messages: 0, payloads: 0, evidence: 0 });
          expect(await degraded()).not.toContain('Nothing expires');
        }
      }
      expect(await inbox()).toHaveLength(4);
      expect((await states()).filter((state) => state !== 'delivered')).toEqual(['suppressed', 'suppressed']);
    },
    PATIENCE,
  );

  test(
    'restored backup: it starts only when told so, what it knows gets the receipt of its day, and what came since is new',
    async () => {
      site = new Site();
      const file = `${site.directory}/copy.db`;
      let server = await site.serve();
      const known = [await message(), await message({ sbd: interchange('4711', 'PO-1') })];
      const receipts = await Promise.all(known.map((one) => receipted(one, server.url)));
      await site.delivered();
      await server.stop();
      await backup(site.database, file);
      server = await site.serve();
      const since = await message();
      await receipted(since, server.url);
      await site.delivered();
      await server.stop();

      site.restore(file);
      const refused = site.spawn();
      expect(await refused.ended).toMatchObject({ code: 1 });
      expect(refused.stderr()).toContain('--restored');
      server = await site.serve({ arguments: ['--restored'] });
      for (const [i, one] of known.entries()) expect(await receipted(one, server.url)).toBe(receipts[i]);
      await receipted(await message({ sbd: interchange('4711', 'PO-1') }), server.url);
      await site.delivered();
      expect(site.inbox.names()).toHaveLength(3);
      // What came after the backup is not in it: that is why the operator had to be asked.
      await receipted(since, server.url);
      await site.delivered();
      expect(site.inbox.names()).toHaveLength(4);
    },
    PATIENCE,
  );

  test(
    'the same interchange to two processes at once, under two MessageIds: one delivery, two receipts, each for its own message',
    async () => {
      site = new Site();
      const [a, b] = [await site.serve(), await site.serve()];
      expect(a.log.find((l) => l.pid !== undefined)?.pid).not.toBe(b.log.find((l) => l.pid !== undefined)?.pid);
      for (let n = 0; n < 20; n++) {
        const attempts = [interchange(`${n}`, `PO-${n}`), interchange(`${n}`, `PO-${n}`)];
        const [one, other] = await Promise.all(attempts.map((sbd) => message({ sbd })));
        const receipts = await Promise.all([receipted(one!, a.url), receipted(other!, b.url)]);
        // Whichever came first, each process knows both.
        expect(await Promise.all([receipted(one!, b.url), receipted(other!, a.url)])).toEqual(receipts);
      }
      await site.delivered();
      expect(site.inbox.names()).toHaveLength(20);
      expect(site.handOvers()).toEqual({ delivered: 20 });
    },
    PATIENCE,
  );
});

async function backup(database: string, file: string): Promise<void> {
  const { openSqliteStore } = await import('../store/sqlite.ts');
  const store = await openSqliteStore({ url: `sqlite:${database}`, heartbeat: false });
  await store.backup(file);
  await store.close();
}
