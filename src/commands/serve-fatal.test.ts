import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../config/load.ts';
import { TestSender } from '../testing/messages.ts';
import { post } from '../testing/post.ts';
import { Site } from '../testing/site.ts';

let site: Site;
afterEach(() => site.remove());

/**
 * Loaded into the process and its threads before the program: while the file is there COMMIT ends as it does when the disk does not take
 * what SQLite has written. No file system here can be made to do that; the product knows nothing of it.
 */
function brokenDisk(flag: string): string {
  return `
    const Database = require(${JSON.stringify(join(PACKAGE_ROOT, 'node_modules/better-sqlite3'))});
    const { existsSync } = require('node:fs');
    const { prepare } = Database.prototype;
    Database.prototype.prepare = function (sql) {
      const statement = prepare.call(this, sql);
      if (sql !== 'COMMIT') return statement;
      return {
        run() {
          if (existsSync(${JSON.stringify(flag)})) throw new Database.SqliteError('disk I/O error', 'SQLITE_IOERR_FSYNC');
          return statement.run();
        },
      };
    };
  `;
}

test('a store that the disk has failed ends the process with 1, nothing is receipted, and the next process takes the message', async () => {
  site = new Site();
  const [flag, preload] = [join(site.directory, 'broken'), join(site.directory, 'broken-disk.cjs')];
  writeFileSync(preload, brokenDisk(flag));
  const server = await site.serve({ nodeArguments: ['--require', preload] });
  const sender = new TestSender();
  const message = await sender.message();
  writeFileSync(flag, '');
  // It answers 503 or nothing at all: it may be gone before.
  const answer = await post(server.url, message).catch(() => null);
  expect(answer?.status ?? 503).toBe(503);
  expect(await server.ended).toEqual({ code: 1, signal: null });
  expect(server.log.find(({ level }) => level === 60)).toMatchObject({ msg: 'fatal', err: { code: 'fatal' } });

  rmSync(flag);
  expect(existsSync(flag)).toBe(false);
  const next = await site.serve();
  const receipt = await post(next.url, message);
  expect([receipt.status, sender.judge(receipt.body, message).verified]).toEqual([200, true]);
  await site.delivered();
  expect(site.inbox.entries().map(({ metadata }) => metadata.messageId)).toEqual([message.messageId]);
});
