import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, createPrivateKey } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../config/load.ts';
import { errorMessaging, receiptMessaging } from '../ebms/signal.ts';
import { readCertificate } from '../pki/certificate.ts';
import type { Evidence } from '../store/types.ts';
import { readEnvelope } from '../wss/envelope.ts';
import { secureMessage } from '../wss/secure-message.ts';
import { signSoap } from '../wss/sign.ts';
import { readSignature } from '../wss/signature.ts';
import { parseXml } from '../xml/parse.ts';
import { writeEvidence } from './evidence.ts';

const XMLSEC = spawnSync('xmlsec1', ['--version']).status === 0;
const PAYLOAD = Buffer.from('what was compressed');
let directory: string;
let readme: string;

/** What stands indented by four blanks below a heading, as a reader would copy it. */
const commands = (start: string) =>
  readme
    .split('\n')
    .filter((l) => l.startsWith(`    ${start}`))
    .map((l) => l.trim());
const run = (command: string) =>
  execFileSync('bash', ['-o', 'pipefail', '-c', command], {
    cwd: directory,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });

function pair(name: string) {
  const pem = (suffix: string) => readFileSync(join(PACKAGE_ROOT, `certs/${name}.${suffix}`));
  const der = Buffer.from(
    pem('crt')
      .toString()
      .replaceAll(/-----.*-----|\s/g, ''),
    'base64',
  );
  return { der, certificate: readCertificate(der), key: () => createPrivateKey(pem('key')) };
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'quittance-evidence-'));
  const sender = pair('sender');
  const receiver = pair('receiver');
  let n = 0;
  const newId = () => `id${n++}`;
  const { envelope } = await secureMessage({
    // Any eb:Messaging will do for a signature.
    messaging: errorMessaging({
      id: 'm1',
      messageId: 'a@b',
      timestamp: new Date(0),
      code: 'EBMS:0004',
      description: 'x',
    }),
    messagingId: 'm1',
    attachments: [{ cid: 'p1', mimeType: 'application/gzip', content: PAYLOAD }],
    signer: { certificate: sender.certificate, privateKey: sender.key() },
    recipientCertificate: receiver.certificate,
    newId,
    prefixList: 'S12',
  });
  const { references } = readSignature(readEnvelope(parseXml(Buffer.from(envelope)).root).security);
  const receipt = await signSoap({
    messaging: receiptMessaging({
      id: 'r1',
      messageId: 'r@b',
      timestamp: new Date(0),
      refToMessageId: 'a@b',
      references,
    }),
    messagingId: 'r1',
    identity: { certificate: receiver.certificate, privateKey: receiver.key() },
    newId,
  });
  const evidence = {
    summary: { messageId: 'a@b', sender: sender.certificate.commonName!, receivedAt: Date.UTC(2026, 10, 30) },
    envelope: Buffer.from(envelope),
    chain: [sender.der, pair('ap-ca').der, pair('root').der],
    receipts: [{ status: 200, contentType: 'application/soap+xml; charset=UTF-8', body: Buffer.from(receipt) }],
  } as unknown as Evidence;
  await writeEvidence(evidence, directory);
  readme = readFileSync(join(directory, 'README.txt'), 'utf8');
});
afterAll(() => rmSync(directory, { recursive: true }));

test('the commands of the README verify the signer and the signature with openssl alone', () => {
  const [verify] = commands('openssl verify');
  expect(run(verify!)).toContain('signer.pem: OK');
  const [key] = commands('openssl x509');
  const [dgst] = commands('openssl dgst -sha256 -verify');
  expect(run(`${key} && ${dgst}`)).toContain('Verified OK');
});

test('the commands of the README fail when an octet of what was signed has changed', () => {
  const [dgst] = commands('openssl dgst -sha256 -verify');
  writeFileSync(
    join(directory, 'changed.xml'),
    readFileSync(join(directory, 'signed-info.xml'), 'utf8').replace('sha256', 'sha257'),
  );
  expect(() => run(dgst!.replace('signed-info.xml', 'changed.xml'))).toThrow();
});

test('each digest command of the README prints the DigestValue beside it, which is the one that was signed', () => {
  const digests = commands('openssl dgst -sha256 -binary');
  expect(digests).toHaveLength(3);
  const signedInfo = readFileSync(join(directory, 'signed-info.xml'), 'utf8');
  writeFileSync(join(directory, 'PAYLOAD'), PAYLOAD);
  const lines = readme.split('\n');
  for (const command of digests) {
    const stated = lines[lines.indexOf(`    ${command}`) + 1]!.trim().split(' ')[0]!;
    expect(signedInfo).toContain(`>${stated}</`);
    expect(run(command).trim()).toBe(stated);
  }
});

test.skipIf(!XMLSEC)(
  'xmlsec1 verifies a receipt with the very command of the README (skipped where xmlsec1 is not installed)',
  () => {
    const [command] = commands('xmlsec1');
    const result = spawnSync('bash', ['-c', command!], { cwd: directory, encoding: 'utf8' });
    expect(result.stderr + result.stdout).toMatch(/^OK$/m);
    expect(result.status).toBe(0);
    const receipt = readFileSync(join(directory, 'receipt-1.xml'), 'utf8');
    writeFileSync(join(directory, 'changed-receipt.xml'), receipt.replace('a@b', 'a@c'));
    expect(
      spawnSync('bash', ['-c', command!.replace('receipt-1.xml', 'changed-receipt.xml')], { cwd: directory }).status,
    ).not.toBe(0);
  },
);

test('the receipt repeats the digests of the signature that it answers', () => {
  const receipt = readFileSync(join(directory, 'receipt-1.xml'), 'utf8');
  expect(receipt).toContain(createHash('sha256').update(PAYLOAD).digest('base64'));
});
