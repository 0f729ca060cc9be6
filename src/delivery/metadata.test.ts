import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Bench, message, payload, sbd } from './testing/harness.ts';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly $defs?: Readonly<Record<string, Schema>>;
}

const schema = JSON.parse(readFileSync(new URL('../../docs/metadata.schema.json', import.meta.url), 'utf8')) as Schema;

/** The keywords that our schema uses, and properties that it does not name: documentation that lags behind is a fault here. */
function faults(value: unknown, s: Schema, at = '$'): string[] {
  if (s.$ref) return faults(value, schema.$defs?.[s.$ref.replace('#/$defs/', '')] ?? {}, at);
  const found: string[] = [];
  const kind =
    value === null ? 'null' : Array.isArray(value) ? 'array' : Number.isInteger(value) ? 'integer' : typeof value;
  if (s.type && ![s.type].flat().includes(kind)) found.push(`${at} is ${kind}`);
  if ('const' in s && value !== s.const) found.push(`${at} is not ${String(s.const)}`);
  if (s.enum && !s.enum.includes(value)) found.push(`${at} is none of ${s.enum.join()}`);
  if (s.pattern && typeof value === 'string' && !new RegExp(s.pattern).test(value)) found.push(`${at} is ${value}`);
  if (s.minimum !== undefined && typeof value === 'number' && value < s.minimum) found.push(`${at} is ${value}`);
  if (Array.isArray(value))
    return [...found, ...value.flatMap((item, n) => faults(item, s.items ?? {}, `${at}[${n}]`))];
  if (typeof value !== 'object' || value === null) return found;
  for (const name of s.required ?? []) if (!(name in value)) found.push(`${at}.${name} is missing`);
  for (const [name, inner] of Object.entries(value)) {
    const known = s.properties?.[name];
    found.push(...(known ? faults(inner, known, `${at}.${name}`) : [`${at}.${name} is not in the schema`]));
  }
  return found;
}

let bench: Bench;
beforeEach(() => {
  bench = new Bench();
});
afterEach(() => bench.close());

it('what is written is what docs/metadata.schema.json says, for a full message and for one that lacks what may be lacking', async () => {
  const full = message('full', {
    payloads: [payload(sbd()), payload(Buffer.from('%PDF'), { mimeType: 'application/pdf' })],
  });
  const none = { originalSender: null, finalRecipient: null, documentType: null, process: null, serviceType: null };
  const more = { instanceIdentifier: null, sbdhCreationDateAndTime: null, countryC1: null, messageProperties: [] };
  const bare = message('bare', {
    warnings: [],
    routing: { ...full.routing, ...none, ...more },
    payloads: [payload(sbd(), { characterSet: null })],
  });
  await bench.accept(full, bare);
  await bench.deliver();
  const written = bench.entries().map((entry) => bench.metadata(entry));
  expect(written.map((metadata) => metadata.messageId)).toEqual(['bare', 'full']);
  for (const metadata of written) expect(faults(metadata, schema)).toEqual([]);
});

it('tells all part properties of each payload, but for CompressionType: what is delivered is not compressed any more', async () => {
  const own = { name: 'urn:own', type: 'x', value: ' as it was ' };
  const type = { name: 'MimeType', type: null, value: 'application/xml' };
  const compression = { name: 'CompressionType', type: null, value: 'application/gzip' };
  const first = payload(sbd(), { properties: [type, compression, own] });
  const second = payload(Buffer.from('%PDF'), { properties: [] });
  await bench.accept(message('m-1', { payloads: [first, second] }));
  await bench.deliver();
  const { files } = bench.metadata(bench.entries()[0] ?? '');
  expect(files.map(({ role, properties }) => [role, properties])).toEqual([
    ['payload', [type, own]],
    ['document', undefined],
    ['payload', []],
  ]);
});

it.each([
  ['a missing field', (m: Record<string, unknown>) => delete m.sequence],
  ['a field of another type', (m: Record<string, unknown>) => Object.assign(m, { warnings: 'none' })],
  ['a field that nobody documented', (m: Record<string, unknown>) => Object.assign(m, { surprise: 1 })],
])('the check of the schema sees %s', async (_, spoil) => {
  await bench.accept(message());
  await bench.deliver();
  const metadata = bench.metadata(bench.entries()[0] ?? '') as unknown as Record<string, unknown>;
  spoil(metadata);
  expect(faults(metadata, schema)).toHaveLength(1);
});
