import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { XmlDocument } from 'libxml2-wasm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DOCUMENTS } from '../fixtures/documents/documents.ts';
import { sbdText } from '../fixtures/documents/sbd.ts';
import { signedReferences } from '../fixtures/read.ts';
import { buildMessage } from '../fixtures/sender/build.ts';
import { exchange, requestOctets } from '../fixtures/sender/http.ts';
import { judgeAnswer } from '../fixtures/sender/judge-answer.ts';
import type { MessageOptions } from '../fixtures/sender/options.ts';
import { PACKAGE_ROOT } from './config/load.ts';
import { post, sendMessage } from './send/send.ts';
import { loadWire } from './send/wire-file.ts';
import { removeDirectory, startReceiver, type TestReceiver } from './testing/receiver.ts';

const certificate = (name: string) => join(PACKAGE_ROOT, 'certs', name);
const sbd = Buffer.from(
  sbdText(DOCUMENTS.invoice, { instanceIdentifier: 'hand-made', created: '2026-11-30T09:00:00+01:00', prefix: 'sh' }),
);

/** As unlike `quittance send` as the standards allow. */
const FOREIGN: MessageOptions = {
  payloads: [{ content: sbd, compress: false, contentId: 'in+voice 1@elsewhere.example', transferEncoding: 'base64' }],
  prefixes: { soap: 'env', eb: 'ns2', wsse: 'o', wsu: 'U', ds: '', xenc: 'e' },
  declared: ['soap', 'eb', 'wsu', 'wsse'],
  headerOrder: ['security', 'messaging'],
  security: ['timestamp', 'signature', 'signerToken', 'encryptedData', 'encryptedKey'],
  signature: {
    order: ['body', 'attachments', 'timestamp', 'messaging'],
    signedInfoPrefixes: 'env ns2',
    messagingPrefixes: ' U  env\to ',
    bodyPrefixes: '',
  },
  encryption: { keyForm: 'issuer-serial', keyInfo: false },
  base64: 'carriage-returns',
  mime: {
    quotes: 'needed',
    boundary: 'uuid.7d1f',
    parameters: ['boundary', 'type'],
    preamble: 'Hello',
    rootContentId: null,
  },
};

let receiver: TestReceiver;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'quittance-senders-'));
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.stop();
  removeDirectory(receiver);
  rmSync(folder, { recursive: true, force: true });
});

/** The entry that has come since, with its metadata. */
async function newEntry(before: readonly string[]): Promise<{ name: string; metadata: Record<string, unknown> }> {
  const fresh = (await receiver.inbox()).filter((entry) => !before.includes(entry));
  expect(fresh).toHaveLength(1);
  const [name = ''] = fresh;
  return { name, metadata: receiver.metadata(name) };
}

function expectWellFormed(entry: string): void {
  const document = XmlDocument.fromBuffer(receiver.file(entry, 'document.xml'));
  expect(document.root.name).toBe('Invoice');
  document.dispose();
}

