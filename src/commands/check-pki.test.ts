import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { certDer, certFile } from '../../certs/read.ts';
import { loadConfig } from '../config/load.ts';
import { readCertificate } from '../pki/certificate.ts';
import { checkPki } from './check-pki.ts';

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'quittance-check-pki-'));
});
afterAll(() => rmSync(cwd, { recursive: true }));

async function run(day: string, env: Record<string, string> = {}): Promise<string[]> {
  const { config } = await loadConfig({ file: null, env, cwd });
  const findings = await checkPki(config, Date.parse(day));
  return findings.filter((f) => f.level !== 'ok').map((f) => `${f.level}: ${f.text}`);
}
const NO_HOST =
  /^warning: the CRL at http:\/\/crl.quittance.test\/ap-ca.crl is not fetched: its host is not in trust.crlHosts/;

test('a CA, a root or our certificate with less than 30 days is a warning that says what to do', async () => {
  const said = await run('2046-05-15', { QUITTANCE_TRUST__REVOCATION: 'off' });
  expect(said).toContainEqual(
    expect.stringMatching(
      /^warning: CA CN=QUITTANCE ACCESS.* expires in 17 days, on 2046-06-01; get its successor now/,
    ),
  );
  const own = await run('2046-12-30', { QUITTANCE_TRUST__REVOCATION: 'off' });
  expect(own).toContainEqual(expect.stringMatching(/^warning: our certificate expires in 2 days, on 2047-01-01/));
});

test('a list that is past half its life is a warning, one that has ended is an error under hard and a warning under soft', async () => {
  expect(await run('2034-01-01')).toEqual([expect.stringMatching(NO_HOST)]);
  expect(await run('2036-01-01')).toContainEqual(
    expect.stringMatching(/^warning: the CRL of CN=QUITTANCE ACCESS.* is getting old: it holds until 2046-01-01/),
  );
  expect(await run('2046-02-01')).toContainEqual(
    expect.stringMatching(
      /^error: no current CRL of CN=QUITTANCE ACCESS.*; its senders get 503\. Let the receiver fetch/,
    ),
  );
  expect(await run('2046-02-01', { QUITTANCE_TRUST__REVOCATION: 'soft' })).toContainEqual(
    expect.stringMatching(/^warning: no current CRL.*; its senders are accepted unchecked/),
  );
});

test('an address of a list whose host may not be asked is told, unless nothing is to be fetched from there', async () => {
  expect(await run('2026-11-30')).toEqual([expect.stringMatching(NO_HOST)]);
  expect(await run('2026-11-30', { QUITTANCE_TRUST__FETCH_CRLS: 'off' })).toEqual([]);
  for (const [key, value] of [
    ['CRL_HOSTS', 'crl.quittance.test'],
    ['CRL_URLS', 'http://mirror.test/ap-ca.crl'],
  ]) {
    const found = await run('2026-11-30', { [`QUITTANCE_TRUST__${key}`]: value! });
    expect(found).toEqual([expect.stringMatching(/^warning: the CRL of .* cannot be fetched: http:.*\.test/)]);
  }
});

test('a list that the receiver has fetched counts', async () => {
  const crls = join(cwd, 'fetched');
  mkdirSync(crls);
  const env = { QUITTANCE_TRUST__CRLS: '', QUITTANCE_TRUST__CRL_DIRECTORY: crls, QUITTANCE_TRUST__FETCH_CRLS: 'off' };
  expect(await run('2026-11-30', env)).toContainEqual(expect.stringMatching(/^error: no CRL of/));
  const name = `${readCertificate(certDer('ap-ca')).fingerprint}.crl`;
  writeFileSync(join(crls, name), readFileSync(certFile('ap-ca.crl')));
  expect(await run('2026-11-30', env)).toEqual([]);
});

test('the files of HTTPS are loaded as serve would, and their end is told', async () => {
  const tls = (name: string, more: Record<string, string> = {}) => ({
    QUITTANCE_TRUST__FETCH_CRLS: 'off',
    QUITTANCE_TLS__CERTIFICATE: certFile(`${name}.crt`),
    QUITTANCE_TLS__KEY: certFile(`${name}.key`),
    ...more,
  });
  expect(await run('2026-11-30', tls('sender-2'))).toEqual([]);
  expect(await run('2026-11-30', tls('expired'))).toEqual([
    expect.stringMatching(/^error: the certificate of HTTPS expired on 2022-/),
  ]);
  expect(await run('2026-11-30', tls('sender-2', { QUITTANCE_TLS__KEY: certFile('sender.key') }))).toEqual([
    expect.stringMatching(/^error: .*sender-2.crt does not belong to tls.key/),
  ]);
  expect(await run('2026-11-30', tls('receiver'))).toEqual([
    expect.stringMatching(/^error: .*has the key of our access point certificate/),
  ]);
  const lines = await run('2046-12-20', tls('sender-2', { QUITTANCE_TRUST__REVOCATION: 'off' }));
  expect(lines).toContainEqual(
    expect.stringMatching(/^warning: the certificate of HTTPS expires in 12 days, on 2047-01-01; get its successor/),
  );
});
