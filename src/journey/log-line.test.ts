import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { createQuittance, type Quittance } from '../app.ts';
import { loadConfig } from '../config/load.ts';
import { type TestMessage, TestSender } from '../testing/messages.ts';
import { post } from '../testing/post.ts';
import { environmentOf } from '../testing/receiver.ts';

/** Why nothing can be signed, while it is set. The receiver is real in everything else, and no product code knows of this. */
const fault = vi.hoisted(() => ({ error: null as Error | null }));
vi.mock('../wss/sign.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('../wss/sign.ts')>();
  const signSoap: typeof original.signSoap = (o) =>
    fault.error === null ? original.signSoap(o) : Promise.reject(fault.error);
  return { ...original, signSoap };
});

const directory = mkdtempSync(join(tmpdir(), 'quittance-log-'));
const sender = new TestSender();
let lines: Record<string, unknown>[] = [];
let receiver: Quittance;
let url: string;
beforeAll(async () => {
  const env = environmentOf(directory, { 'http.failuresPerMinute': '0' });
  const { config } = await loadConfig({ file: null, env, cwd: directory });
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  receiver = await createQuittance({ config, log, env });
  url = await receiver.listen();
});
beforeEach(() => {
  lines = [];
  fault.error = null;
});
afterAll(async () => {
  await receiver.close();
  rmSync(directory, { recursive: true, force: true });
});

const messageLine = () => lines.find(({ msg }) => msg === 'message');

function soap(messaging: string) {
  const text = `<S:Envelope xmlns:S="http://www.w3.org/2003/05/soap-envelope"><S:Header><eb:Messaging xmlns:eb="http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/">${messaging}</eb:Messaging></S:Header><S:Body/></S:Envelope>`;
  return { contentType: 'application/soap+xml', body: Buffer.from(text) };
}

it('of a message says how many bytes came, in memory or as a stream', async () => {
  for (const bytes of [2_000, 1_300_000]) {
    const message = await sender.message({ bytes });
    lines = [];
    expect((await post(url, message)).status).toBe(200);
    expect(messageLine()).toMatchObject({ decision: 'accepted', bytes: message.body.length });
  }
});

it('of a posted signal says what it signals, with every value cut and free of control characters', async () => {
  const error = (n: number) =>
    `<eb:Error errorCode="EBMS:000${n}" severity="failure" shortDescription="x"><eb:Description xml:lang="en">${'d'.repeat(5000)}</eb:Description><eb:ErrorDetail>one&#13;&#10;two</eb:ErrorDetail></eb:Error>`;
  const info =
    '<eb:MessageInfo><eb:MessageId>s@x</eb:MessageId><eb:RefToMessageId>m@x</eb:RefToMessageId></eb:MessageInfo>';
  const signals = `<eb:SignalMessage>${info}${Array.from({ length: 9 }, (_, n) => error(n)).join('')}</eb:SignalMessage>`;
  expect((await post(url, soap(signals))).status).toBe(204);
  const line = messageLine() as { signals: { errors: Record<string, string>[] }[] };
  expect(line).toMatchObject({
    decision: 'signal',
    signals: [{ signalMessageId: 's@x', refToMessageId: 'm@x', receipt: false }],
  });
  const errors = line.signals[0]?.errors ?? [];
  expect(errors).toHaveLength(8);
  expect(errors[1]).toEqual({
    errorCode: 'EBMS:0001',
    severity: 'failure',
    description: `${'d'.repeat(255)}…`,
    errorDetail: 'onetwo',
  });
  lines = [];
  const receipt = `<eb:SignalMessage>${info}<eb:Receipt/></eb:SignalMessage>`;
  expect((await post(url, soap(receipt))).status).toBe(204);
  expect(messageLine()).toMatchObject({ signals: [{ refToMessageId: 'm@x', receipt: true }] });
});

it('is there, and counted, also when the error signal could not be signed', async () => {
  fault.error = new Error('the key is gone');
  const answer = await post(url, soap('<eb:UserMessage/>'));
  expect([answer.status, answer.contentType]).toEqual([500, 'text/plain; charset=utf-8']);
  const incident = /Incident ([0-9a-f-]{36})\./.exec(answer.body.toString())?.[1];
  expect(messageLine()).toMatchObject({ decision: 'failed', reason: 'unsigned', incident });
  expect(JSON.stringify(messageLine())).toMatch(/error signal EBMS:0103 .*the key is gone/);
  const metrics = await (await fetch(new URL('/metrics', url))).text();
  expect(metrics).toMatch(/^quittance_messages_total\{decision="failed"\} 1$/m);
  expect(metrics).toMatch(/^quittance_refusals_total\{code="failed",reason="unsigned"\} 1$/m);
});

/** With a part that no PartInfo names, before the end. */
function withPart(message: TestMessage, contentId: string): TestMessage {
  const text = message.body.toString('latin1');
  const end = text.lastIndexOf('\r\n--');
  const boundary = text.slice(end + 2, text.lastIndexOf('--'));
  const part = `\r\n${boundary}\r\nContent-ID: <${contentId}>\r\n\r\nx`;
  return { ...message, body: Buffer.from(text.slice(0, end) + part + text.slice(end), 'latin1') };
}

it('names a part that was thrown away by a Content-ID that is cut and free of control characters', async () => {
  const message = withPart(await sender.message(), `a\u00c2\u009bb${'c'.repeat(10_000)}`);
  expect((await post(url, message)).status).toBe(200);
  const { warnings } = messageLine() as { warnings: string[] };
  expect(warnings).toEqual([`A MIME part that no PartInfo names was thrown away (Content-ID ab${'c'.repeat(252)}…)`]);
});
