import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Keys, makeCrl, serialOf } from '../../certs/maker.ts';
import type { TrustOptions } from './anchors.ts';
import { type RevocationSettings, RevocationWatch } from './revocation-watch.ts';
import { certificateOf, makeSmallPki, type SmallPki, threeKeys } from './testing/small-pki.ts';
import { hang, serve, startWebServer, type WebServer } from './testing/web-server.ts';
import { TrustStore } from './trust.ts';

const START = Date.parse('2026-11-30T12:00:00Z');
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const log = { info() {}, warn() {} };
let keys: [Keys, Keys, Keys];
let otherKeys: [Keys, Keys, Keys];
let web: WebServer;
let directory: string;
let pki: SmallPki;
let now: number;
let running: RevocationWatch[];

beforeAll(() => {
  keys = threeKeys();
  otherKeys = threeKeys();
});
beforeEach(async () => {
  now = START;
  running = [];
  directory = mkdtempSync(join(tmpdir(), 'quittance-fetch-'));
  web = await startWebServer(serve(list()));
  pki = makeSmallPki('fetch', { keys, crlUrl: `${web.origin}/ca.crl`, rootCrlUrl: `${web.origin}/root.crl` });
  answer();
});
afterEach(async () => {
  await Promise.all(running.map((watch) => watch.stop()));
  await web.stop();
  rmSync(directory, { recursive: true });
});

const iso = (at: number) => new Date(at).toISOString();

/** A list of the CA, issued an hour ago and good for a week unless a test says otherwise. */
function list(o: Partial<Parameters<typeof makeCrl>[0]> = {}): string {
  if (pki === undefined) return '';
  const dates = { thisUpdate: iso(now - HOUR), nextUpdate: iso(now + 7 * DAY) };
  return makeCrl({ ...dates, issuer: pki.ca, revoked: [], ...o });
}
const revoked = () => ({ revoked: [serialOf('fetch leaf')] });

/** What the server has from now on: the root's list, and the given one. */
function answer(ca: string | Buffer = list(), headers: Record<string, string> = {}): void {
  const root = list({ issuer: pki.root });
  web.answer = (request, response) => serve(request.url === '/root.crl' ? root : ca, headers)(request, response);
}

async function start(o: Partial<TrustOptions & RevocationSettings> = {}) {
  const issuers = join(directory, 'trust.pem');
  writeFileSync(issuers, pki.ca.pem + pki.root.pem);
  const settings = {
    revocation: 'hard' as const,
    fetchCrls: 'on' as const,
    crlHosts: [web.host],
    crlUrls: [],
    crlDirectory: join(directory, 'crls'),
    crlMaxBytes: 100_000,
    fetchInterval: HOUR,
    fetchTimeout: 2000,
    ocsp: 'off' as const,
    ocspHosts: [],
    ocspUrl: '',
    ...o,
  };
  const trust = await TrustStore.load({ issuers, crls: [], environment: 'test', now: () => now, ...settings });
  const watch = new RevocationWatch({
    trust,
    identity: { certificate: certificateOf(pki.leaf) },
    settings,
    now: () => now,
    log,
  });
  running.push(watch);
  return { trust, watch, judge: () => trust.judge(certificateOf(pki.leaf).der, now) };
}

