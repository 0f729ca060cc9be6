import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { readCertificate } from './pki/certificate.ts';
import { judgeAnswer, readSent } from './send/answer.ts';
import { loadWire } from './send/wire-file.ts';
import { removeDirectory, SHARED, startReceiver, type TestReceiver } from './testing/receiver.ts';

const PEERS = join(SHARED, 'samples/peers');
const there = existsSync(PEERS);
if (!there) console.warn(`skipped: messages of other products are not at ${PEERS}`);

/** The day the messages were captured on. */
const CAPTURED = Date.parse('2026-11-30T12:00:00Z');

/** What the README beside the samples says must come back. */
const ROWS: readonly {
  file: string;
  after?: string;
  expected: 'delivered' | 'stored receipt' | 'own receipt' | readonly string[];
}[] = [
  { file: 'phase4-01-small-builder', expected: 'delivered' },
  { file: 'phase4-02-small-sbd', expected: 'delivered' },
  { file: 'phase4-03-same-id-twice', expected: 'delivered' },
  { file: 'phase4-03-same-id-twice-2', after: 'phase4-03-same-id-twice', expected: 'own receipt' },
  { file: 'phase4-04d-default-close', expected: 'delivered' },
  { file: 'phase4-04d-default-close-2', after: 'phase4-04d-default-close', expected: 'stored receipt' },
  { file: 'phase4-05-1mb', expected: 'delivered' },
  { file: 'phase4-07-binary-pdf', expected: 'delivered' },
  { file: 'phase4-08-text-edifact', expected: 'delivered' },
  { file: 'phase4-09-nocompress', expected: 'delivered' },
  { file: 'phase4-11-enc-issuer-serial', expected: 'delivered' },
  { file: 'phase4-12-sign-ski-key-id', expected: ['EBMS:0103'] },
  { file: 'phase4-13-sha512', expected: ['EBMS:0103'] },
  { file: 'phase4-10x-aes256-short-key', expected: ['EBMS:0103', 'EBMS:0102'] },
  { file: 'phase4-16-rawpdf', expected: ['EBMS:0004'] },
  { file: 'n42-small', expected: 'delivered' },
  { file: 'n42-native-retry-503', expected: 'delivered' },
  { file: 'n42-native-retry-503-2', after: 'n42-native-retry-503', expected: 'stored receipt' },
  { file: 'pyas4-small', expected: 'delivered' },
  { file: 'pyas4-sameid-rebuilt', expected: 'delivered' },
  { file: 'pyas4-sameid-rebuilt-2', after: 'pyas4-sameid-rebuilt', expected: 'own receipt' },
  { file: 'asx-small', expected: ['EBMS:0003', 'EBMS:0004', 'EBMS:0010'] },
];

let receiver: TestReceiver | null = null;
afterEach(async () => {
  await receiver?.stop();
  if (receiver) removeDirectory(receiver);
  receiver = null;
});

function start(): Promise<TestReceiver> {
  return startReceiver({
    now: () => CAPTURED,
    settings: {
      'identity.certificate': join(PEERS, 'pki/receiver.crt'),
      'identity.key': join(PEERS, 'pki/receiver.key'),
      'trust.issuers': join(PEERS, 'pki/trust.pem'),
      'trust.crls': '',
      'trust.revocation': 'off',
    },
  });
}

/** Sends a capture as it came: chunked when its header says so. */
async function replay(file: string, url: string): Promise<{ status: number; contentType: string; body: Buffer }> {
  const path = join(PEERS, `${file}.as4`);
  const octets = readFileSync(path);
  const head = octets.subarray(0, octets.indexOf('\r\n\r\n')).toString('latin1').toLowerCase();
  const { contentType, body } = await loadWire(path);
  const chunked = /^transfer-encoding:\s*chunked/m.test(head);
  return await new Promise((resolve, reject) => {
    const headers = {
      'Content-Type': contentType,
      ...(chunked ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': body.length }),
    };
    const sending = request(url, { method: 'POST', headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          contentType: response.headers['content-type'] ?? '',
          body: Buffer.concat(chunks),
        }),
      );
    });
    sending.on('error', reject);
    if (chunked) for (let at = 0; at < body.length; at += 8192) sending.write(body.subarray(at, at + 8192));
    sending.end(chunked ? undefined : body);
  });
}

function payloadDigest(file: string): string {
  return (
    readFileSync(join(PEERS, `${file}.as4.sha256`), 'utf8')
      .trim()
      .split(/\s+/)[0] ?? ''
  );
}

describe.skipIf(!there)('messages that other products sent', () => {
  const certificate = () => {
    const pem = readFileSync(join(PEERS, 'pki/receiver.crt'), 'utf8');
    return readCertificate(Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64'));
  };

  it.each(ROWS)('$file gives $expected', async ({ file, after, expected }) => {
    receiver = await start();
    const first = after === undefined ? null : await replay(after, receiver.url);
    const answer = await replay(file, receiver.url);
    const judged = judgeAnswer(answer.body, readSent(await loadWire(join(PEERS, `${file}.as4`))), certificate());
    const entries = await receiver.inbox();
    expect(answer.status).toBe(200);
    expect(answer.contentType).toBe('application/soap+xml; charset=UTF-8');
    if (typeof expected !== 'string') {
      expect(expected).toContain(judged.error?.code);
      expect(entries).toEqual([]);
      return;
    }
    expect(judged).toEqual({ receipt: true, verified: true, error: null });
    expect(entries).toHaveLength(1);
    const payload = receiver.file(entries[0] as string, 'payload.xml');
    expect(createHash('sha256').update(payload).digest('hex')).toBe(payloadDigest(after ?? file));
    if (expected === 'stored receipt') expect(answer.body).toEqual(first?.body);
    if (expected === 'own receipt') expect(answer.body).not.toEqual(first?.body);
  });

  it('tells the backend of the one message even after all of its copies came', async () => {
    receiver = await start();
    for (const file of [
      'pyas4-sameid-rebuilt',
      'pyas4-sameid-rebuilt-2',
      'pyas4-sameid-rebuilt',
      'pyas4-sameid-rebuilt-2',
    ]) {
      expect((await replay(file, receiver.url)).status).toBe(200);
    }
    expect(await receiver.inbox()).toHaveLength(1);
  });
});
