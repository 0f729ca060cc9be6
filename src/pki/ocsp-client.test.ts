import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { certDer, certFile } from '../../certs/read.ts';
import { readCertificate } from './certificate.ts';
import type { RevocationSettings } from './revocation-watch.ts';
import { RevocationWatch } from './revocation-watch.ts';
import { opensslAnswer, type Responder, type ResponderOptions, startOpensslResponder } from './testing/openssl-ocsp.ts';
import { hang, serve, startWebServer, type WebServer } from './testing/web-server.ts';
import { TrustStore } from './trust.ts';

const read = (name: string) => readCertificate(certDer(name));
const [sender, second, receiver, ca] = [read('sender'), read('sender-2'), read('receiver'), read('ap-ca')];
const MINUTE = 60_000;
const CURRENT = [certFile('ap-ca.crl'), certFile('root.crl')];
let web: WebServer;
let now: number;
let responders: Responder[];

beforeEach(async () => {
  now = Date.now();
  responders = [];
  web = await startWebServer(serve(''));
});
afterEach(async () => {
  await web.stop();
  await Promise.all(responders.map((responder) => responder.stop()));
});

async function responder(o: ResponderOptions): Promise<string> {
  const started = await startOpensslResponder(o);
  responders.push(started);
  return started.url;
}

/** A receiver that asks OCSP. Without lists, only OCSP can say anything about a leaf. */
async function start(url: string, o: { revocation?: 'hard' | 'soft'; crls?: string[]; timeout?: number } = {}) {
  const settings: RevocationSettings = {
    revocation: o.revocation ?? 'hard',
    fetchCrls: 'off',
    crlHosts: [],
    crlUrls: [],
    crlDirectory: '/nowhere',
    crlMaxBytes: 1000,
    fetchInterval: 60 * MINUTE,
    fetchTimeout: o.timeout ?? 5000,
    ocsp: 'on',
    ocspHosts: [],
    ocspUrl: url,
  };
  const trust = await TrustStore.load({
    issuers: certFile('trust.pem'),
    crls: o.crls ?? [],
    environment: 'test',
    now: () => now,
    revocation: settings.revocation,
    ocsp: 'on',
  });
  const log = { info() {}, warn() {} };
  const watch = new RevocationWatch({ trust, identity: { certificate: receiver }, settings, now: () => now, log });
  const confirm = (certificate = sender) => {
    const verdict = trust.judge(certificate.der, now);
    if (verdict.status !== 'trusted') throw new Error(verdict.text);
    return watch.confirm(verdict, now);
  };
  return { trust, watch, confirm };
}

/** Counts the questions, and passes each to OpenSSL. */
function answering(o: ResponderOptions) {
  web.answer = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => response.end(opensslAnswer(Buffer.concat(chunks), o)));
  };
}

describe('an OpenSSL responder', () => {
  test('that says "good" makes a signer trusted of which no list says anything', async () => {
    const { confirm, trust } = await start(await responder({ good: [sender] }));
    expect(trust.judge(sender.der, now)).toMatchObject({ status: 'trusted', warnings: ['revocation-unknown'] });
    expect(await confirm()).toEqual({ status: 'trusted', warnings: [] });
  });

  test('that says "revoked" is believed, whatever the list says', async () => {
    const { confirm } = await start(await responder({ revoked: [sender] }), { crls: CURRENT });
    expect(await confirm()).toMatchObject({ status: 'refused', reason: 'revoked' });
  });

  test('that does not know the certificate leaves it to the list: hard without one is unknown', async () => {
    const url = await responder({});
    expect(await (await start(url)).confirm()).toMatchObject({ status: 'unknown' });
    expect(await (await start(url, { crls: CURRENT })).confirm()).toEqual({ status: 'trusted', warnings: [] });
  });

  test('is not asked about a certificate that the list has: it is refused before', async () => {
    answering({ good: [read('revoked')] });
    const { trust } = await start(web.origin, { crls: CURRENT });
    expect(trust.judge(certDer('revoked'), now)).toMatchObject({ status: 'refused', reason: 'revoked' });
    expect(web.asked).toEqual([]);
  });
});