describe('lists are fetched from where certificates say', () => {
  test('that of the CA from our own certificate, that of the root from the CA; then senders are decided', async () => {
    const { watch, judge } = await start();
    expect(judge().status).toBe('unknown');
    expect(watch.decides(now)).toBe(false);
    await watch.fetchAll();
    expect(web.asked.sort()).toEqual(['/ca.crl', '/root.crl']);
    expect(judge()).toMatchObject({ status: 'trusted', warnings: [] });
    expect(watch.degraded()).toEqual([]);
    expect(watch.decides(now)).toBe(true);
    now += HOUR;
    answer(list(revoked()));
    await watch.fetchAll();
    expect(judge()).toMatchObject({ status: 'refused', reason: 'revoked' });
  });

  test('that of a CA of which we have no certificate from the first sender that has one', async () => {
    const second = makeSmallPki('second', { keys: otherKeys, crlUrl: `${web.origin}/second.crl` });
    const own = list();
    web.answer = (request, response) =>
      serve(request.url === '/second.crl' ? list({ issuer: second.ca }) : own)(request, response);
    const { trust, watch } = await start();
    writeFileSync(join(directory, 'trust.pem'), [pki, second].map(({ ca, root }) => ca.pem + root.pem).join(''));
    await trust.reload();
    watch.trustReloaded();
    watch.start();
    expect(trust.judge(certificateOf(second.leaf).der, now).status).toBe('unknown');
    // Both generations of CAs at once, each with its own list.
    await expect.poll(() => trust.judge(certificateOf(second.leaf).der, now).status).toBe('trusted');
    await expect.poll(() => trust.judge(certificateOf(pki.leaf).der, now).status).toBe('trusted');
  });

  test('or only from the URLs of the configuration, whose hosts are allowed by that', async () => {
    const { watch, judge } = await start({ crlHosts: [], crlUrls: [`${web.origin}/mirror.crl`] });
    await watch.fetchAll();
    expect(web.asked).toEqual(['/mirror.crl']);
    expect(judge().status).toBe('trusted');
  });

  test('never from a host that is not in the list, and never with fetchCrls = "off"', async () => {
    const nobody = await start({ crlHosts: ['crl.one.nl.digicert.com'] });
    await nobody.watch.fetchAll();
    const off = await start({ fetchCrls: 'off' });
    await off.watch.fetchAll();
    expect(web.asked).toEqual([]);
    expect(off.judge().status).toBe('unknown');
  });

  test('of a CA that is trusted no more nothing is fetched', async () => {
    const { trust, watch } = await start();
    const other = makeSmallPki('other', { keys: otherKeys });
    writeFileSync(join(directory, 'trust.pem'), other.ca.pem + other.root.pem);
    await trust.reload();
    watch.trustReloaded();
    await watch.fetchAll();
    expect(web.asked).toEqual([]);
  });
});

