import { execFileSync } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { certFile } from '../../certs/read.ts';
import { daysToExpiry, type IdentityOptions, loadIdentity } from './identity.ts';

const directory = mkdtempSync(join(tmpdir(), 'quittance-identity-'));
afterAll(() => rmSync(directory, { recursive: true }));

function file(name: string, ...contents: (string | Buffer)[]): string {
  const path = join(directory, name);
  writeFileSync(path, Buffer.concat(contents.map((content) => Buffer.from(content))));
  return path;
}
const pem = (name: string) => readFileSync(certFile(name));
const receiver = { certificate: certFile('receiver.crt'), key: certFile('receiver.key') };

test('PEM: the key, its certificate, and the chain behind it', async () => {
  const certificate = file('chain.pem', pem('receiver.crt'), pem('ap-ca.crt'), pem('root.crt'));
  const identity = await loadIdentity({ ...receiver, certificate, pkcs12: '', password: '', previousKey: '' });
  expect(identity.certificate.commonName).toBe('POP000002');
  expect(identity.chain.map(({ commonName }) => commonName)).toEqual([
    'QUITTANCE ACCESS POINT TEST CA - G1',
    'QUITTANCE ROOT TEST CA - G1',
  ]);
  expect(identity.certificate.x509.checkPrivateKey(identity.privateKey)).toBe(true);
  expect(identity.decryptionKeys).toHaveLength(1);
});

test('PEM: a key with a password', async () => {
  const encrypted = createPrivateKey(pem('receiver.key')).export({
    type: 'pkcs8',
    format: 'pem',
    cipher: 'aes-256-cbc',
    passphrase: 'secret',
  });
  const key = file('encrypted.key', encrypted);
  expect((await loadIdentity({ ...receiver, key, password: 'secret' })).certificate.commonName).toBe('POP000002');
  await expect(loadIdentity({ ...receiver, key, password: 'wrong' })).rejects.toMatchObject({ code: 'bad-password' });
  await expect(loadIdentity({ ...receiver, key })).rejects.toThrow('it is encrypted, and identity.password is empty');
});

test.each([
  ['AES', 'receiver.p12', 'POP000002'],
  ['3DES', 'sender.p12', 'POP000001'],
])('PKCS#12 in %s form', async (_, name, seat) => {
  const identity = await loadIdentity({ pkcs12: certFile(name), password: 'test' });
  expect(identity.certificate.commonName).toBe(seat);
  expect(identity.certificate.x509.checkPrivateKey(identity.privateKey)).toBe(true);
  expect(identity.chain.map(({ commonName }) => commonName)).toEqual(['QUITTANCE ACCESS POINT TEST CA - G1']);
});

function legacyPkcs12(): string | null {
  const out = join(directory, 'rc2.p12');
  const own = ['-inkey', certFile('receiver.key'), '-in', certFile('receiver.crt')];
  try {
    execFileSync('openssl', ['pkcs12', '-export', '-legacy', ...own, '-passout', 'pass:old', '-out', out], {
      stdio: 'ignore',
    });
    return out;
  } catch {
    return null;
  }
}
const legacy = legacyPkcs12();

test.skipIf(legacy === null)(`PKCS#12 in RC2 form${legacy ? '' : ': skipped, no openssl -legacy here'}`, async () => {
  const identity = await loadIdentity({ pkcs12: legacy as string, password: 'old' });
  expect(identity.certificate.commonName).toBe('POP000002');
});

const peer = new URL('../../../shared/samples/peers/pki/receiver.p12', import.meta.url).pathname;
const hasPeer = existsSync(peer);
test.skipIf(!hasPeer)(`PKCS#12 of another tool${hasPeer ? '' : ': skipped, ../shared is not here'}`, async () => {
  const identity = await loadIdentity({ pkcs12: peer, password: 'probe' });
  expect(identity.certificate.commonName).toBe('PBE000002');
});