describe('an answer is remembered', () => {
  test('for an hour, and the question asked once however many messages wait for it', async () => {
    answering({ good: [sender] });
    const { confirm } = await start(web.origin);
    await Promise.all([confirm(), confirm(), confirm()]);
    now += 59 * MINUTE;
    expect(await confirm()).toMatchObject({ status: 'trusted' });
    expect(web.asked).toHaveLength(1);
    now += 2 * MINUTE;
    await confirm();
    expect(web.asked).toHaveLength(2);
  });

  test('but not beyond its own end', async () => {
    const { confirm, watch } = await start(await responder({ good: [sender] }));
    expect((await confirm()).status).toBe('trusted');
    now += 2 * 24 * 60 * MINUTE; // what OpenSSL says now has ended by our clock
    expect((await confirm()).status).toBe('unknown');
    expect(watch.degraded().map(({ what }) => what)).toContainEqual(expect.stringContaining('ended on'));
  });
});

describe('without an answer that holds', () => {
  const wrong: readonly [string, (request: Buffer) => Buffer | string][] = [
    ['garbage', () => 'hello'],
    ['a wrong signer', (request) => opensslAnswer(request, { good: [sender], signer: 'other-ocsp' })],
    ['an access point as signer', (request) => opensslAnswer(request, { good: [sender], signer: 'sender-2' })],
    ['an answer that is too large', () => Buffer.alloc(40_000)],
    ['a refusal', () => Buffer.from('30030a0106', 'hex')],
  ];

  test.each(wrong)('%s: hard is unknown, soft accepts with a warning, and a current list decides', async (_, reply) => {
    web.answer = (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => response.end(reply(Buffer.concat(chunks))));
    };
    const hard = await start(web.origin);
    expect(await hard.confirm()).toMatchObject({ status: 'unknown', reason: 'revocation-unknown' });
    expect(hard.watch.degraded().map(({ what }) => what)).toContainEqual(expect.stringContaining('OCSP responder'));
    const soft = await start(web.origin, { revocation: 'soft' });
    expect(await soft.confirm()).toEqual({ status: 'trusted', warnings: ['revocation-unknown'] });
    expect(soft.watch.figures()).toMatchObject({ acceptedUnknown: 1, ocspAnswers: { failed: 1 } });
    const listed = await start(web.origin, { crls: CURRENT });
    expect(await listed.confirm()).toEqual({ status: 'trusted', warnings: [] });
  });

  test('an answer about another certificate does not count', async () => {
    const { askAbout } = await import('./ocsp-question.ts');
    web.answer = serve(opensslAnswer(askAbout(second, ca).request, { good: [second] }));
    const { confirm } = await start(web.origin);
    expect((await confirm()).status).toBe('unknown');
    expect((await confirm(second)).status).toBe('trusted');
  });

  test('a responder that is away or silent is waited for once, then left alone for a minute', async () => {
    web.answer = hang;
    const { confirm, watch } = await start(web.origin, { timeout: 2000 });
    expect((await confirm()).status).toBe('unknown');
    expect((await confirm()).status).toBe('unknown');
    expect((await confirm(second)).status).toBe('unknown');
    expect(web.asked).toHaveLength(1);
    expect(watch.figures().ocspAnswers).toMatchObject({ failed: 1, skipped: 2 });
    expect(watch.decides(now)).toBe(false);
    answering({ good: [sender] });
    now += MINUTE + 1000;
    expect((await confirm()).status).toBe('trusted');
    expect(watch.decides(now)).toBe(true);
    expect(
      watch
        .degraded()
        .map(({ what }) => what)
        .join(),
    ).not.toContain('OCSP');
  });

  test('a host that is not in the list is not asked, although a certificate names it', async () => {
    const { watch, confirm } = await start('');
    expect((await confirm()).status).toBe('unknown');
    expect(watch.figures().ocspAnswers).toEqual({ good: 0, revoked: 0, unknown: 0, failed: 0, skipped: 0 });
  });
});
