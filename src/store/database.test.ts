import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { openDatabase } from './database.ts';
import { migrations } from './migrations.ts';
import { storeFixture } from './testing/fixture.ts';
import { StoreError } from './types.ts';

describe('the database', () => {
  const fixture = storeFixture();

  test('is created from nothing with every setting that a promise rests on', () => {
    const db = openDatabase(fixture.path);
    const pragma = (name: string) => db.pragma(name, { simple: true });
    expect(pragma('journal_mode')).toBe('wal');
    expect(pragma('synchronous')).toBe(2);
    expect(pragma('auto_vacuum')).toBe(2);
    expect(pragma('foreign_keys')).toBe(1);
    expect(pragma('user_version')).toBe(migrations.length);
    expect(pragma('integrity_check')).toBe('ok');
    db.close();
  });

  test('has only STRICT tables', () => {
    openDatabase(fixture.path).close();
    const loose = fixture.rows(`SELECT name FROM pragma_table_list WHERE strict = 0 AND name NOT LIKE 'sqlite_%'`);
    expect(loose).toEqual([]);
  });

  test('is opened again without being migrated again', () => {
    openDatabase(fixture.path).close();
    const db = openDatabase(fixture.path);
    expect(db.pragma('user_version', { simple: true })).toBe(migrations.length);
    db.close();
  });

  test('of an earlier program keeps its payloads, whose part properties it did not store', () => {
    const old = new Database(fixture.path);
    old.exec(migrations[0]!);
    old.pragma('user_version = 1');
    old.exec(`INSERT INTO message (sender, message_id, purpose, eb_timestamp, eb_timestamp_text, received_at, content_digest,
        fingerprint, policy_version, outside_window, remote_address, routing, second_keys, warnings)
        VALUES ('s', 'm', 'deliver', 1, '', 1, x'', '', '1', 0, '', '{}', '[]', '[]');
      INSERT INTO payload (message, ordinal, at, href, mime_type, compressed, sha256, bytes, data)
        VALUES (1, 0, 1, 'cid:a', 'application/xml', 0, x'', 1, x'41')`);
    old.close();
    openDatabase(fixture.path).close();
    expect(fixture.rows('SELECT href, properties FROM payload')).toEqual([{ href: 'cid:a', properties: '[]' }]);
  });

  test('of a newer program is refused with a sentence that says what to do', async () => {
    openDatabase(fixture.path).close();
    const db = new Database(fixture.path);
    db.pragma(`user_version = ${migrations.length + 1}`);
    db.close();
    expect(() => openDatabase(fixture.path)).toThrow(StoreError);
    await expect(fixture.open()).rejects.toMatchObject({
      code: 'newer-schema',
      message: expect.stringMatching(/start the newer program/),
    });
  });

  test('that is no database is refused', async () => {
    const { writeFile } = await import('node:fs/promises');
    await writeFile(fixture.path, 'this is not a database, it is a text of more than a hundred bytes'.repeat(10));
    await expect(fixture.open()).rejects.toMatchObject({ code: 'io' });
  });
});
