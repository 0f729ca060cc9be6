import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeCrl, readMade, serialOf } from '../../certs/maker.ts';
import { certDer, certFile } from '../../certs/read.ts';
import { loadConfig } from '../config/load.ts';
import { readCertificate } from '../pki/certificate.ts';
import { startOpensslResponder } from '../pki/testing/openssl-ocsp.ts';
import { hang, serve, startWebServer, type WebServer } from '../pki/testing/web-server.ts';
import { checkPki } from './check-pki.ts';

const HOUR = 3_600_000;
const receiver = readCertificate(certDer('receiver'));
let cwd: string;
let web: WebServer;
beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'quittance-check-servers-'));
  web = await startWebServer(serve(list()));
});
afterEach(async () => {
  await web.stop();
  rmSync(cwd, { recursive: true });
});

/** The CA's list of five hours ago, that ends in a day. */
function list(revoked: readonly string[] = []): string {
  const issuer = readMade(readFileSync(certFile('ap-ca.crt'), 'utf8'), readFileSync(certFile('ap-ca.key'), 'utf8'));
  const iso = (at: number) => new Date(at).toISOString();
  return makeCrl({ issuer, revoked, thisUpdate: iso(Date.now() - 5 * HOUR), nextUpdate: iso(Date.now() + 24 * HOUR) });
}

/** What check says of revocation, with no list but those that are fetched. */
async function run(trust: Record<string, string>): Promise<string[]> {
  const settings = { CRLS: '', CRL_DIRECTORY: join(cwd, 'crls'), FETCH_TIMEOUT: '1s', ...trust };
  const env = Object.fromEntries(Object.entries(settings).map(([key, value]) => [`QUITTANCE_TRUST__${key}`, value]));
  const { config } = await loadConfig({ file: null, env, cwd });
  const findings = await checkPki(config, Date.now());
  const wanted = findings.filter((f) => f.what === 'revocation' || f.what === 'ocsp' || f.level === 'error');
  return wanted.map((f) => `${f.level} ${f.what}: ${f.text}`);
}

test('a list that can be fetched counts, with its age and end, and nothing is kept', async () => {
  expect(await run({ CRL_URLS: `${web.origin}/ca.crl` })).toEqual([
    'ok revocation: 1 list was fetched from where serve will fetch',
    expect.stringMatching(/^ok revocation: the CRL of CN=QUITTANCE ACCESS.* is 5 h old and holds until 20/),
  ]);
  expect(readdirSync(cwd)).toEqual([]);
});

test('a fetched list that has our own certificate is an error', async () => {
  web.answer = serve(list([serialOf('receiver')]));
  expect(await run({ CRL_URLS: web.origin })).toContainEqual(
    expect.stringMatching(/^error identity: our own certificate would not be trusted .* has been revoked/),
  );
});

test.each([
  ['that is silent', hang, /no whole answer within 1 s/],
  ['that gives something else', serve('hello'), /not valid DER|not built/],
])('a server of lists %s is told with the reason, beside the list that is missing', async (_, reply, why) => {
  web.answer = reply;
  const [warning, missing] = await run({ CRL_URLS: web.origin });
  expect(warning).toMatch(/^warning revocation: the CRL of http:.* cannot be fetched: /);
  expect(warning).toMatch(why);
  expect(missing).toMatch(/^error revocation: no CRL of CN=QUITTANCE ACCESS.*; its senders get 503/);
});

test('an OCSP responder is asked about our own certificate, and what it says, or that it does not answer, is told', async () => {
  const asking = (url: string) =>
    run({ OCSP: 'on', OCSP_URL: url, FETCH_CRLS: 'off', CRLS: certFile('ap-ca.crl') }).then((all) => all.slice(1));
  const answers = [
    [{ good: [receiver] }, 'ok ocsp: the responder says that our certificate is good'],
    [{ revoked: [receiver] }, 'error ocsp: the responder says that our certificate has been revoked: get another one.'],
    [{}, 'warning ocsp: the responder does not know our certificate; is it the responder of our CA?'],
  ] as const;
  for (const [o, said] of answers) {
    const responder = await startOpensslResponder(o);
    expect(await asking(responder.url)).toEqual([said]);
    await responder.stop();
  }
  const none = expect.stringMatching(/^warning ocsp: the responder 127.0.0.1:\d+ gives no answer that holds, so lists/);
  expect(await asking(web.origin)).toEqual([none]);
  web.answer = hang;
  expect(await asking(web.origin)).toEqual([none]);
});

test('a list that is missing is only a warning where a responder decides', async () => {
  const responder = await startOpensslResponder({ good: [receiver] });
  const found = await run({ OCSP: 'on', OCSP_URL: responder.url, FETCH_CRLS: 'off' });
  await responder.stop();
  expect(found[0]).toMatch(
    /^warning revocation: no CRL of .*; when the OCSP responder does not answer, its senders get 503/,
  );
});

test('OCSP that is on and asks nobody is told', async () => {
  const found = await run({ OCSP: 'on', FETCH_CRLS: 'off', CRLS: certFile('ap-ca.crl') });
  expect(found).toContainEqual(expect.stringMatching(/^warning ocsp: nobody is asked .*trust\.ocspHosts/));
});
