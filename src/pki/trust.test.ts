import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LEAVES } from '../../certs/inventory.ts';
import {
  caExtensions,
  leafExtensions,
  type Made,
  makeCertificate,
  makeCrl,
  newKeys,
  serialOf,
} from '../../certs/maker.ts';
import { certDer, certFile } from '../../certs/read.ts';
import type { TrustOptions } from './anchors.ts';
import { pemBlocks } from './files.ts';
import { TrustStore } from './trust.ts';

const NOW = Date.parse('2026-11-30T12:00:00Z');
const HOUR = 3_600_000;
const directory = mkdtempSync(join(tmpdir(), 'quittance-trust-'));
afterAll(() => rmSync(directory, { recursive: true }));

function file(name: string, ...contents: string[]): string {
  const path = join(directory, name);
  writeFileSync(path, contents.join(''));
  return path;
}

function load(o: Partial<TrustOptions> = {}): Promise<TrustStore> {
  return TrustStore.load({
    issuers: certFile('trust.pem'),
    crls: [certFile('ap-ca.crl'), certFile('root.crl')],
    revocation: 'hard',
    environment: 'test',
    now: () => NOW,
    ...o,
  });
}

/** A small PKI of its own: root, CA and leaf with the dates that a test needs. */
interface Pki {
  readonly root: Made;
  readonly ca: Made;
  readonly leaf: Buffer;
}
const keys: ReturnType<typeof newKeys>[] = [];
beforeAll(() => {
  for (let i = 0; i < 3; i++) keys.push(newKeys(2048));
});

function makePki(name: string, o: { rootUntil?: string; rootPathLength?: number } = {}): Pki {
  const [rootKeys, caKeys, leafKeys] = keys as [(typeof keys)[0], (typeof keys)[0], (typeof keys)[0]];
  const ca = { organisation: 'Test', unit: 'Test bench of Quittance', notBefore: '2020-01-01', notAfter: '2046-01-01' };
  const unit = 'Bench';
  const root = makeCertificate({
    ...ca,
    unit,
    name: `${name} root`,
    keys: rootKeys,
    commonNames: [`${name} ROOT CA`],
    issuer: null,
    notAfter: o.rootUntil ?? ca.notAfter,
    extensions: caExtensions(o.rootPathLength ?? 1),
  });
  const issuing = makeCertificate({
    ...ca,
    unit,
    name: `${name} ca`,
    keys: caKeys,
    commonNames: [`${name} ACCESS POINT CA`],
    issuer: root,
    extensions: caExtensions(0),
  });
  const leaf = makeCertificate({
    ...ca,
    unit: 'PEPPOL PRODUCTION AP',
    name: `${name} leaf`,
    keys: leafKeys,
    commonNames: ['POP000001'],
    issuer: issuing,
    extensions: leafExtensions({ keyUsage: ['digitalSignature'], crlUrl: 'http://crl.test/x.crl' }),
  });
  return { root, ca: issuing, leaf: pemBlocks(leaf.pem, 'CERTIFICATE')[0] as Buffer };
}

const crlDates = { thisUpdate: '2024-01-01', nextUpdate: '2045-01-01' };
const bundle = (name: string, pki: Pki) => file(name, pki.ca.pem, pki.root.pem);

describe('every certificate of the test PKI is judged as its row says', () => {
  test.each(LEAVES)('$name: $note', async ({ name, refused }) => {
    const verdict = (await load()).judge(certDer(name), NOW);
    expect(verdict).toMatchObject(
      refused === undefined ? { status: 'trusted' } : { status: 'refused', reason: refused },
    );
  });
});

test('a trusted certificate comes with its chain up to the root', async () => {
  const verdict = (await load()).judge(certDer('sender'), NOW);
  expect(verdict).toMatchObject({ status: 'trusted', warnings: [], certificate: { commonName: 'POP000001' } });
  expect(verdict.status === 'trusted' && verdict.chain.map(({ der }) => der)).toEqual(
    ['sender', 'ap-ca', 'root'].map(certDer),
  );
});