describe('a receipt that xml-crypto verifies, with every signed reference as it was sent, and a right folder entry', () => {
  test('for a message of quittance send', async () => {
    const before = await receiver.inbox();
    const save = join(folder, 'sent.as4');
    const sent = await sendMessage({
      url: receiver.url,
      senderCertificate: certificate('sender.crt'),
      senderKey: certificate('sender.key'),
      receiverCertificate: certificate('receiver.crt'),
      originalSender: '0208:0123456749',
      finalRecipient: '0208:0876543237',
      repeat: 1,
      compress: true,
      ping: false,
      save,
    });
    // The very same bytes again: what comes back is what came back first.
    const again = await post(receiver.url, await loadWire(save));
    expect(createHash('sha256').update(again.body).digest('hex')).toBe(sent.attempts[0]?.sha256);
    const judged = judgeAnswer(again.body.toString('utf8'));
    expect(judged.refToMessageId).toBe(sent.messageId);
    expect(judged.references).toEqual(signedReferences(readFileSync(save)));
    expect(judged.references).toHaveLength(3);
    const { name, metadata } = await newEntry(before);
    expect(metadata).toMatchObject({
      messageId: sent.messageId,
      sender: 'POP000001',
      originalSender: { scheme: 'iso6523-actorid-upis', value: '0208:0123456749' },
      finalRecipient: { scheme: 'iso6523-actorid-upis', value: '0208:0876543237' },
    });
    expectWellFormed(name);
  });

  test('for a message of a hand-made sender with other prefixes, order and PrefixList', async () => {
    const before = await receiver.inbox();
    const message = buildMessage(FOREIGN);
    const answer = await exchange(receiver.url, requestOctets(message));
    expect(answer.status).toBe(200);
    const judged = judgeAnswer(answer.body.toString('utf8'));
    expect(judged.errors).toEqual([]);
    expect(judged.refToMessageId).toBe(message.messageId);
    expect(judged.references).toEqual(message.references);
    expect(judged.references?.map(({ transforms }) => transforms[0]?.prefixList)).toEqual([
      '',
      null,
      null,
      ' U  env\to ',
    ]);
    const { name, metadata } = await newEntry(before);
    expect(receiver.file(name, 'payload.xml').equals(sbd)).toBe(true);
    expectWellFormed(name);
    expect(metadata).toMatchObject({
      messageId: message.messageId,
      sender: 'POP000001',
      documentType: { scheme: 'busdox-docid-qns', value: DOCUMENTS.invoice.type },
      process: { scheme: 'cenbii-procid-ubl', value: DOCUMENTS.invoice.process },
      instanceIdentifier: 'hand-made',
      warnings: [],
    });
  });
});

describe('what xml-crypto is asked', () => {
  test('can be answered with no: a changed receipt is not verified', async () => {
    const text = (await exchange(receiver.url, requestOctets(buildMessage()))).body.toString('utf8');
    expect(() => judgeAnswer(text)).not.toThrow();
    const id = /<eb:RefToMessageId>(.)/.exec(text)?.[1];
    expect(() =>
      judgeAnswer(text.replace(/<eb:RefToMessageId>./, `<eb:RefToMessageId>${id === 'a' ? 'b' : 'a'}`)),
    ).toThrow();
    expect(() => judgeAnswer(text.replace('</S12:Body>', ' </S12:Body>'))).toThrow();
  });

  test('is not the sender’s own opinion: a message whose signature was changed is refused', async () => {
    const message = buildMessage({ ...FOREIGN, editEnvelope: (xml) => xml.replace('initiator', 'initiatoR') });
    const judged = judgeAnswer((await exchange(receiver.url, requestOctets(message))).body.toString('utf8'));
    expect(judged.references).toBeNull();
    expect(judged.errors.map(({ errorCode }) => errorCode)).toEqual(['EBMS:0101']);
  });
});

const hasXmlsec1 = (() => {
  try {
    execFileSync('xmlsec1', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

describe('xmlsec1 accepts', () => {
  function xmlsec1Accepts(xml: Buffer): boolean {
    const file = join(folder, 'answer.xml');
    writeFileSync(file, xml);
    const ids = [
      'http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/:Messaging',
      'http://www.w3.org/2003/05/soap-envelope:Body',
    ];
    const args = [
      '--verify',
      '--pubkey-cert-pem',
      certificate('receiver.crt'),
      ...ids.flatMap((id) => ['--id-attr:Id', id]),
      file,
    ];
    try {
      execFileSync('xmlsec1', args, { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  }

  test.skipIf(!hasXmlsec1)(
    'a receipt and an error, and no changed ones (skipped when xmlsec1 is not installed)',
    async () => {
      const receipt = await exchange(receiver.url, requestOctets(buildMessage()));
      const error = await exchange(receiver.url, requestOctets(buildMessage({ header: { agreement: null } })));
      for (const { body } of [receipt, error]) {
        expect(xmlsec1Accepts(body)).toBe(true);
        expect(
          xmlsec1Accepts(
            Buffer.from(
              body.toString('utf8').replace('SignalMessage><eb:MessageInfo>', 'SignalMessage> <eb:MessageInfo>'),
            ),
          ),
        ).toBe(false);
      }
    },
  );
});
