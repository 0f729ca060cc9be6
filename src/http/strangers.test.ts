import { setTimeout as pause, setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { TestSender } from '../testing/messages.ts';
import { removeDirectory, startReceiver, type TestReceiver } from '../testing/receiver.ts';
import type { ServerOptions } from './server.ts';
import { Sources } from './sources.ts';
import { HungUp, Strangers } from './strangers.ts';
import { RawClient } from './testing/raw-client.ts';
import { startTestServer } from './testing/start.ts';

describe('strangers', () => {
  it('have so many places, and no more', () => {
    const strangers = new Strangers(2);
    expect([strangers.enter(), strangers.enter(), strangers.enter()]).toEqual([true, true, false]);
    strangers.leave();
    expect(strangers.enter()).toBe(true);
  });

  /** Those whose turn has come, with what ends it, in the order in which it came. */
  function queueOf(strangers: Strangers, count: number): { n: number; end: () => void }[] {
    const begun: { n: number; end: () => void }[] = [];
    for (let n = 0; n < count; n++) void strangers.turn(`192.0.2.${n}`).then((end) => begun.push({ n, end }));
    return begun;
  }

  it('are worked on one at a time, in the order in which they came', async () => {
    const begun = queueOf(new Strangers(8), 3);
    for (const expected of [[0], [0, 1], [0, 1, 2]]) {
      await setImmediate();
      expect(begun.map(({ n }) => n)).toEqual(expected);
      for (const { end } of begun) end(); // also again, which hands nothing on
    }
  });

  it('let those go first who are known, but not for ever', async () => {
    const strangers = new Strangers(8);
    strangers.beginKnown();
    strangers.beginKnown();
    const begun = queueOf(strangers, 2);
    strangers.endKnown();
    await setImmediate();
    expect(begun).toHaveLength(0);
    strangers.endKnown();
    await setImmediate();
    expect(begun).toHaveLength(1);
    strangers.beginKnown();
    begun[0]?.end();
    await setImmediate();
    expect(begun).toHaveLength(1);
    await expect.poll(() => begun).toHaveLength(2);
  });

  it('need not wait any longer once their address is known, however many of them wait', async () => {
    const strangers = new Strangers(8);
    const begun = queueOf(strangers, 4);
    const more: string[] = [];
    for (const name of ['a', 'b']) void strangers.turn('192.0.2.2').then(() => more.push(name));
    strangers.promote('192.0.2.2');
    await setImmediate();
    expect(begun.map(({ n }) => n)).toEqual([0, 2]);
    expect(more).toEqual(['a', 'b']);
    // They are worked on as those of known senders are: others let them go first.
    begun[0]?.end();
    await setImmediate();
    expect(begun).toHaveLength(2);
    await expect.poll(() => begun.map(({ n }) => n)).toEqual([0, 2, 1]);
  });

  it('begin no turn while there is no room for one more message', async () => {
    let room = false;
    const begun = queueOf(new Strangers(8, () => room), 1);
    await pause(150);
    expect(begun).toHaveLength(0);
    room = true;
    await expect.poll(() => begun).toHaveLength(1);
  });

  it('leave the line when they hang up', async () => {
    const strangers = new Strangers(8);
    const first = await strangers.turn('192.0.2.1');
    const gone = new AbortController();
    const second = strangers.turn('192.0.2.2', gone.signal);
    const begun = queueOf(strangers, 1);
    gone.abort();
    await expect(second).rejects.toBeInstanceOf(HungUp);
    await expect(strangers.turn('192.0.2.2', gone.signal)).rejects.toBeInstanceOf(HungUp);
    first();
    await setImmediate();
    expect(begun).toHaveLength(1);
  });

  it('keep nobody from their turn for ever, whatever theirs waits for', async () => {
    const begun = queueOf(new Strangers(8), 3);
    await expect.poll(() => begun, { timeout: 5_000 }).toHaveLength(2);
    begun[0]?.end(); // late: the turn is the second one's now
    await setImmediate();
    expect(begun).toHaveLength(2);
    begun[1]?.end();
    await setImmediate();
    expect(begun).toHaveLength(3);
    begun[2]?.end();
  });
});

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function client(port: number, source: string): Promise<RawClient> {
  const made = await RawClient.connect(port, source);
  cleanUps.push(() => made.socket.destroy());
  return made;
}

it('messages of strangers are worked on one after the other, until they only wait', async () => {
  let working = 0;
  let most = 0;
  let arrived = 0;
  const server = await startTestServer({
    strangers: 6,
    async receive(request) {
      arrived += 1;
      await request.turn?.();
      most = Math.max(most, ++working);
      await setImmediate();
      working -= 1;
      request.endTurn?.();
      while (arrived < 6) await setImmediate(); // would wait for ever if the turn were kept until the answer
      return { status: 200, contentType: 'text/plain', body: Buffer.from('x') };
    },
  });
  cleanUps.push(() => server.stop(0));
  const answers = Array.from({ length: 6 }, async (_, i) => {
    const each = await client(server.port, `127.0.0.${10 + i}`);
    await each.post('Content-Type: application/soap+xml\r\nContent-Length: 1', 'x');
    return (await each.answer()).status;
  });
  expect(await Promise.all(answers)).toEqual(Array(6).fill(200));
  expect(most).toBe(1);
});

describe('a message that waits for its turn', () => {
  /** A server whose first message keeps its turn until `release` is called. */
  async function startBusy(options: Partial<ServerOptions> = {}) {
    let arrived = 0;
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const ended: string[] = [];
    const begun: string[] = [];
    const server = await startTestServer({
      ...options,
      async receive(request) {
        const first = arrived++ === 0;
        for await (const _ of request.body);
        try {
          await request.turn?.();
          begun.push(request.remoteAddress);
        } catch (error) {
          ended.push((error as { reason: string }).reason);
        }
        if (first) await held;
        return { status: 200, contentType: 'text/plain', body: Buffer.from(`${request.stranger}`) };
      },
    });
    cleanUps.push(() => server.stop(0));
    cleanUps.push(() => release());
    const post = async (source: string) => {
      const each = await client(server.port, source);
      await each.post('Content-Type: application/soap+xml\r\nContent-Length: 1', 'x');
      return each;
    };
    const first = await post('127.0.0.10');
    await expect.poll(() => arrived).toBe(1);
    return { server, post, first, release, ended, begun };
  }

  it('is not late for that', async () => {
    const { post, first, release } = await startBusy({ envelopeTimeoutMs: 100 });
    const second = await post('127.0.0.11');
    await pause(300);
    release();
    expect([(await first.answer()).status, (await second.answer()).body]).toEqual([200, 'true']);
  });

  it('is not worked on when its sender hangs up, and its place is free at once', async () => {
    const { server, post, first, release, ended } = await startBusy();
    const second = await post('127.0.0.11');
    await expect.poll(() => server.strangers()).toBe(2);
    second.socket.destroy();
    await expect.poll(() => [ended, server.strangers()]).toEqual([['hung-up'], 1]);
    release();
    expect((await first.answer()).status).toBe(200);
  });

  it('goes on at once when its address became known while it arrived', async () => {
    const sources = new Sources({ inFlight: 8, failuresPerMinute: 0, now: Date.now });
    const { server, post, begun } = await startBusy({ sources });
    const slow = await client(server.port, '127.0.0.11');
    await slow.post('Content-Type: application/soap+xml\r\nContent-Length: 2', 'x');
    const other = await post('127.0.0.12');
    await expect.poll(() => server.strangers()).toBe(3);
    sources.proven('127.0.0.11');
    await slow.write('y');
    expect([(await slow.answer()).status, (await other.answer()).status]).toEqual([200, 200]);
    expect(begun).toEqual(['127.0.0.10', '127.0.0.11', '127.0.0.12']);
  });
});

describe('a receiver whose places for strangers are taken', () => {
  const sender = new TestSender();
  let receiver: TestReceiver;

  async function send(source: string, message?: { contentType: string; body: Uint8Array }): Promise<number> {
    const { contentType, body } = message ?? (await sender.message());
    const each = await client(Number(new URL(receiver.url).port), source);
    await each.post(`Content-Type: ${contentType}\r\nContent-Length: ${body.length}`, Buffer.from(body));
    return (await each.answer()).status;
  }

  async function holdThePlace(): Promise<RawClient> {
    const slow = await client(Number(new URL(receiver.url).port), '127.0.0.66');
    await slow.post('Content-Type: application/soap+xml\r\nContent-Length: 1000', '<');
    await expect.poll(() => send('127.0.0.67')).toBe(503);
    return slow;
  }

  it('goes on receiving from senders that it knows, and takes others again afterwards', async () => {
    receiver = await startReceiver({ settings: { 'http.strangers': '1' } });
    cleanUps.push(() => receiver.stop().then(() => removeDirectory(receiver)));
    expect(await send('127.0.0.2')).toBe(200);
    const slow = await holdThePlace();
    expect(await send('127.0.0.2')).toBe(200);
    slow.socket.destroy();
    await expect.poll(() => send('127.0.0.68')).toBe(200);
  });

  it('knows after a restart whom it knew before', async () => {
    receiver = await startReceiver({ settings: { 'http.strangers': '1' } });
    cleanUps.push(() => receiver.stop().then(() => removeDirectory(receiver)));
    expect(await send('127.0.0.2')).toBe(200);
    await receiver.stop();
    receiver = await startReceiver({ settings: { 'http.strangers': '1' }, directory: receiver.directory });
    await holdThePlace();
    expect([await send('127.0.0.2'), await send('127.0.0.3')]).toEqual([200, 503]);
  });

  it('knows nobody for a receipt that was given before, nor after ten messages that were nobody’s', async () => {
    receiver = await startReceiver({ settings: { 'http.strangers': '1' } });
    cleanUps.push(() => receiver.stop().then(() => removeDirectory(receiver)));
    const message = await sender.message();
    expect([await send('127.0.0.2', message), await send('127.0.0.3', message)]).toEqual([200, 200]);
    expect(await send('127.0.0.4')).toBe(200);
    const nobodys = { contentType: 'application/soap+xml', body: Buffer.from('<a/>') };
    for (let n = 0; n < 10; n++) expect(await send('127.0.0.4', nobodys)).toBe(200);
    expect(await send('127.0.0.2', nobodys)).toBe(200);
    await holdThePlace();
    expect([await send('127.0.0.2'), await send('127.0.0.3'), await send('127.0.0.4')]).toEqual([200, 503, 503]);
  });
});