test('bytes that are no certificate are refused', async () => {
  const trust = await load();
  expect(trust.judge(Buffer.from('hello'), NOW)).toMatchObject({ status: 'refused', reason: 'malformed' });
  expect(trust.judge(Buffer.concat([certDer('sender'), Buffer.alloc(1)]), NOW)).toMatchObject({ reason: 'malformed' });
});

test('a certificate that names our CA without its signature is refused', async () => {
  const forged = Buffer.from(certDer('sender'));
  forged[forged.length - 1] = (forged.at(-1) as number) ^ 1;
  expect((await load()).judge(forged, NOW)).toMatchObject({ status: 'refused', reason: 'bad-issuer-signature' });
});

test('a changed certificate is never trusted, and judging it never throws', async () => {
  const trust = await load({ revocation: 'off' });
  const sender = certDer('sender');
  const change = fc.record({ at: fc.nat(sender.length - 1), mask: fc.integer({ min: 1, max: 255 }) });
  fc.assert(
    fc.property(change, ({ at, mask }) => {
      const changed = Buffer.from(sender);
      changed[at] = (changed[at] as number) ^ mask;
      expect(trust.judge(changed, NOW).status).toBe('refused');
    }),
    { numRuns: 300 },
  );
});

test.each(['ap-ca', 'root'])('the CA certificate %s signs no message', async (name) => {
  expect((await load()).judge(certDer(name), NOW).status).toBe('refused');
});

describe('now must lie inside the validity of leaf, CA and root, which need not nest', () => {
  const off = { revocation: 'off' } as const;

  test('a leaf that predates and outlives its CA is trusted', async () => {
    const verdict = (await load()).judge(certDer('sender'), NOW);
    const [leaf, ca] = verdict.status === 'trusted' ? verdict.chain : [];
    expect(verdict.status).toBe('trusted');
    expect(leaf?.notBefore).toBeLessThan(ca?.notBefore ?? 0);
    expect(leaf?.notAfter).toBeGreaterThan(ca?.notAfter ?? Number.POSITIVE_INFINITY);
  });

  test.each(['2020-06-01', '2046-07-01'])('a valid leaf of a CA that is not valid on %s is refused', async (day) => {
    const verdict = (await load(off)).judge(certDer('sender'), Date.parse(day));
    expect(verdict).toMatchObject({ status: 'refused', reason: 'issuer-not-valid' });
  });

  test('a valid leaf of a valid CA under a root that has ended is refused', async () => {
    const pki = makePki('ended', { rootUntil: '2025-01-01' });
    const trust = await load({ ...off, issuers: bundle('ended.pem', pki) });
    expect(trust.judge(pki.leaf, Date.parse('2024-06-01')).status).toBe('trusted');
    expect(trust.judge(pki.leaf, NOW)).toMatchObject({ status: 'refused', reason: 'issuer-not-valid' });
    expect(trust.degraded()).toEqual(['CA not valid now: CN=ended ROOT CA,OU=Bench,O=Test,C=BE']);
  });

  test('the last moment of a certificate belongs to its validity', async () => {
    const trust = await load(off);
    const end = Date.parse('2022-01-01T00:00:00Z');
    expect(trust.judge(certDer('expired'), end).status).toBe('trusted');
    expect(trust.judge(certDer('expired'), end + 1)).toMatchObject({ reason: 'expired' });
  });
});

