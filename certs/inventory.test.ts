import { execFileSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CAS, CRLS, LEAF_VALIDITY, LEAVES, PASSWORD, PKCS12, RESPONDERS } from './inventory.ts';

const path = (file: string) => join(import.meta.dirname, file);
const certificate = (name: string) => new X509Certificate(readFileSync(path(`${name}.crt`)));
const date = (iso: string) => Date.parse(`${iso}T00:00:00Z`);
const UNTIL = date('2045-01-01');
const rows = [
  ...CAS.map((row) => ({ ...row, commonNames: [row.commonName] })),
  ...LEAVES,
  ...RESPONDERS.map((row) => ({ ...LEAF_VALIDITY, ...row, commonNames: [row.commonName] })),
];

function openssl(...args: string[]): string | null {
  try {
    return execFileSync('openssl', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch {
    return null;
  }
}
const hasOpenssl = openssl('version') !== null;

describe.each(rows)('$name', (row) => {
  test('has a certificate and the key that belongs to it', () => {
    const key = createPrivateKey(readFileSync(path(`${row.name}.key`)));
    expect(certificate(row.name).checkPrivateKey(key)).toBe(true);
  });

  test('is signed by the issuer of its row, and names its subject', () => {
    const made = certificate(row.name);
    const issuer = certificate(row.issuer);
    // Only a leaf that signs itself may not: its keyUsage has no keyCertSign.
    expect(made.checkIssued(issuer)).toBe(row.name !== 'self-signed');
    expect(made.verify(issuer.publicKey)).toBe(true);
    expect(made.issuer).toBe(issuer.subject);
    expect(made.subject.split('\n').filter((line) => line.startsWith('CN='))).toEqual(
      row.commonNames.map((commonName) => `CN=${commonName}`),
    );
  });

  test('lives as long as its row says, and the good ones to 2045 at least', () => {
    const made = certificate(row.name);
    expect(Date.parse(made.validFrom)).toBe(date(row.notBefore ?? LEAF_VALIDITY.notBefore));
    expect(Date.parse(made.validTo)).toBe(date(row.notAfter ?? LEAF_VALIDITY.notAfter));
    if (!('refused' in row)) expect(Date.parse(made.validTo)).toBeGreaterThan(UNTIL);
  });
});

test('a renewed receiver keeps its key and changes its serial number; the next one changes its key', () => {
  const [now, renewed, next] = ['receiver', 'receiver-renewed', 'receiver-next'].map(certificate);
  const key = (c: X509Certificate | undefined) => c?.publicKey.export({ type: 'spki', format: 'pem' });
  expect(key(renewed)).toBe(key(now));
  expect(renewed?.serialNumber).not.toBe(now?.serialNumber);
  expect(key(next)).not.toBe(key(now));
});

test('the README begins with TEST ONLY and names every file', () => {
  const text = readFileSync(path('README.md'), 'utf8');
  expect(text.split('\n')[0]).toMatch(/^TEST ONLY/);
  for (const row of rows) expect(text).toContain(`| \`${row.name}\` `);
  for (const file of [...PKCS12.map(({ name }) => `${name}.p12`), ...CRLS.map(({ ca }) => `${ca}.crl`)]) {
    expect(existsSync(path(file))).toBe(true);
    expect(text).toContain(file);
  }
});

describe.skipIf(!hasOpenssl)(`OpenSSL${hasOpenssl ? '' : ' is not installed: skipped'}`, () => {
  const verify = (name: string, ...more: string[]) =>
    openssl('verify', ...more, '-CAfile', path('root.crt'), '-untrusted', path('ap-ca.crt'), path(`${name}.crt`));
  const withCrls = ['-crl_check_all', '-CRLfile', path('ap-ca.crl'), '-CRLfile', path('root.crl')];

  test.each(LEAVES.filter((leaf) => leaf.refused === undefined))(
    'verifies $name against both CRLs in 2045',
    ({ name }) => {
      expect(verify(name, ...withCrls)).toContain('OK');
      expect(verify(name, ...withCrls, '-attime', String(UNTIL / 1000))).toContain('OK');
    },
  );

  test.each(['expired', 'not-yet-valid', 'revoked', 'other', 'smp', 'self-signed', 'critical-extension'])(
    'does not verify %s',
    (name) => {
      expect(verify(name, ...withCrls)).toBeNull();
    },
  );

  test.each(PKCS12)('opens $name.p12', ({ name }) => {
    expect(openssl('pkcs12', '-in', path(`${name}.p12`), '-passin', `pass:${PASSWORD}`, '-noout')).not.toBeNull();
    expect(openssl('pkcs12', '-in', path(`${name}.p12`), '-passin', 'pass:wrong', '-noout')).toBeNull();
  });
});
