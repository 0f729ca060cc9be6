import { afterEach, expect, it } from 'vitest';
import { TestSender } from '../testing/messages.ts';
import { post } from '../testing/post.ts';
import { removeDirectory, startReceiver, type TestReceiver } from '../testing/receiver.ts';
import { RawClient } from './testing/raw-client.ts';

const LIMIT = 3;
const STRANGER = '127.0.0.9';
const type = 'Content-Type: application/soap+xml';
const EB = 'http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/';
const receipt = `<S:Envelope xmlns:S="http://www.w3.org/2003/05/soap-envelope"><S:Header><eb:Messaging xmlns:eb="${EB}"><eb:SignalMessage><eb:MessageInfo><eb:MessageId>s@x</eb:MessageId></eb:MessageInfo><eb:Receipt/></eb:SignalMessage></eb:Messaging></S:Header><S:Body/></S:Envelope>`;

const sender = new TestSender();
let receiver: TestReceiver;
afterEach(async () => {
  await receiver.stop();
  removeDirectory(receiver);
});

const port = () => Number(new URL(receiver.url).port);

async function answerTo(body: string, source = STRANGER): Promise<number> {
  const client = await RawClient.connect(port(), source);
  await client.post(`${type}\r\nContent-Length: ${body.length}`, body);
  const { status } = await client.answer();
  client.socket.destroy();
  return status;
}

async function breakOff(): Promise<void> {
  const client = await RawClient.connect(port(), STRANGER);
  await client.post(`${type}\r\nContent-Length: ${receipt.length}`, receipt.slice(0, 100));
  client.socket.resetAndDestroy();
}

async function metric(line: RegExp): Promise<string | undefined> {
  return line.exec(await (await fetch(`${receiver.origin}/metrics`)).text())?.[1];
}

async function expectOnlyTheStrangerKeptOut(): Promise<void> {
  expect(await answerTo(receipt)).toBe(503);
  for (let n = 0; n <= LIMIT; n++) expect((await post(receiver.url, await sender.message())).status).toBe(200);
}

it('a source that posts signals, which nobody verifies, is kept out after so many, and others are received', async () => {
  receiver = await startReceiver({ settings: { 'http.failuresPerMinute': String(LIMIT) } });
  for (let n = 0; n < LIMIT; n++) expect(await answerTo(receipt)).toBe(204);
  await expectOnlyTheStrangerKeptOut();
});

it('and so is one whose uploads break off before anybody is proved to have sent them', async () => {
  receiver = await startReceiver({ settings: { 'http.failuresPerMinute': String(LIMIT) } });
  for (let n = 0; n < LIMIT; n++) await breakOff();
  const aborted = /^quittance_refusals_total\{code="refused",reason="aborted"\} (\d+)$/m;
  await expect.poll(() => metric(aborted), { timeout: 10_000 }).toBe(String(LIMIT));
  await expectOnlyTheStrangerKeptOut();
  // Nobody asks why a network failed: that is in the log, not among the refusals.
  expect(await receiver.quittance.store.refusals({ limit: 10 })).toEqual([]);
});