describe('when no current CRL is there', () => {
  const stale = Date.parse('2046-02-01');

  test('hard: unknown, and revoked stays revoked', async () => {
    const trust = await load();
    expect(trust.judge(certDer('sender'), stale)).toMatchObject({ status: 'unknown', reason: 'revocation-unknown' });
    expect(trust.judge(certDer('revoked'), stale)).toMatchObject({ status: 'refused', reason: 'revoked' });
  });

  test('hard: unknown before the CRL begins, and when there never was one', async () => {
    expect((await load()).judge(certDer('sender'), Date.parse('2023-01-01')).status).toBe('unknown');
    expect((await load({ crls: [] })).judge(certDer('sender'), NOW).status).toBe('unknown');
  });

  test('hard: what is refused anyway is refused, not unknown', async () => {
    expect((await load({ crls: [] })).judge(certDer('expired'), NOW)).toMatchObject({ reason: 'expired' });
  });

  test('soft: trusted with a warning, and revoked stays revoked', async () => {
    const trust = await load({ revocation: 'soft' });
    const verdict = trust.judge(certDer('sender'), stale);
    const warnings = ['revocation-unknown', 'issuer-revocation-unknown'];
    expect(verdict).toMatchObject({ status: 'trusted', warnings });
    expect(trust.judge(certDer('sender'), NOW)).toMatchObject({ status: 'trusted', warnings: [] });
    expect(trust.judge(certDer('revoked'), stale)).toMatchObject({ reason: 'revoked' });
  });

  test('off: CRLs are not even read', async () => {
    const trust = await load({ revocation: 'off', crls: ['/nowhere/x.crl'] });
    expect(trust.judge(certDer('revoked'), NOW)).toMatchObject({ status: 'trusted', warnings: [] });
    expect(trust.degraded()).toEqual([]);
  });

  test("the root's CRL may be left out, but one that is configured must be current", async () => {
    const withoutRoot = await load({ crls: [certFile('ap-ca.crl')] });
    expect(withoutRoot.judge(certDer('sender'), NOW).status).toBe('trusted');
    const pki = makePki('lapsed');
    const crls = [
      file('lapsed-ca.crl', makeCrl({ ...crlDates, issuer: pki.ca, revoked: [] })),
      file(
        'lapsed-root.crl',
        makeCrl({ issuer: pki.root, revoked: [], thisUpdate: '2024-01-01', nextUpdate: '2025-01-01' }),
      ),
    ];
    const trust = await load({ issuers: bundle('lapsed.pem', pki), crls });
    expect(trust.judge(pki.leaf, NOW).status).toBe('unknown');
  });
});

test('a CA that its root has revoked issues nothing any more', async () => {
  const pki = makePki('withdrawn');
  const crls = [
    file('withdrawn-ca.crl', makeCrl({ ...crlDates, issuer: pki.ca, revoked: [] })),
    file('withdrawn-root.crl', makeCrl({ ...crlDates, issuer: pki.root, revoked: [serialOf('withdrawn ca')] })),
  ];
  const trust = await load({ issuers: bundle('withdrawn.pem', pki), crls });
  expect(trust.judge(pki.leaf, NOW)).toMatchObject({ status: 'refused', reason: 'issuer-revoked' });
});

test('of two CRLs of one CA the newest current one decides', async () => {
  const pki = makePki('two');
  const old = file('old.crl', makeCrl({ ...crlDates, issuer: pki.ca, revoked: [] }));
  const next = { issuer: pki.ca, revoked: [serialOf('two leaf')], thisUpdate: '2026-06-01', nextUpdate: '2045-01-01' };
  const trust = await load({ issuers: bundle('two.pem', pki), crls: [old, file('new.crl', makeCrl(next))] });
  expect(trust.judge(pki.leaf, Date.parse('2026-05-01')).status).toBe('trusted');
  expect(trust.judge(pki.leaf, NOW)).toMatchObject({ reason: 'revoked' });
});

test('two generations of CAs are trusted at once', async () => {
  const pki = makePki('second');
  const issuers = file('both.pem', readFileSync(certFile('trust.pem'), 'utf8'), pki.ca.pem, pki.root.pem);
  const trust = await load({ issuers, revocation: 'off' });
  expect(trust.issuers.map(({ certificate }) => certificate.commonName)).toEqual([
    'QUITTANCE ACCESS POINT TEST CA - G1',
    'second ACCESS POINT CA',
  ]);
  expect(trust.judge(certDer('sender'), NOW).status).toBe('trusted');
  expect(trust.judge(pki.leaf, NOW).status).toBe('trusted');
});

