import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeCrl, readMade, serialOf } from '../certs/maker.ts';
import { certDer, certFile } from '../certs/read.ts';
import { sentenceOf } from './commands/audit-sentences.ts';
import { readCertificate } from './pki/certificate.ts';
import { opensslAnswer, type ResponderOptions, startOpensslResponder } from './pki/testing/openssl-ocsp.ts';
import { hang, serve, startWebServer, type WebServer } from './pki/testing/web-server.ts';
import { TestSender } from './testing/messages.ts';
import { post } from './testing/post.ts';
import { startReceiver, type TestReceiver } from './testing/receiver.ts';

const sender = readCertificate(certDer('sender'));
const HOUR = 3_600_000;
let web: WebServer;
let directory: string;
let receiver: TestReceiver | null = null;
let now: number;

beforeEach(async () => {
  now = Date.now();
  directory = mkdtempSync(join(tmpdir(), 'quittance-revocation-'));
  web = await startWebServer(serve(''));
});
afterEach(async () => {
  await receiver?.stop();
  receiver = null;
  await web.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** No list is named in the configuration: only what is fetched or asked counts. */
async function start(settings: Record<string, string>): Promise<TestReceiver> {
  receiver = await startReceiver({
    directory,
    now: () => now,
    settings: {
      'trust.crls': '',
      'trust.crlDirectory': join(directory, 'crls'),
      'trust.fetchTimeout': '2s',
      ...settings,
    },
  });
  return receiver;
}

/** The CA's list of an hour ago, that ends in a day. */
function list(revoked: readonly string[] = []): string {
  const issuer = readMade(readFileSync(certFile('ap-ca.crt'), 'utf8'), readFileSync(certFile('ap-ca.key'), 'utf8'));
  const iso = (at: number) => new Date(at).toISOString();
  return makeCrl({ issuer, revoked, thisUpdate: iso(now - HOUR), nextUpdate: iso(now + 24 * HOUR) });
}

async function send(url: string, change: (body: Buffer) => Buffer = (body) => body) {
  const message = await new TestSender().message();
  const { status, body, retryAfter } = await post(url, { ...message, body: change(message.body) });
  const text = body.toString();
  return {
    status,
    retryAfter,
    message,
    code: /errorCode="([^"]*)"/.exec(text)?.[1] ?? (/<eb:Receipt/.test(text) ? 'receipt' : null),
  };
}

async function health(): Promise<{ status: number; degraded: string[] }> {
  const response = await fetch(`${receiver!.origin}/health/ready`);
  const { degraded } = (await response.json()) as { degraded: { what: string }[] };
  return { status: response.status, degraded: degraded.map(({ what }) => what) };
}

async function metric(name: string): Promise<string[]> {
  const text = await (await fetch(`${receiver!.origin}/metrics`)).text();
  return text.split('\n').filter((line) => line.startsWith(name));
}

describe('with the CRL server down', () => {
  const settings = () => ({ 'trust.crlUrls': `${web.origin}/ap-ca.crl`, 'trust.fetchInterval': '1h' });

  test('hard: 503 without a signal only after the stored list has ended, also across a restart; health tells it before', async () => {
    web.answer = serve(list());
    const { url } = await start(settings());
    await expect.poll(async () => (await send(url)).code, { timeout: 10_000 }).toBe('receipt');
    await web.stop();
    await receiver!.stop();
    now += 20 * HOUR;
    const again = await start(settings());
    expect((await send(again.url)).code).toBe('receipt');
    await expect.poll(async () => (await health()).degraded.join(), { timeout: 10_000 }).toMatch(/is getting old/);
    expect((await health()).status).toBe(200);
    now += 4 * HOUR;
    expect(await send(again.url)).toMatchObject({
      status: 503,
      code: null,
      retryAfter: expect.stringMatching(/^\d+$/),
    });
    expect(await health()).toMatchObject({
      status: 503,
      degraded: expect.arrayContaining([expect.stringMatching(/^no current CRL/)]),
    });
    expect((await metric('quittance_crl_left_seconds')).join()).toMatch(/\} -1$/);
  });

  test('soft: accepted after that too, with a warning for the backend, a mark in the audit and a count', async () => {
    web.answer = hang;
    const { url, inbox, metadata } = await start({ ...settings(), 'trust.revocation': 'soft' });
    expect((await send(url)).code).toBe('receipt');
    const [entry] = await inbox();
    expect(metadata(entry!).warnings).toContainEqual(
      expect.stringMatching(/^revocation-unknown: it could not be decided/),
    );
    const told = expect.stringMatching(/^revocation-unknown: it could not be decided/);
    const story = (await receiver!.quittance.store.audit('1'))!;
    expect(story.rows[0]).toMatchObject({ decision: 'allow', detail: { signer: [told] } });
    expect(sentenceOf(story.rows[0]!, story)).toMatch(/accepted for the inbox\. Of its signer: revocation-unknown: it/);
    expect(await metric('quittance_revocation_unknown_total')).toEqual(['quittance_revocation_unknown_total 1']);
  });

  test('a sender that a fetched list has is refused for good', async () => {
    web.answer = serve(list([serialOf('sender')]));
    const { url } = await start(settings());
    await expect.poll(async () => (await send(url)).code, { timeout: 10_000 }).toBe('EBMS:0101');
  });
});

