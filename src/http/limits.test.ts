import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { PACKAGE_ROOT } from '../config/load.ts';
import { TestSender } from '../testing/messages.ts';
import { removeDirectory, startReceiver } from '../testing/receiver.ts';
import type { DoorRefusal } from './app-options.ts';
import { remoteAddressBehind } from './remote-address.ts';
import type { Server, ServerOptions } from './server.ts';
import { Sources } from './sources.ts';
import { RawClient } from './testing/raw-client.ts';
import { startTestServer } from './testing/start.ts';

const servers: Server[] = [];
const refusals: DoorRefusal[] = [];
afterEach(async () => {
  refusals.length = 0;
  await Promise.all(servers.splice(0).map((server) => server.stop(0)));
});

async function start(options: Partial<ServerOptions> = {}): Promise<Server> {
  const server = await startTestServer({ onRefused: (refusal) => refusals.push(refusal), ...options });
  servers.push(server);
  return server;
}

interface Posted {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly text: string;
}

/** As a proxy sends it on. */
function postFrom(source: string, url: string, body: Buffer | string, contentType: string): Promise<Posted> {
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': contentType, 'X-Forwarded-For': source };
    const sending = request(url, { method: 'POST', headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          retryAfter: response.headers['retry-after'],
          text: Buffer.concat(chunks).toString(),
        }),
      );
    });
    sending.on('error', reject);
    sending.end(body);
  });
}

const soap = 'application/soap+xml';

describe('a source address', () => {
  it('that keeps all its places busy is told to come again, and others are received', async () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const server = await start({
      remoteAddress: remoteAddressBehind(['127.0.0.1']),
      sources: new Sources({ inFlight: 2, failuresPerMinute: 0, now: Date.now }),
      receive: async ({ remoteAddress }) => {
        if (remoteAddress === '192.0.2.1') await held;
        return { status: 204, contentType: null, body: null };
      },
    });
    const url = `${server.url}/as4`;
    const first = [1, 2].map(() => postFrom('192.0.2.1', url, 'x', soap));
    while (server.strangers() < 2) await pause(1);
    expect(await postFrom('192.0.2.1', url, 'x', soap)).toMatchObject({ status: 503, retryAfter: '30' });
    expect(await postFrom('192.0.2.2', url, 'x', soap)).toMatchObject({ status: 204 });
    release();
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual([204, 204]);
    expect(await postFrom('192.0.2.1', url, 'x', soap)).toMatchObject({ status: 204 });
    expect(refusals).toMatchObject([{ status: 503, reason: 'source-busy', remoteAddress: '192.0.2.1' }]);
  });

  it('that only sends what nobody signed gets 503, a good sender beside it its receipts, and the operator finds why', async () => {
    const settings = { 'http.failuresPerMinute': '5', 'http.trustProxy': '127.0.0.1' };
    const receiver = await startReceiver({ settings });
    const unsigned = '<S:Envelope xmlns:S="http://www.w3.org/2003/05/soap-envelope"><S:Body/></S:Envelope>';
    const hostile = () => postFrom('192.0.2.1', receiver.url, unsigned, soap);
    for (let n = 0; n < 4; n += 1) expect(await hostile()).toMatchObject({ status: 200 });
    expect(await postFrom('192.0.2.1', receiver.url, '{}', 'application/json')).toMatchObject({ status: 415 });
    const turnedAway = await hostile();
    expect(turnedAway).toMatchObject({ status: 503, retryAfter: '30' });
    expect(turnedAway.text).not.toContain('<');

    const sender = new TestSender();
    const again = await sender.message();
    for (let n = 0; n < 10; n += 1) {
      const { contentType, body } = n % 2 === 0 ? await sender.message() : again;
      const answer = await postFrom('192.0.2.2', receiver.url, body, contentType);
      expect(answer.status).toBe(200);
      expect(answer.text).toContain('NonRepudiationInformation');
    }

    const listed = await receiver.quittance.store.refusals({ limit: 10 });
    expect(listed.map(({ code }) => code)).toEqual(['415', ...Array.from({ length: 4 }, () => listed[1]!.code)]);
    expect(new Set(listed.map(({ remoteAddress, sender: who }) => `${remoteAddress} ${who}`))).toEqual(
      new Set(['192.0.2.1 null']),
    );
    const metrics = await (await fetch(`${receiver.origin}/metrics`)).text();
    expect(metrics).toContain('quittance_door_refusals_total{status="503",reason="source-failing"} 1');
    expect(metrics).toContain('quittance_door_refusals_total{status="415",reason="media-type"} 1');
    expect(metrics).toMatch(/^quittance_refusals_total\{code="EBMS:\d{4}",reason="[a-z-]+"\} 4$/m);
    expect(metrics).toMatch(/^quittance_hand_overs\{state="review"\} 0$/m);
    for (const name of [
      'in_flight',
      'buffered_bytes',
      'audit_gaps_total',
      'dropped_refusals_total',
      'event_loop_utilization',
    ]) {
      expect(metrics).toMatch(new RegExp(`^quittance_${name} [0-9.e-]+$`, 'm'));
    }
    const guide = readFileSync(join(PACKAGE_ROOT, 'docs/operator.md'), 'utf8');
    const served = [...metrics.matchAll(/^# TYPE (quittance_\w+)/gm)].map(([, name]) => name);
    const told = [...guide.matchAll(/^\| `(quittance_\w+)/gm)].map(([, name]) => name);
    expect(new Set(told)).toEqual(new Set(served));
    await receiver.stop();
    removeDirectory(receiver);
  });
});

describe('refused uploads', () => {
  it('are read to their end only so many at a time; a further one is answered at once and closed', async () => {
    const server = await start({ draining: 1 });
    const upload = 'Content-Type: text/plain\r\nContent-Length: 10';
    const slow = await RawClient.connect(server.port);
    await slow.post(upload, 'x');
    while (refusals.length < 1) await pause(1);
    const next = await RawClient.connect(server.port);
    await next.post(upload, 'x');
    const answer = await next.answer();
    expect([answer.status, answer.header('Connection')]).toEqual([415, 'close']);
    await next.closed();
    await slow.write('123456789');
    const first = await slow.answer();
    expect([first.status, first.header('Connection')]).toEqual([415, 'keep-alive']);
    // Its place is free again.
    await slow.post(upload, '1234567890');
    expect((await slow.answer()).header('Connection')).toBe('keep-alive');
    slow.socket.destroy();
  });
});

describe('connections', () => {
  it('beyond the limit are closed, and counted', async () => {
    const server = await start({ maxConnections: 2 });
    const [one, two] = [await RawClient.connect(server.port), await RawClient.connect(server.port)];
    await one.post('X: y', '', 'GET /health/live HTTP/1.1');
    expect((await one.answer()).status).toBe(200);
    await (await RawClient.connect(server.port)).closed();
    expect(refusals.map(({ reason }) => reason)).toEqual(['connections']);
    two.socket.destroy();
    one.socket.destroy();
  });
});