describe('a verdict is remembered', () => {
  test('for an hour', async () => {
    const trust = await load();
    const first = trust.judge(certDer('sender'), NOW);
    expect(trust.judge(certDer('sender'), NOW + HOUR - 1)).toBe(first);
    expect(trust.judge(certDer('sender'), NOW + HOUR)).not.toBe(first);
  });

  test.each([
    ['the nextUpdate of the CRL', '2046-01-01', {}, 'sender', 'trusted', 'unknown'],
    ['the end of the CA', '2046-06-01T00:00:00.001', { revocation: 'off' }, 'sender', 'trusted', 'refused'],
    ['the end of the certificate', '2022-01-01T00:00:00.001', { revocation: 'off' }, 'expired', 'trusted', 'refused'],
    ['its beginning', '2048-01-01', { revocation: 'off' }, 'not-yet-valid', 'refused', 'refused'],
  ] as const)('not beyond %s', async (_, moment, options, name, before, after) => {
    const trust = await load(options);
    const at = Date.parse(`${moment.includes('T') ? moment : `${moment}T00:00:00`}Z`);
    const first = trust.judge(certDer(name), at - 1000);
    expect(first.status).toBe(before);
    const second = trust.judge(certDer(name), at);
    expect(second.status).toBe(after);
    expect(second).not.toBe(first);
  });

  test('but never of a certificate that does not chain', async () => {
    const trust = await load();
    for (const name of ['other', 'self-signed', 'smp', 'root-issued']) {
      expect(trust.judge(certDer(name), NOW)).not.toBe(trust.judge(certDer(name), NOW));
    }
  });
});

describe('reload', () => {
  test('takes the new CRL and forgets every verdict', async () => {
    const pki = makePki('renewed');
    const crl = file('renewed.crl', makeCrl({ ...crlDates, issuer: pki.ca, revoked: [] }));
    const trust = await load({ issuers: bundle('renewed.pem', pki), crls: [crl] });
    expect(trust.judge(pki.leaf, NOW).status).toBe('trusted');
    file('renewed.crl', makeCrl({ ...crlDates, issuer: pki.ca, revoked: [serialOf('renewed leaf')] }));
    expect(trust.judge(pki.leaf, NOW).status).toBe('trusted');
    await trust.reload();
    expect(trust.judge(pki.leaf, NOW)).toMatchObject({ reason: 'revoked' });
  });

  test('of a broken file leaves the last good one in force, and says so until it is mended', async () => {
    const issuers = join(directory, 'broken.pem');
    copyFileSync(certFile('trust.pem'), issuers);
    const trust = await load({ issuers });
    writeFileSync(issuers, 'no certificates');
    await expect(trust.reload()).rejects.toMatchObject({ code: 'bad-trust-file' });
    expect(trust.judge(certDer('sender'), NOW).status).toBe('trusted');
    expect(trust.degraded()).toEqual([expect.stringContaining('broken.pem holds no issuing CA')]);
    copyFileSync(certFile('trust.pem'), issuers);
    await trust.reload();
    expect(trust.degraded()).toEqual([]);
  });
});

describe('degraded', () => {
  test('says nothing when all is well', async () => {
    expect((await load()).degraded()).toEqual([]);
  });

  test('names the CA without a CRL, and the CRL that is not current', async () => {
    expect((await load({ crls: [] })).degraded()).toEqual([
      'no CRL of CN=QUITTANCE ACCESS POINT TEST CA - G1,OU=FOR TEST ONLY,O=Quittance Test PKI,C=BE',
    ]);
    const stale = await load({ crls: [certFile('ap-ca.crl')], now: () => Date.parse('2046-02-01') });
    expect(stale.degraded()).toEqual([
      expect.stringMatching(/^no current CRL of CN=QUITTANCE ACCESS.*2046-01-01T00:00:00/),
    ]);
  });
});

