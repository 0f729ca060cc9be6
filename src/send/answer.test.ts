import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { certFile } from '../../certs/read.ts';
import { type Certificate, readCertificate } from '../pki/certificate.ts';
import { removeDirectory, startReceiver, type TestReceiver } from '../testing/receiver.ts';
import { judgeAnswer, readSent, type Sent } from './answer.ts';
import { post, sendMessage } from './send.ts';
import { loadWire } from './wire-file.ts';

const certificate = (name: string): Certificate => {
  const pem = readFileSync(certFile(`${name}.crt`), 'utf8');
  return readCertificate(Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64'));
};

let receiver: TestReceiver;
let folder: string;
let body: Buffer;
let sent: Sent;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'quittance-answer-'));
  receiver = await startReceiver();
  const save = join(folder, 'sent.as4');
  await sendMessage({
    url: receiver.url,
    senderCertificate: certFile('sender.crt'),
    senderKey: certFile('sender.key'),
    receiverCertificate: certFile('receiver.crt'),
    repeat: 1,
    compress: true,
    ping: false,
    save,
  });
  const wire = await loadWire(save);
  sent = readSent(wire);
  body = (await post(receiver.url, wire)).body;
});
afterAll(async () => {
  await receiver.stop();
  removeDirectory(receiver);
  rmSync(folder, { recursive: true, force: true });
});

test('a receipt of the expected receiver for this message holds, and there is no fault', () => {
  expect(judgeAnswer(body, sent, certificate('receiver'))).toEqual({ receipt: true, verified: true, error: null });
});

test('a receipt that another access point of the same CA signed does not hold, and the signer is named', () => {
  const judged = judgeAnswer(body, sent, certificate('sender-2'));
  expect(judged).toMatchObject({ receipt: true, verified: false });
  expect(judged.fault).toMatch(/^it is signed by .*CN=POP000002, whose key is not/);
});

test('a receipt for another message does not hold, and names the message that it is for', () => {
  const judged = judgeAnswer(body, { ...sent, messageId: 'another@example' }, certificate('receiver'));
  expect(judged).toEqual({ receipt: true, verified: false, fault: `it is for ${sent.messageId}`, error: null });
});

test('a receipt with a digest that is not that of the message does not hold', () => {
  const [[uri] = ['', ''], ...more] = sent.references;
  const judged = judgeAnswer(body, { ...sent, references: [[uri, 'AAAA'], ...more] }, certificate('receiver'));
  expect(judged).toMatchObject({ verified: false, fault: 'its digests are not those of the message sent' });
});

test('a receipt that was changed after it was signed does not hold', () => {
  const changed = Buffer.from(body.toString('utf8').replace(sent.messageId, 'another@example'));
  expect(judgeAnswer(changed, sent, certificate('receiver'))).toMatchObject({
    receipt: true,
    verified: false,
    fault: expect.stringMatching(/digest/),
  });
});

test('what is no signal has nothing to hold', () => {
  expect(judgeAnswer(Buffer.from('busy'), sent, certificate('receiver'))).toEqual({
    receipt: false,
    verified: false,
    error: null,
  });
});
