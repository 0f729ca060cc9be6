import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { PACKAGE_ROOT } from './config/load.ts';
import { readCertificate } from './pki/certificate.ts';
import { judgeAnswer, readSent } from './send/answer.ts';
import { post } from './send/send.ts';
import { loadWire } from './send/wire-file.ts';
import { removeDirectory, startReceiver, type TestReceiver } from './testing/receiver.ts';

const HERE = join(PACKAGE_ROOT, 'fixtures/peers');

interface PeerFixtures {
  readonly captured: string;
  readonly messages: readonly { readonly file: string; readonly after?: string; readonly expect: string }[];
}

const { captured, messages } = JSON.parse(readFileSync(join(HERE, 'peers.json'), 'utf8')) as PeerFixtures;
const pem = readFileSync(join(PACKAGE_ROOT, 'certs/receiver.crt'), 'utf8');
const receiverCertificate = readCertificate(Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64'));

let receiver: TestReceiver | null = null;
afterEach(async () => {
  await receiver?.stop();
  if (receiver) removeDirectory(receiver);
  receiver = null;
});

it.each(messages)('$file: $expect', async ({ file, after, expect: expected }) => {
  receiver = await startReceiver({ now: () => Date.parse(captured) });
  const first = after === undefined ? null : await post(receiver.url, await loadWire(join(HERE, `${after}.as4`)));
  const wire = await loadWire(join(HERE, `${file}.as4`));
  const answer = await post(receiver.url, wire);
  const judged = judgeAnswer(answer.body, readSent(wire), receiverCertificate);
  const entries = await receiver.inbox();
  expect(answer.status).toBe(200);
  if (expected.startsWith('EBMS:')) {
    expect(judged).toMatchObject({ receipt: false, verified: true, error: { code: expected } });
    expect(entries).toEqual([]);
    return;
  }
  expect(judged).toEqual({ receipt: true, verified: true, error: null });
  expect(entries).toHaveLength(expected === 'receipt' ? 0 : 1);
  if (expected === 'stored receipt') expect(answer.body).toEqual(first?.body);
  if (expected === 'own receipt') expect(answer.body).not.toEqual(first?.body);
});
