import { createHash, X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { XmlDocument } from 'libxml2-wasm';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { FIXTURES } from '../fixtures/catalogue/all.ts';
import { type FixtureFile, fixtureOctets, readFixtures, signedReferences } from '../fixtures/read.ts';
import { exchange, type HttpAnswer } from '../fixtures/sender/http.ts';
import { type JudgedAnswer, judgeAnswer } from '../fixtures/sender/judge-answer.ts';
import { FIXTURE_TIME } from '../fixtures/time.ts';
import { PACKAGE_ROOT } from './config/load.ts';
import { inboxMarker } from './delivery/markers.ts';
import { EBMS_CODES } from './ebms/codes.ts';
import { StoreError } from './store/types.ts';
import { removeDirectory, startReceiver, type TestReceiver } from './testing/receiver.ts';

/** What a commit ends in, while it is set. The receivers here are real in everything else, and no product code knows of this. */
const fault = vi.hoisted(() => ({ error: null as Error | null }));
vi.mock('./receive.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('./receive.ts')>();
  const createReceive: typeof original.createReceive = (o) =>
    original.createReceive({
      ...o,
      store: {
        ...o.store,
        accept: (message) => (fault.error === null ? o.store.accept(message) : Promise.reject(fault.error)),
      },
    });
  return { ...original, createReceive };
});

const OUR_CERTIFICATE = new X509Certificate(readFileSync(join(PACKAGE_ROOT, 'certs/receiver.crt')));
const now = () => FIXTURE_TIME;

/** Settings of a fixture as this machine needs them: its file names start at the project. */
function settingsOf(fixture: FixtureFile): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fixture.settings ?? {}).map(([key, value]) => [
      key,
      key.endsWith('.file') ? join(PACKAGE_ROOT, value) : value,
    ]),
  );
}

/** One receiver for all fixtures that need the same settings; one that comes after others gets a receiver of its own. */
class Receivers {
  readonly #started = new Map<string, Promise<TestReceiver>>();

  async of(fixture: FixtureFile): Promise<TestReceiver> {
    const key = fixture.after === undefined ? JSON.stringify(fixture.settings ?? {}) : fixture.id;
    const found = this.#started.get(key) ?? this.#start(fixture);
    this.#started.set(key, found);
    return found;
  }

  async #start(fixture: FixtureFile): Promise<TestReceiver> {
    const receiver = await startReceiver({ settings: settingsOf(fixture), now });
    for (const id of fixture.after ?? []) {
      expect((await exchange(receiver.url, fixtureOctets(id))).status).toBe(200);
    }
    return receiver;
  }

  async stop(): Promise<void> {
    for (const receiver of await Promise.all(this.#started.values())) {
      await receiver.stop();
      removeDirectory(receiver);
    }
  }
}

/** How much the store and the folder hold, seen from outside of the receiver. */
function remains({ directory }: TestReceiver): { messages: number; held: number; outbox: number; inbox: number } {
  const database = new Database(join(directory, 'quittance.db'), { readonly: true });
  try {
    const count = (table: string) => database.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number;
    const inbox = readdirSync(join(directory, 'inbox')).filter((name) => name !== inboxMarker).length;
    return { messages: count('message'), held: count('held'), outbox: count('outbox'), inbox };
  } finally {
    database.close();
  }
}

/** The signal of an answer, verified by xml-crypto and signed by us; null when it has none. */
function signalOf(answer: HttpAnswer): JudgedAnswer | null {
  const text = answer.body.toString('utf8');
  if (!text.includes('Envelope')) return null;
  expect(answer.headers['content-type']).toBe('application/soap+xml; charset=UTF-8');
  const judged = judgeAnswer(text);
  expect(judged.signer.fingerprint256).toBe(OUR_CERTIFICATE.fingerprint256);
  expect(judged.bodyEmpty).toBe(true);
  return judged;
}

function expectNoSignal(answer: HttpAnswer): void {
  expect(signalOf(answer)).toBeNull();
  expect(answer.body.toString()).not.toMatch(/SignalMessage|EBMS:/);
  if (answer.status === 503) expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
}

function expectError(fixture: FixtureFile, answer: HttpAnswer): void {
  const { code, severity, errorDetail, refToMessageId } = fixture.expect;
  const signal = signalOf(answer);
  expect(signal?.references).toBeNull();
  expect(signal?.errors).toHaveLength(1);
  const [error] = signal?.errors ?? [];
  const { shortDescription, category } = EBMS_CODES[code as keyof typeof EBMS_CODES];
  expect(error).toMatchObject({ errorCode: code, severity, shortDescription, category });
  expect(error?.description).toMatch(/\w{3}/);
  expect(signal?.refToMessageId ?? null).toBe(refToMessageId ? fixture.messageId : null);
  expect(error?.refToMessageInError ?? null).toBe(refToMessageId ? fixture.messageId : null);
  if (typeof errorDetail === 'string') expect(error?.detail).toBe(errorDetail);
  if (errorDetail === true) expect(error?.detail).toMatch(/\w{3}/);
}