describe('load refuses', () => {
  const pem = (name: string) => readFileSync(certFile(`${name}.crt`), 'utf8');

  test.each([
    ['a CA without its root', 'issuer-without-root', /has no root that signed CN=QUITTANCE ACCESS POINT/, ['ap-ca']],
    ['a CA with the root of another PKI', 'issuer-without-root', /has no root that signed/, ['ap-ca', 'other-root']],
    ['a root alone', 'bad-trust-file', /holds no issuing CA/, ['root']],
    [
      'the SMP CA of the same root',
      'bad-trust-file',
      /SERVICE METADATA.* not of access points/,
      ['ap-ca', 'smp-ca', 'root'],
    ],
    ['a leaf among the CAs', 'bad-trust-file', /CN=POP000001.* is not a CA/, ['ap-ca', 'root', 'sender']],
  ])('%s', async (_, code, message, names) => {
    const issuers = file('refused.pem', ...names.map(pem));
    await expect(load({ issuers })).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });

  const unknownExtension = { id: '1.3.6.1.4.1.99999.1', critical: true, value: '\u0004\u0001?' };
  const usage = { name: 'keyUsage', critical: true };
  const constraints = { name: 'basicConstraints', critical: true, cA: true };
  const faults: [string, RegExp, Partial<Parameters<typeof makeCertificate>[0]>][] = [
    ['whose key is shorter than 2048 bits', /RSA key below 2048 bits/, { keys: newKeys(1024) }],
    ['that is signed with SHA-1', /signed with an algorithm that is too weak/, { sha1: true }],
    ['that may not sign certificates', /keyUsage/, { extensions: [constraints, { ...usage, cRLSign: true }] }],
    ['that is none', /basicConstraints/, { extensions: [{ ...usage, keyCertSign: true }] }],
    ['with a critical extension', /1\.3\.6\.1\.4\.1\.99999\.1/, { extensions: [...caExtensions(0), unknownExtension] }],
  ];
  test.each(faults)('a CA %s', async (_, message, fault) => {
    const { root } = makePki('faulty');
    const [, caKeys] = keys as [(typeof keys)[0], (typeof keys)[0]];
    const dates = { notBefore: '2020-01-01', notAfter: '2046-01-01' };
    const names = { name: 'faulty ca', commonNames: ['faulty CA'], organisation: 'Test', unit: 'Bench' };
    const sound = { ...names, ...dates, keys: caKeys, issuer: root, extensions: caExtensions(0) };
    const off = { revocation: 'off' } as const;
    const good = file('sound.pem', makeCertificate(sound).pem, root.pem);
    await expect(load({ ...off, issuers: good })).resolves.toBeInstanceOf(TrustStore);
    const issuers = file('faulty.pem', makeCertificate({ ...sound, ...fault }).pem, root.pem);
    await expect(load({ ...off, issuers })).rejects.toMatchObject({
      code: 'bad-trust-file',
      message: expect.stringMatching(message),
    });
  });

  test('a root that allows no CA below it', async () => {
    const issuers = bundle('path.pem', makePki('path', { rootPathLength: 0 }));
    await expect(load({ issuers, revocation: 'off' })).rejects.toThrow('pathLenConstraint 0');
  });

  test('test CAs in production, and only those', async () => {
    const refused = load({ environment: 'production' });
    await expect(refused).rejects.toMatchObject({ code: 'test-issuer-in-production' });
    const issuers = bundle('production.pem', makePki('PEPPOL'));
    await expect(load({ issuers, revocation: 'off', environment: 'production' })).resolves.toBeInstanceOf(TrustStore);
  });

  test('a CRL of a CA that is not trusted', async () => {
    const pki = makePki('stranger');
    const crl = file('stranger.crl', makeCrl({ ...crlDates, issuer: pki.ca, revoked: [] }));
    await expect(load({ crls: [crl] })).rejects.toMatchObject({
      code: 'bad-crl',
      message: expect.stringContaining('stranger.crl is signed by none of the trusted CAs'),
    });
  });

  test.each([{ issuers: '/nowhere/trust.pem' }, { crls: ['/nowhere/x.crl'] }])(
    'a file that is not there: %o',
    async (o) => {
      await expect(load(o)).rejects.toMatchObject({
        code: 'unreadable-file',
        message: expect.stringContaining('/nowhere/'),
      });
    },
  );
});

const peers = new URL('../../../shared/samples/peers/pki/', import.meta.url).pathname;
const hasPeers = existsSync(peers);
test.skipIf(!hasPeers)(
  `the PKI of the peers' captures is trusted${hasPeers ? '' : ': skipped, ../shared is not here'}`,
  async () => {
    const trust = await load({ issuers: join(peers, 'trust.pem'), revocation: 'off' });
    for (const name of ['sender', 'sender2', 'receiver']) {
      const der = pemBlocks(readFileSync(join(peers, `${name}.crt`), 'utf8'), 'CERTIFICATE')[0] as Buffer;
      expect(trust.judge(der, NOW)).toMatchObject({
        status: 'trusted',
        certificate: { commonName: expect.stringMatching(/^PBE/) },
      });
    }
  },
);