describe('lists are fetched again by themselves', () => {
  beforeEach(() => {
    // Only those of the schedule: connections keep their own time.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });
  afterEach(() => void vi.useRealTimers());

  /** As many answers so far, each taken. */
  const fetched = async (watch: RevocationWatch, count: number) => {
    await expect
      .poll(() => Object.values(watch.figures().crlFetches).reduce((a, b) => a + b), { timeout: 10_000 })
      .toBe(count);
  };
  const pass = async (time: number) => {
    now += time;
    await vi.advanceTimersByTimeAsync(time);
  };

  test('every interval, and a revocation counts from then on', async () => {
    const { watch, judge } = await start();
    watch.start();
    await pass(0);
    await fetched(watch, 2);
    expect(judge().status).toBe('trusted');
    answer(list(revoked()));
    await pass(HOUR - 1000);
    expect(web.asked).toHaveLength(2);
    await pass(1000);
    await fetched(watch, 4);
    expect(judge()).toMatchObject({ status: 'refused', reason: 'revoked' });
  });

  test('later when the server asks for it by Cache-Control, and early when the list ends before', async () => {
    answer(list(), { 'cache-control': 'max-age=36000' });
    web.answer = (request, response) => {
      const ends = request.url === '/root.crl' ? list({ issuer: pki.root, nextUpdate: iso(now + 2 * HOUR) }) : list();
      serve(ends, { 'cache-control': 'max-age=36000' })(request, response);
    };
    const { watch } = await start();
    watch.start();
    await pass(0);
    await fetched(watch, 2);
    await pass(HOUR);
    await fetched(watch, 3);
    expect(web.asked.slice(2)).toEqual(['/root.crl']);
    for (let hours = 1; hours < 10; hours++) {
      await pass(HOUR);
      await fetched(watch, 3 + hours + (hours === 9 ? 1 : 0));
    }
    expect(web.asked.filter((path) => path === '/ca.crl')).toHaveLength(2);
  });

  test('soon after a failure, by itself until the server is back', async () => {
    web.answer = (_, response) => void response.writeHead(500).end();
    const { watch, judge } = await start();
    watch.start();
    await pass(0);
    await fetched(watch, 2);
    expect(judge().status).toBe('unknown');
    answer();
    await pass(60_000);
    await fetched(watch, 4);
    expect(judge().status).toBe('trusted');
    expect(watch.degraded()).toEqual([]);
  });
});

describe('a fetched list is kept', () => {
  test('and used after a restart, with the server down', async () => {
    answer(list(revoked()));
    await (await start()).watch.fetchAll();
    await web.stop();
    const { judge, watch } = await start();
    expect(judge()).toMatchObject({ status: 'refused', reason: 'revoked' });
    await watch.fetchAll();
    expect(judge()).toMatchObject({ status: 'refused', reason: 'revoked' });
  });

  test('one file a CA, whole or not at all', async () => {
    const { watch } = await start();
    await watch.fetchAll();
    const files = readdirSync(join(directory, 'crls'));
    expect(files.sort()).toEqual([pki.ca, pki.root].map((ca) => `${certificateOf(ca).fingerprint}.crl`).sort());
  });

  test('a file that is damaged on disk costs only itself: health names it, and the next fetch mends it', async () => {
    const file = join(directory, 'crls', `${certificateOf(pki.ca).fingerprint}.crl`);
    await (await start()).watch.fetchAll();
    writeFileSync(file, readFileSync(file).subarray(0, 100));
    const { watch, judge, trust } = await start();
    expect(judge().status).toBe('unknown');
    expect(watch.degraded().map(({ what }) => what)).toContainEqual(
      expect.stringContaining(`${file} is not valid DER`),
    );
    await watch.fetchAll();
    expect(judge().status).toBe('trusted');
    await trust.reload();
    expect(watch.degraded()).toEqual([]);
  });

  test('in force also when it cannot be written, and health says that', async () => {
    const { watch, judge } = await start({ crlDirectory: join(directory, 'trust.pem', 'crls') });
    await watch.fetchAll();
    expect(judge().status).toBe('trusted');
    now += HOUR;
    await watch.fetchAll();
    expect(watch.degraded().map(({ what }) => what)).toContainEqual(
      expect.stringMatching(/in force, but cannot be kept on disk \(ENOTDIR\)/),
    );
  });

  test('across a reload of the trust files that began before it came', async () => {
    const { trust, watch, judge } = await start({ crlDirectory: join(directory, 'trust.pem', 'crls') });
    await Promise.all([trust.reload().catch(() => {}), watch.fetchAll()]);
    await trust.reload();
    expect(judge().status).toBe('trusted');
  });
});

describe('what a server gives instead of a newer list changes nothing', () => {
  const foreign = () => makeSmallPki('foreign', { keys: otherKeys });

  test.each([
    ['garbage', () => 'hello', /not valid DER|not built/],
    ['a list of another CA', () => list({ issuer: foreign().ca }), /is not signed by CN=fetch CA/],
    ['the list of the root', () => list({ issuer: pki.root }), /is not signed by CN=fetch CA/],
    [
      'an older list',
      () => list({ thisUpdate: iso(START - 2 * HOUR), revoked: [] }),
      /is older than the one that is known/,
    ],
    ['a list of tomorrow', () => list({ thisUpdate: iso(now + DAY) }), /is our clock right/],
    ['a list that is too large', () => Buffer.alloc(100_001), /larger than 100000 bytes/],
    ['a part of a list', () => list({ partitioned: true }), /critical extension/],
  ])('%s', async (_, bytes, why) => {
    answer(list(revoked()));
    const { watch, judge } = await start();
    await watch.fetchAll();
    now += HOUR;
    answer(bytes());
    await watch.fetchAll();
    expect(judge()).toMatchObject({ status: 'refused', reason: 'revoked' });
    expect(watch.degraded()).toEqual([]); // may be over in a moment
    now += HOUR;
    await watch.fetchAll();
    expect(watch.degraded()).toEqual([{ what: expect.stringMatching(why), since: START + HOUR }]);
    expect(watch.figures().crlFetches).toMatchObject({ failed: 2 });
  });

  test('a redirect to a host that is not in the list', async () => {
    const elsewhere = await startWebServer(serve(list()));
    web.answer = (_, response) => void response.writeHead(302, { location: `${elsewhere.origin}/ca.crl` }).end();
    const { watch, judge } = await start();
    await watch.fetchAll();
    expect(elsewhere.asked).toEqual([]);
    expect(judge().status).toBe('unknown');
    await elsewhere.stop();
  });

  test('a list that has ended is no list, but what it says is revoked stays so', async () => {
    answer(list({ ...revoked(), thisUpdate: iso(now - 9 * DAY), nextUpdate: iso(now - DAY) }));
    const { watch, judge } = await start();
    await watch.fetchAll();
    expect(judge()).toMatchObject({ status: 'refused', reason: 'revoked' });
    expect(watch.degraded().map(({ what }) => what)).toContainEqual(expect.stringContaining('ended on'));
  });

  test('the second address is asked when the first fails', async () => {
    const { trust, watch, judge } = await start({ crlUrls: [] });
    const moved = makeSmallPki('fetch', { keys, crlUrl: `${web.origin}/moved.crl` });
    trust.judge(certificateOf(moved.leaf).der, now);
    web.answer = (request, response) =>
      request.url === '/moved.crl' ? response.writeHead(404).end() : serve(list())(request, response);
    await watch.fetchAll();
    expect(web.asked).toEqual(expect.arrayContaining(['/moved.crl', '/ca.crl']));
    expect(judge().status).toBe('trusted');
  });
});

describe('with the server down', () => {
  test('hard: senders are accepted until the list ends, then it cannot be decided; long before that it is told', async () => {
    const { watch, judge } = await start();
    await watch.fetchAll();
    const end = now + 7 * DAY;
    await web.stop();
    now += HOUR;
    await watch.fetchAll();
    expect(watch.degraded()).toEqual([]);
    now += 2 * HOUR;
    const told = watch.degraded();
    expect(told).toHaveLength(2);
    for (const { what, since } of told) {
      expect(what).toMatch(/^the CRL of CN=fetch (CA|ROOT),.* cannot be fetched: http:.*(ECONNREFUSED|closed)/);
      expect(since).toBe(START + HOUR);
    }
    now = START + 4 * DAY;
    expect(watch.degraded().map(({ what }) => what)).toContainEqual(
      expect.stringMatching(/CN=fetch CA.* is getting old/),
    );
    now = end - 1;
    expect(judge().status).toBe('trusted');
    expect(watch.decides(now)).toBe(true);
    now = end;
    expect(judge()).toMatchObject({ status: 'unknown', reason: 'revocation-unknown' });
    expect(watch.decides(now)).toBe(false);
    expect(watch.degraded()[0]).toMatchObject({ what: expect.stringMatching(/^no current CRL of CN=fetch CA/) });
  });

  test('soft: they are accepted with a warning after that, and each is counted', async () => {
    const { watch, judge } = await start({ revocation: 'soft' });
    await watch.fetchAll();
    now += 8 * DAY;
    const verdict = judge();
    if (verdict.status !== 'trusted') throw new Error('not trusted');
    expect(verdict.warnings).toContain('revocation-unknown');
    expect(await watch.confirm(verdict, now)).toEqual({ status: 'trusted', warnings: verdict.warnings });
    expect(watch.figures().acceptedUnknown).toBe(1);
  });

  test('off: nothing is fetched and nothing is told', async () => {
    const { watch, judge } = await start({ revocation: 'off' });
    await watch.fetchAll();
    expect(web.asked).toEqual([]);
    expect(judge().status).toBe('trusted');
    expect(watch.degraded()).toEqual([]);
  });

  test('or silent: judging never waits, a fetch ends by its time limit, and stopping does not wait for it', async () => {
    web.answer = hang;
    const { watch, judge } = await start({ fetchTimeout: 200 });
    await watch.fetchAll();
    expect(watch.degraded().map(({ what }) => what)).toContainEqual(expect.stringContaining('no whole answer within'));
    const patient = await start({ fetchTimeout: 600_000 });
    patient.watch.start();
    await expect.poll(() => web.asked.length).toBeGreaterThan(2);
    expect(judge().status).toBe('unknown');
    await patient.watch.stop();
  });
});

test('the age of each list and the days of each certificate are numbers to watch', async () => {
  const { watch } = await start();
  await watch.fetchAll();
  const figures = watch.figures();
  const [ca, root] = ['CN=fetch CA,OU=Bench,O=Test,C=BE', 'CN=fetch ROOT,OU=Bench,O=Test,C=BE'];
  expect(figures.listAgeSeconds).toEqual({ [ca!]: 3600, [root!]: 3600 });
  expect(figures.listLeftSeconds).toEqual({ [ca!]: 7 * 86_400, [root!]: 7 * 86_400 });
  const days = Math.floor((Date.parse('2046-01-01') - now) / DAY);
  expect(figures.daysToExpiry).toEqual({ own: days, [ca!]: days, [root!]: days });
  expect(figures.crlFetches).toEqual({ new: 2, kept: 0, failed: 0 });
  await watch.fetchAll();
  expect(watch.figures().crlFetches).toEqual({ new: 2, kept: 2, failed: 0 });
});

test('a root that issues its list seldom is not "old" while its server says that there is no newer one', async () => {
  const yearly = { issuer: pki.root, thisUpdate: iso(now - 300 * DAY), nextUpdate: iso(now + 65 * DAY) };
  const [ca, root] = [list(), list(yearly)];
  web.answer = (request, response) => serve(request.url === '/root.crl' ? root : ca)(request, response);
  const { watch } = await start();
  await watch.fetchAll();
  expect(watch.degraded()).toEqual([]);
  now += 35 * DAY;
  const fresh = list();
  web.answer = (request, response) => serve(request.url === '/root.crl' ? root : fresh)(request, response);
  await watch.fetchAll();
  expect(watch.degraded()).toEqual([{ what: expect.stringMatching(/ROOT.* getting old/), since: expect.any(Number) }]);
});

test('a certificate of ours or of a CA that has less than 30 days is told at the start and in health', async () => {
  pki = makeSmallPki('fetch', { keys, crlUrl: `${web.origin}/ca.crl`, leafUntil: '2026-12-20', caUntil: '2026-12-29' });
  answer(list());
  const said: string[] = [];
  const { trust } = await start({ revocation: 'off' });
  const settings = { revocation: 'off', crlHosts: [], crlUrls: [], ocspHosts: [] } as never as RevocationSettings;
  const watch = new RevocationWatch({
    trust,
    identity: { certificate: certificateOf(pki.leaf) },
    settings,
    now: () => now,
    log: { info() {}, warn: (_, message) => said.push(message) },
  });
  watch.start();
  expect(said).toEqual([
    'our certificate expires in 19 days, on 2026-12-20; get its successor now',
    'CA CN=fetch CA,OU=Bench,O=Test,C=BE expires in 28 days, on 2026-12-29; get its successor now',
  ]);
  now += 25 * DAY;
  expect(watch.degraded()).toEqual([
    { what: 'our certificate expired on 2026-12-20; replace it', since: Date.parse('2026-11-20') },
    { what: expect.stringMatching(/^CA CN=fetch CA.* expires in 3 days/), since: Date.parse('2026-11-29') },
  ]);
});
