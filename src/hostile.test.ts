import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { pino } from 'pino';
import { afterAll, describe, expect, test } from 'vitest';
import { type Fixture, makeFixture } from '../fixtures/catalogue/fixture.ts';
import { HOSTILE } from '../fixtures/catalogue/hostile.ts';
import { STRANGE_NAME_FIXTURES, STRANGE_NAMES } from '../fixtures/catalogue/hostile-names.ts';
import { outsideFixtures } from '../fixtures/catalogue/hostile-outside.ts';
import { exchange, type HttpAnswer } from '../fixtures/sender/http.ts';
import { type JudgedAnswer, judgeAnswer } from '../fixtures/sender/judge-answer.ts';
import { FIXTURE_TIME } from '../fixtures/time.ts';
import { createQuittance } from './app.ts';
import { loadConfig } from './config/load.ts';
import { inboxMarker } from './delivery/markers.ts';
import { environmentOf, removeDirectory, startReceiver, type TestReceiver } from './testing/receiver.ts';

const now = () => FIXTURE_TIME;

/** What a refused message could leave behind, seen from outside of the receiver. */
function remains(directory: string): Record<string, number> {
  const database = new Database(join(directory, 'quittance.db'), { readonly: true });
  try {
    const count = (table: string) => database.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number;
    const entries = (name: string) => readdirSync(join(directory, name)).filter((entry) => entry !== inboxMarker);
    const spooled = readdirSync(join(directory, 'spool'), { recursive: true, withFileTypes: true });
    return {
      messages: count('message'),
      held: count('held'),
      receipts: count('receipt'),
      payloads: count('payload'),
      outbox: count('outbox'),
      inbox: entries('inbox').length,
      spool: spooled.filter((entry) => entry.isFile() && !entry.name.startsWith('lock')).length,
    };
  } finally {
    database.close();
  }
}

/** One receiver for all that need the same settings. */
class Receivers {
  readonly #started = new Map<string, Promise<TestReceiver>>();

  of({ settings = {} }: Fixture): Promise<TestReceiver> {
    const key = JSON.stringify(settings);
    const found = this.#started.get(key) ?? startReceiver({ settings, now });
    this.#started.set(key, found);
    return found;
  }

  async stop(): Promise<void> {
    for (const receiver of await Promise.all(this.#started.values())) {
      await receiver.stop();
      removeDirectory(receiver);
    }
  }
}

function signalOf(answer: HttpAnswer): JudgedAnswer | null {
  const text = answer.body.toString('utf8');
  return text.includes('Envelope') ? judgeAnswer(text) : null;
}

/** Sends it and demands what its row says: status, code, the id that is echoed; for a receipt the references that were signed. */
async function expectAnswer(fixture: Fixture, url: string): Promise<JudgedAnswer | null> {
  const { octets, message } = makeFixture(fixture);
  const answer = await exchange(url, octets);
  const signal = signalOf(answer);
  const { expect: row } = fixture;
  expect({
    status: answer.status,
    code: signal?.errors[0]?.errorCode ?? null,
    errors: signal?.errors.length ?? 0,
    receipt: signal?.references ?? null,
    refToMessageId: signal?.refToMessageId ?? null,
  }).toEqual({
    status: row.status,
    code: row.code ?? null,
    errors: row.code === undefined ? 0 : 1,
    receipt: row.receipt ? message.references : null,
    refToMessageId: row.refToMessageId ? message.messageId : null,
  });
  return signal;
}

describe('hostile input', () => {
  const receivers = new Receivers();
  afterAll(() => receivers.stop());
  /** What was said of failed decryptions, the id of the message aside. */
  const failures = { count: 0, texts: new Set<string>() };

  test('has at least 80 named inputs, each with a name of its own', () => {
    const ids = Object.values(HOSTILE).flatMap((fixtures) => fixtures.map(({ id }) => id));
    expect(ids.length).toBeGreaterThanOrEqual(80);
    expect(new Set(ids).size).toBe(ids.length);
  });

  describe.each(Object.entries(HOSTILE))('of the kind "%s"', (_, fixtures) => {
    const bad = fixtures.filter(({ expect: { receipt } }) => !receipt);
    test.each(bad.map((fixture) => [fixture.id, fixture.expect.code ?? fixture.expect.status, fixture] as const))(
      '%s is answered with %s and leaves nothing',
      async (_id, _answer, fixture) => {
        const receiver = await receivers.of(fixture);
        await receiver.inbox();
        const before = remains(receiver.directory);
        const signal = await expectAnswer(fixture, receiver.url);
        expect(remains(receiver.directory)).toEqual(before);
        expect(before.spool).toBe(0);
        if (fixture.expect.code === 'EBMS:0102') {
          const { refToMessageInError: _, ...same } = signal?.errors[0] ?? {};
          failures.texts.add(JSON.stringify(same));
          failures.count += 1;
        }
      },
    );

    const harmless = fixtures.filter(({ expect: { receipt } }) => receipt);
    if (harmless.length === 0) return;
    test.each(harmless.map((fixture) => [fixture.id, fixture] as const))(
      '%s gets the receipt of what was signed, and only that is taken',
      async (_id, fixture) => {
        const receiver = await receivers.of(fixture);
        const before = await receiver.inbox();
        await expectAnswer(fixture, receiver.url);
        const entries = (await receiver.inbox()).filter((name) => !before.includes(name));
        expect(entries).toHaveLength(fixture.expect.delivered);
        for (const entry of entries) {
          const [payload] = makeFixture(fixture).payloads;
          expect(receiver.file(entry, 'payload.xml').equals(payload ?? Buffer.alloc(0))).toBe(true);
          expect(readdirSync(join(receiver.directory, 'inbox', entry)).sort()).toEqual([
            'document.xml',
            'metadata.json',
            'payload.xml',
          ]);
        }
      },
    );
  });

  test('a failed decryption said the same each time, whatever failed', () => {
    expect(failures.count).toBeGreaterThanOrEqual(20);
    expect(failures.texts.size).toBe(1);
  });

  test('nothing is ever fetched, whatever a message names', async () => {
    const asked: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url);
      response.end('<x/>');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const receiver = await startReceiver({ now });
    try {
      expect((await fetch(`${base}works`)).status).toBe(200);
      for (const fixture of outsideFixtures(base)) await expectAnswer(fixture, receiver.url);
      await receiver.inbox();
      expect(asked).toEqual(['/works']);
    } finally {
      await receiver.stop();
      removeDirectory(receiver);
      server.close();
    }
  });
});

