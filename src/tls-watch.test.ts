import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { makeCertificate, newKeys } from '../certs/maker.ts';
import { startReceiver } from './testing/receiver.ts';

const directory = mkdtempSync(join(tmpdir(), 'quittance-tls-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const [certificate, key] = [join(directory, 'tls.crt'), join(directory, 'tls.key')];
const keys = newKeys(2048);

/** Puts a certificate of our own into the files of HTTPS. */
function install(notAfter: string): void {
  const name = { name: 'web', commonNames: ['ap.example'], organisation: 'Test', unit: 'Bench' };
  const made = makeCertificate({ ...name, keys, issuer: null, notBefore: '2020-01-01', notAfter, extensions: [] });
  writeFileSync(certificate, made.pem);
  writeFileSync(key, made.keyPem);
}

function read(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const asking = get(url, { rejectUnauthorized: false, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve(text));
    });
    asking.on('error', reject);
  });
}

it('the certificate of HTTPS that is in use has its days among the metrics, and two weeks before its end health tells it', async () => {
  install('2030-02-10');
  let now = Date.parse('2030-01-25');
  const receiver = await startReceiver({
    directory,
    now: () => now,
    settings: { 'tls.certificate': certificate, 'tls.key': key, 'trust.revocation': 'off' },
  });
  const days = async () => /certificate="tls"\} (-?\d+)/.exec(await read(`${receiver.origin}/metrics`))?.[1];
  const told = async () => {
    const health = JSON.parse(await read(`${receiver.origin}/health/ready`)) as { degraded: { what: string }[] };
    return health.degraded.map(({ what }) => what).filter((what) => what.includes('HTTPS'));
  };
  try {
    expect([await days(), await told()]).toEqual(['16', []]);
    now = Date.parse('2030-02-01');
    expect(await days()).toBe('9');
    expect(await told()).toEqual(['the certificate of HTTPS expires in 9 days, on 2030-02-10; get its successor now']);
    install('2031-02-10');
    await receiver.quittance.reload();
    expect([await days(), await told()]).toEqual(['374', []]);
  } finally {
    await receiver.stop();
  }
});