describe('the previous key of a roll-over still decrypts', () => {
  test('as a key alone, after the current one', async () => {
    const { decryptionKeys } = await loadIdentity({ ...receiver, previousKey: certFile('receiver-next.key') });
    expect(decryptionKeys.map(({ certificate }) => certificate?.commonName ?? null)).toEqual(['POP000002', null]);
    expect(decryptionKeys[1]?.publicKey.type).toBe('public');
    expect(decryptionKeys[1]?.publicKey.equals(decryptionKeys[0]?.publicKey as never)).toBe(false);
  });

  test('with its certificate when the file has it', async () => {
    const previousKey = file('previous.pem', pem('receiver-next.key'), pem('ap-ca.crt'), pem('receiver-next.crt'));
    const { decryptionKeys } = await loadIdentity({ ...receiver, previousKey });
    expect(decryptionKeys[1]?.certificate?.commonName).toBe('POP000002');
  });

  test('once only when it is the current one', async () => {
    const { decryptionKeys } = await loadIdentity({ ...receiver, previousKey: receiver.key });
    expect(decryptionKeys).toHaveLength(1);
  });
});

describe('is refused with a sentence that says what to do', () => {
  const garbage = file('garbage', 'not a key');
  const sender = certFile('sender.crt');
  test.each<[string, IdentityOptions, string, RegExp]>([
    ['no identity', {}, 'bad-identity', /set identity\.certificate and identity\.key, or identity\.pkcs12/],
    ['a certificate without key', { certificate: sender }, 'bad-identity', /set identity\.certificate/],
    ['two identities', { ...receiver, pkcs12: certFile('receiver.p12') }, 'bad-identity', /not both/],
    [
      'a key of another certificate',
      { ...receiver, certificate: sender },
      'key-mismatch',
      /receiver\.key does not belong to .*CN=POP000001.*sender\.crt/,
    ],
    [
      'a chain that does not begin with ours',
      { ...receiver, certificate: file('reversed.pem', pem('ap-ca.crt'), pem('receiver.crt')) },
      'key-mismatch',
      /put the certificate of the key first/,
    ],
    [
      'a file that is not there',
      { ...receiver, key: '/nowhere/x.key' },
      'unreadable-file',
      /\/nowhere\/x\.key does not exist/,
    ],
    ['a key that is none', { ...receiver, key: garbage }, 'bad-key', /holds no PEM private key/],
    ['a certificate that is none', { ...receiver, certificate: garbage }, 'bad-identity', /holds no PEM certificate/],
    ['a PKCS#12 file that is none', { pkcs12: garbage, password: 'test' }, 'bad-identity', /is not a PKCS#12 file/],
    [
      'a wrong password',
      { pkcs12: certFile('receiver.p12'), password: 'wrong' },
      'bad-password',
      /correct identity\.password/,
    ],
    ['no password', { pkcs12: certFile('receiver.p12') }, 'bad-password', /correct identity\.password/],
    [
      'RSA 1024',
      { certificate: certFile('weak.crt'), key: certFile('weak.key') },
      'bad-identity',
      /at least 2048 bits/,
    ],
    ['two CNs', { certificate: certFile('two-cn.crt'), key: certFile('two-cn.key') }, 'bad-identity', /exactly one CN/],
    ['a previous key that is none', { ...receiver, previousKey: garbage }, 'bad-key', /holds no PEM private key/],
  ])('%s', async (_, options, code, message) => {
    const fault = await loadIdentity(options).catch((error: unknown) => error);
    expect(fault).toMatchObject({ name: 'PkiError', code, message: expect.stringMatching(message) });
  });
});

test('days to expiry are whole days, negative afterwards', () => {
  const notAfter = Date.parse('2027-01-31T12:00:00Z');
  expect(daysToExpiry({ notAfter }, Date.parse('2027-01-01T12:00:00Z'))).toBe(30);
  expect(daysToExpiry({ notAfter }, Date.parse('2027-01-31T00:00:00Z'))).toBe(0);
  expect(daysToExpiry({ notAfter }, Date.parse('2027-02-01T00:00:00Z'))).toBe(-1);
});