describe('a MessageId that is allowed, however strange', () => {
  test('never gets out of the inbox nor out of a line of the log, and reaches the backend as it is', async () => {
    const outer = mkdtempSync(join(tmpdir(), 'quittance-names-'));
    const directory = join(outer, 'a', 'b', 'c');
    const env = environmentOf(directory, { 'log.level': 'info' });
    const { config } = await loadConfig({ file: null, env, cwd: outer });
    const lines: string[] = [];
    const log = pino({ level: config.log.level }, { write: (line) => void lines.push(line) });
    const quittance = await createQuittance({ config, log, env, now });
    const url = await quittance.listen();
    try {
      for (const fixture of STRANGE_NAME_FIXTURES) await expectAnswer(fixture, url);
      await quittance.idle();
    } finally {
      await quittance.close();
    }
    const inbox = join(directory, 'inbox');
    const entries = readdirSync(inbox).filter((name) => name !== inboxMarker);
    for (const entry of entries) {
      expect(entry).toMatch(/^\d{8}T\d{6}\.\d{3}Z_[A-Za-z0-9._@-]{1,80}_\d+$/);
      expect(statSync(join(inbox, entry)).isDirectory()).toBe(true);
    }
    const told = entries.map(
      (entry) => JSON.parse(readFileSync(join(inbox, entry, 'metadata.json'), 'utf8')).messageId,
    );
    expect(told.sort()).toEqual([...STRANGE_NAMES].sort());
    // What is there beside the receiver's own directory would have got out.
    expect([outer, join(outer, 'a'), join(outer, 'a', 'b')].map((at) => readdirSync(at))).toEqual([
      ['a'],
      ['b'],
      ['c'],
    ]);
    // One write is one line, and each is one object; only `messageId` holds the id.
    const logged = lines.map((line) => {
      expect(line.indexOf('\n')).toBe(line.length - 1);
      return JSON.parse(line) as { msg: string; messageId?: string };
    });
    const ids = logged.filter(({ msg }) => msg === 'message').map(({ messageId }) => messageId);
    expect(ids).toEqual([...STRANGE_NAMES]);
    expect(logged.filter(({ msg }) => msg === 'listening')).toHaveLength(0);
    rmSync(outer, { recursive: true, force: true });
  });
});