function expectReceipt(fixture: FixtureFile, answer: HttpAnswer): void {
  const signal = signalOf(answer);
  expect(signal?.errors).toEqual([]);
  expect(signal?.refToMessageId).toBe(fixture.messageId);
  expect(signal?.messageId).not.toBe(fixture.messageId);
  expect(signal?.references).toEqual(signedReferences(fixtureOctets(fixture.id)));
}

const sha256 = (octets: Buffer): string => createHash('sha256').update(octets).digest('hex');

interface DeliveredFile {
  readonly name: string;
  readonly role: string;
  readonly mime: string;
  readonly bytes: number;
  readonly sha256: string;
}

function expectEntry(fixture: FixtureFile, receiver: TestReceiver, entry: string): void {
  const metadata = receiver.metadata(entry);
  expect(metadata).toMatchObject({ ...fixture.metadata, receivedAt: new Date(FIXTURE_TIME).toISOString() });
  expect((metadata.warnings as string[]).length > 0).toBe(fixture.expect.warning === true);
  const files = metadata.files as DeliveredFile[];
  expect([...files.map((file) => file.name), 'metadata.json'].sort()).toEqual(
    readdirSync(join(receiver.directory, 'inbox', entry)).sort(),
  );
  for (const file of files) {
    const octets = receiver.file(entry, file.name);
    expect({ bytes: octets.length, sha256: sha256(octets) }).toEqual({ bytes: file.bytes, sha256: file.sha256 });
  }
  const payloads = files.filter((file) => file.role === 'payload');
  expect(payloads.map(({ bytes, sha256: digest }) => ({ bytes, sha256: digest }))).toEqual(fixture.payloads);
  expect(payloads[0]?.name).toMatch(payloads.length === 1 ? /^payload\.xml$/ : /^payload-1\.xml$/);
  const document = files.find((file) => file.role === 'document');
  expect(document).toBeDefined();
  if (document?.name === 'document.xml') {
    const parsed = XmlDocument.fromBuffer(receiver.file(entry, 'document.xml'));
    expect(parsed.root.namespaceUri).toMatch(/^urn:oasis:names:specification:ubl:schema:xsd:/);
    parsed.dispose();
  }
  for (const [name, content] of Object.entries(FIXTURES.find(({ id }) => id === fixture.id)?.spec.files ?? {})) {
    expect(document?.name).toBe(name);
    expect(receiver.file(entry, name).equals(content)).toBe(true);
  }
}

const fixtures = readFixtures();

