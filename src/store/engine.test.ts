import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { Engine, type EngineOptions } from './engine.ts';
import type { Operations, WireBatch, WireReply } from './protocol.ts';
import { storeFixture } from './testing/fixture.ts';
import { noon, sampleMessage } from './testing/sample.ts';
import type { NewMessage } from './types.ts';
import { wireMessage } from './wire.ts';

describe('the engine', () => {
  const fixture = storeFixture();
  const engine = (o: Partial<EngineOptions> = {}) =>
    new Engine({ path: fixture.path, contentDir: fixture.directory, refusalRing: 10, exceptionsPerHour: 10, ...o });

  function batch(messages: readonly NewMessage[]): WireBatch {
    const blobs: Uint8Array[] = [];
    const calls = messages.map((m) => {
      const firstBlob = blobs.length;
      return {
        name: 'accept' as const,
        args: wireMessage(m, [], m.receivedAt, (b) => blobs.push(b) - 1 - firstBlob),
        firstBlob,
      };
    });
    const offsets = [0];
    for (const b of blobs) offsets.push(offsets.at(-1)! + b.length);
    const bytes = new Uint8Array(offsets.at(-1)!);
    for (const [i, b] of blobs.entries()) bytes.set(b, offsets[i]);
    return { calls, bytes: bytes.buffer, offsets };
  }
  const run = (e: Engine, b: WireBatch) => e.run(b, [...b.calls.keys()]) as WireReply[];
  const kinds = (replies: readonly WireReply[]) =>
    replies.map((r) => ('value' in r ? (r.value as Operations['accept']['result']).kind : r.error.code));
  const sqlite = (code: string) => new Database.SqliteError(`made up: ${code}`, code);

  test('runs all calls of a batch in one transaction', () => {
    const e = engine();
    expect(kinds(run(e, batch(['a', 'b', 'c'].map((id) => sampleMessage(id)))))).toEqual(Array(3).fill('accepted'));
    expect(e.commits).toBe(1);
    e.close();
  });

  test('decides a race between two copies in one batch', () => {
    const e = engine();
    expect(kinds(run(e, batch([sampleMessage('a'), sampleMessage('a')])))).toEqual(['accepted', 'duplicate']);
    e.close();
  });

  test('a call that fails takes back only itself', () => {
    const e = engine();
    const bad = sampleMessage('b', { purpose: 'nonsense' as never });
    expect(kinds(run(e, batch([sampleMessage('a'), bad, sampleMessage('c')])))).toEqual(['accepted', 'io', 'accepted']);
    expect(fixture.rows('SELECT message_id FROM message')).toEqual([{ message_id: 'a' }, { message_id: 'c' }]);
    expect(fixture.value(`SELECT count(*) FROM message_key`)).toBe(2);
    e.close();
  });

  test('a certificate that was rolled back is stored again with the next message', () => {
    const e = engine();
    const payload = sampleMessage('a').payloads[0]!;
    // Fails after its signer was written.
    const bad = sampleMessage('a', { payloads: [{ ...payload, bytes: 0.5 }] });
    expect(kinds(run(e, batch([bad])))).toEqual(['io']);
    expect(fixture.value('SELECT count(*) FROM certificate')).toBe(0);
    expect(kinds(run(e, batch([sampleMessage('a')])))).toEqual(['accepted']);
    expect(fixture.value('SELECT count(*) FROM certificate')).toBe(2);
    e.close();
  });

  test('does nothing and says so while another connection holds the lock', () => {
    const e = engine();
    const other = new Database(fixture.path);
    other.exec('BEGIN IMMEDIATE');
    expect(e.run(batch([sampleMessage('a')]), [0])).toBe('busy');
    other.exec('COMMIT');
    other.close();
    expect(kinds(run(e, batch([sampleMessage('a')])))).toEqual(['accepted']);
    e.close();
  });

  test('a COMMIT that failed without storing gives an error, and the next batch works', () => {
    let fail = true;
    const commit = (really: () => void) => {
      if (fail) throw sqlite('SQLITE_IOERR_WRITE');
      really();
    };
    const e = engine({ commit });
    expect(kinds(run(e, batch([sampleMessage('a')])))).toEqual(['io']);
    fail = false;
    expect(kinds(run(e, batch([sampleMessage('a')])))).toEqual(['accepted']);
    e.close();
  });

  test('a COMMIT that stored and then failed is answered by what is there', () => {
    let fail = false;
    const commit = (really: () => void) => {
      really();
      if (fail) throw sqlite('SQLITE_IOERR_WRITE');
    };
    const e = engine({ commit });
    run(e, batch([sampleMessage('old')]));
    fail = true;
    const again = sampleMessage('old', { receivedAt: noon + 1 });
    expect(kinds(run(e, batch([sampleMessage('new'), again])))).toEqual(['accepted', 'duplicate']);
    e.close();
  });

  test('an fsync that failed is fatal for everybody in the group', () => {
    const commit = (): void => {
      throw sqlite('SQLITE_IOERR_FSYNC');
    };
    const e = engine({ commit });
    expect(kinds(run(e, batch([sampleMessage('a'), sampleMessage('b')])))).toEqual(['fatal', 'fatal']);
    e.close();
  });

  test('a full disk is told to everybody in the group, and nobody was stored', () => {
    const e = engine({
      commit: () => {
        throw sqlite('SQLITE_FULL');
      },
    });
    expect(kinds(run(e, batch([sampleMessage('a'), sampleMessage('b')])))).toEqual(['full', 'full']);
    expect(fixture.value('SELECT count(*) FROM message')).toBe(0);
    e.close();
  });

  test('works again as soon as the disk does, when the COMMIT and then the fresh connection failed', () => {
    const database = join(fixture.directory, 'database');
    const away = join(fixture.directory, 'away');
    mkdirSync(database);
    let fail = false;
    const commit = (really: () => void) => {
      if (!fail) return really();
      renameSync(database, away);
      throw sqlite('SQLITE_FULL');
    };
    const e = engine({ path: join(database, 'quittance.db'), commit });
    run(e, batch([sampleMessage('a')]));
    fail = true;
    expect(kinds(run(e, batch([sampleMessage('b')])))).toEqual(['io']);
    expect(kinds(run(e, batch([sampleMessage('b')])))).toEqual(['io']);
    fail = false;
    renameSync(away, database);
    expect(kinds(run(e, batch([sampleMessage('b'), sampleMessage('a')])))).toEqual(['accepted', 'duplicate']);
    e.close();
  });

  test('a COMMIT that stored is never called busy, when only the fresh connection is: files may have been stored with it', () => {
    const other = new Database(fixture.path);
    let fail = false;
    let version = 0;
    const commit = (really: () => void) => {
      really();
      if (!fail) return;
      // A fresh connection wants to migrate, and cannot get the lock.
      version = other.pragma('user_version', { simple: true }) as number;
      other.exec('PRAGMA user_version = 0; BEGIN IMMEDIATE');
      throw sqlite('SQLITE_IOERR_WRITE');
    };
    const e = engine({ commit });
    run(e, batch([sampleMessage('old')]));
    fail = true;
    expect(kinds(run(e, batch([sampleMessage('a')])))).toEqual(['io']);
    fail = false;
    // These have not been tried, so they may wait for the lock.
    expect(e.run(batch([sampleMessage('b')]), [0])).toBe('busy');
    other.exec(`PRAGMA user_version = ${version}; COMMIT`);
    other.close();
    expect(kinds(run(e, batch([sampleMessage('a'), sampleMessage('b')])))).toEqual(['duplicate', 'accepted']);
    e.close();
  });
});