describe('with OCSP', () => {
  const asking = (url: string, more: Record<string, string> = {}) =>
    start({ 'trust.ocsp': 'on', 'trust.ocspUrl': url, 'trust.fetchCrls': 'off', ...more });
  const answering = (o: ResponderOptions) => {
    web.answer = (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => response.end(opensslAnswer(Buffer.concat(chunks), o)));
    };
  };

  test('a real responder decides: good is delivered, revoked is 0101', async () => {
    const good = await startOpensslResponder({ good: [sender] });
    const { url } = await asking(good.url);
    expect((await send(url)).code).toBe('receipt');
    await receiver!.stop();
    await good.stop();
    const bad = await startOpensslResponder({ revoked: [sender] });
    expect((await send((await asking(bad.url)).url)).code).toBe('EBMS:0101');
    await bad.stop();
  });

  test('a repeat of a sender that has been revoked since gets no receipt any more', async () => {
    answering({ good: [sender] });
    const { url } = await asking(web.origin);
    const { message } = await send(url);
    answering({ revoked: [sender] });
    now += 2 * HOUR;
    const repeat = await post(url, message);
    expect(repeat.body.toString()).toContain('EBMS:0101');
  });

  test('nobody is asked before the SignatureValue is verified', async () => {
    answering({ good: [sender] });
    const { url } = await asking(web.origin);
    const forge = (body: Buffer) => {
      const at = body.indexOf('SignatureValue>') + 20;
      const forged = Buffer.from(body);
      forged[at] = forged[at] === 0x41 ? 0x42 : 0x41;
      return forged;
    };
    expect((await send(url, forge)).code).toBe('EBMS:0101');
    expect(web.asked).toEqual([]);
    expect((await send(url)).code).toBe('receipt');
    expect(web.asked).toHaveLength(1);
  });

  test('a silent responder costs the first sender its time limit: hard is 503, with a list the list decides', async () => {
    web.answer = hang;
    const { url } = await asking(web.origin, { 'trust.fetchTimeout': '1s' });
    expect(await send(url)).toMatchObject({ status: 503, code: null });
    expect(await send(url)).toMatchObject({ status: 503, code: null });
    expect(web.asked).toHaveLength(1);
    await receiver!.stop();
    const listed = await asking(web.origin, { 'trust.fetchTimeout': '1s', 'trust.crls': certFile('ap-ca.crl') });
    expect((await send(listed.url)).code).toBe('receipt');
    expect((await health()).degraded.join()).toMatch(/OCSP responder .* gives no answer that holds/);
  });
});

test('with the configuration of a first try nothing is fetched and nothing is degraded, and certificates have days', async () => {
  const { url } = await start({ 'trust.crls': certFile('ap-ca.crl') });
  expect((await send(url)).code).toBe('receipt');
  expect(await health()).toEqual({ status: 200, degraded: [] });
  expect((await metric('quittance_certificate_days_to_expiry')).length).toBe(3);
  expect((await metric('quittance_crl_age_seconds')).length).toBe(1);
});