describe('the answer table', () => {
  const receivers = new Receivers();
  afterAll(() => receivers.stop());

  test('has a file for every fixture of the catalogue, and each row a fixture', () => {
    expect(fixtures.map(({ id }) => id).sort()).toEqual(FIXTURES.map(({ id }) => id).sort());
    expect(fixtures.filter(({ expect: { receipt } }) => receipt).length).toBeGreaterThanOrEqual(25);
    expect(fixtures.filter(({ expect: { receipt } }) => !receipt).length).toBeGreaterThanOrEqual(40);
    expect(new Set(fixtures.flatMap(({ expect: { code } }) => code ?? []))).toEqual(new Set(Object.keys(EBMS_CODES)));
  });

  describe('gives a verified receipt and one right folder entry for what it delivers', () => {
    for (const fixture of fixtures.filter(({ expect: { delivered } }) => delivered > 0)) {
      test(`${fixture.id}: ${fixture.title}`, async () => {
        const receiver = await receivers.of(fixture);
        const before = new Set(await receiver.inbox());
        const answer = await exchange(receiver.url, fixtureOctets(fixture.id));
        expect(answer.status).toBe(fixture.expect.status);
        expectReceipt(fixture, answer);
        const entries = (await receiver.inbox()).filter((name) => !before.has(name));
        expect(entries).toHaveLength(fixture.expect.delivered);
        for (const entry of entries) expectEntry(fixture, receiver, entry);
      });
    }
  });

  describe('gives a verified receipt and delivers nothing', () => {
    for (const fixture of fixtures.filter(({ expect: { receipt, delivered } }) => receipt && delivered === 0)) {
      test(`${fixture.id}: ${fixture.title}`, async () => {
        const receiver = await receivers.of(fixture);
        const before = await receiver.inbox();
        const answer = await exchange(receiver.url, fixtureOctets(fixture.id));
        expect(answer.status).toBe(fixture.expect.status);
        expectReceipt(fixture, answer);
        expect(await receiver.inbox()).toEqual(before);
      });
    }
  });

  describe('answers with the code or the status of its row and keeps nothing', () => {
    for (const fixture of fixtures.filter(({ expect: { receipt } }) => !receipt)) {
      test(`${fixture.id}: ${fixture.expect.code ?? fixture.expect.status}, ${fixture.title}`, async () => {
        const receiver = await receivers.of(fixture);
        await receiver.inbox();
        const before = remains(receiver);
        const answer = await exchange(receiver.url, fixtureOctets(fixture.id));
        expect(answer.status).toBe(fixture.expect.status);
        if (fixture.expect.code === undefined) expectNoSignal(answer);
        else expectError(fixture, answer);
        const held = before.held + (fixture.expect.conflictHeld === true ? 1 : 0);
        expect(remains(receiver)).toEqual({ ...before, held });
      });
    }
  });

  test('keeps one row in `held` however often a conflict is posted', async () => {
    const conflict = fixtures.find(({ id }) => id === 'repeat-other-content');
    if (conflict === undefined) throw new Error('the fixture is missing');
    const receiver = await receivers.of(conflict);
    for (let i = 0; i < 3; i += 1) {
      expectError(conflict, await exchange(receiver.url, fixtureOctets(conflict.id)));
    }
    expect(remains(receiver)).toMatchObject({ messages: 1, held: 1, inbox: 1 });
  });

  test('says the same of every failed decryption', async () => {
    const failed = fixtures.filter(({ id, expect: { code } }) => code === 'EBMS:0102' && id !== 'other-recipient');
    const texts = new Set<string>();
    for (const fixture of failed) {
      const receiver = await receivers.of(fixture);
      const signal = signalOf(await exchange(receiver.url, fixtureOctets(fixture.id)));
      texts.add(JSON.stringify([signal?.errors[0]?.description, signal?.errors[0]?.detail]));
    }
    expect(failed.length).toBeGreaterThanOrEqual(6);
    expect(texts.size).toBe(1);
  });
});

describe('a receiver that is full', () => {
  let receiver: TestReceiver;
  beforeAll(async () => {
    receiver = await startReceiver({ settings: { 'http.inFlight': '1', 'http.strangers': '1' }, now });
  });
  afterAll(async () => {
    await receiver.stop();
    removeDirectory(receiver);
  });

  test('answers 503 without a signal, and takes the same message afterwards', async () => {
    const octets = fixtureOctets('order');
    const slow = fixtureOctets('invoice');
    const { hostname, port } = new URL(receiver.url);
    const socket = connect(Number(port), hostname);
    socket.write(slow.subarray(0, slow.length - 100));
    let full = await exchange(receiver.url, octets);
    // The other request may not have been seen yet: a ping is then answered, and the next one is not.
    for (let i = 0; i < 50 && full.status !== 503; i += 1)
      full = await exchange(receiver.url, fixtureOctets('ping-soap'));
    expect(full.status).toBe(503);
    expectNoSignal(full);
    const answered = new Promise<string>((resolve) => socket.once('data', (data) => resolve(data.toString('latin1'))));
    socket.write(slow.subarray(slow.length - 100));
    expect(await answered).toMatch(/^HTTP\/1\.1 200 /);
    socket.destroy();
    const later = await exchange(receiver.url, octets);
    expect(later.status).toBe(200);
    expect(signalOf(later)?.references).toHaveLength(3);
  });
});

describe('a receiver whose store fails', () => {
  let receiver: TestReceiver;
  beforeAll(async () => {
    receiver = await startReceiver({ now });
  });
  afterAll(async () => {
    await receiver.stop();
    removeDirectory(receiver);
  });

  test.each([
    [500, 'an error that nobody expected', new TypeError('x is not a function')],
    [503, 'a full disk', new StoreError('full', 'database or disk is full')],
  ])('answers %i without a signal to %s, and takes the same bytes afterwards', async (status, _, error) => {
    const octets = fixtureOctets(status === 500 ? 'invoice' : 'order');
    await receiver.inbox();
    const before = remains(receiver);
    fault.error = error;
    const answer = await exchange(receiver.url, octets).finally(() => {
      fault.error = null;
    });
    expect(answer.status).toBe(status);
    expectNoSignal(answer);
    expect(answer.body.toString()).not.toContain(error.message);
    if (status === 500) expect(answer.body.toString()).toMatch(/incident [0-9a-f-]{36}/i);
    expect(remains(receiver)).toEqual(before);
    const later = await exchange(receiver.url, octets);
    expect(later.status).toBe(200);
    expect(signalOf(later)?.references).toHaveLength(3);
  });
});
