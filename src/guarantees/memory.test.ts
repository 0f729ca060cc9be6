import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sbdOf, type TestMessageOptions, TestSender } from '../testing/messages.ts';
import { eachOf, post } from '../testing/post.ts';
import type { ServerProcess } from '../testing/server-process.ts';
import { Site } from '../testing/site.ts';

const MB = 1_000_000;
const sender = new TestSender();
let site: Site;
let server: ServerProcess;
/** Resident bytes once warm. */
let warm: number;

beforeAll(async () => {
  site = new Site();
  server = await site.serve();
  // Warm: everything compiled, the heap grown to what small messages need, and every way that a large one takes walked once.
  const small = await Promise.all(Array.from({ length: 200 }, () => sender.message({ bytes: 10_000 })));
  await eachOf(small, 8, async (message) => void (await post(server.url, message)));
  for (const make of [compressible, incompressible, binary]) await post(server.url, await sender.message(make(3 * MB)));
  await site.delivered();
  warm = server.memory().now;
}, 120_000);
afterAll(() => site.remove());

/** An invoice of many lines: what compresses about tenfold, as invoices do. */
function compressible(bytes: number): TestMessageOptions {
  const lines: string[] = [];
  for (let size = 0, line = 1; size < bytes; line++) {
    const text = `<cac:InvoiceLine><cbc:ID>${line}</cbc:ID><cbc:Note>${randomBytes(12).toString('hex')}</cbc:Note><cac:Item><cbc:Name>Pencils, as ordered, in the usual packing, to the door of the building on the corner</cbc:Name></cac:Item></cac:InvoiceLine>`;
    lines.push(text);
    size += text.length;
  }
  const root =
    'Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2" xmlns:cac="urn:x:cac" xmlns:cbc="urn:x:cbc"';
  return { sbd: sbdOf(Buffer.from(`<${root}>${lines.join('')}</Invoice>`)) };
}

/** A binary document in a BinaryContent, gzipped as Peppol wants it: as much on the wire as it has octets. */
function incompressible(bytes: number): TestMessageOptions {
  return { sbd: sbdOf(randomBytes(bytes)) };
}

/** A second part of raw octets that is not compressed. */
function binary(bytes: number): TestMessageOptions {
  return { further: [randomBytes(bytes)] };
}

test.each([
  ['of XML, gzip', compressible],
  ['of binary content, gzip', incompressible],
  ['of raw binary', binary],
] as const)(
  'a payload of 100 MB %s takes less than 80 MB more memory than small messages do',
  async (name, make) => {
    const options = make(100 * MB);
    const message = await sender.message(options);
    server.forgetPeak();
    const answer = await post(server.url, message);
    await site.delivered();
    const { peak } = server.memory();
    console.log(
      `100 MB ${name}: ${(message.body.length / MB).toFixed(0)} MB on the wire, ${(warm / MB).toFixed(0)} MB before, ${(peak / MB).toFixed(0)} MB at most`,
    );
    expect(sender.judge(answer.body, message)).toEqual({ receipt: true, verified: true, error: null });
    const entries = site.inbox.entries().filter(({ metadata }) => metadata.messageId === message.messageId);
    expect(entries).toHaveLength(1);
    const digests = entries[0]?.metadata.files.filter(({ role }) => role === 'payload').map(({ sha256 }) => sha256);
    const further = (options.further ?? []).map((part) => createHash('sha256').update(part).digest('hex'));
    expect(digests).toEqual([message.payloadSha256, ...further]);
    expect(peak - warm).toBeLessThan(80 * MB);
  },
  180_000,
);
