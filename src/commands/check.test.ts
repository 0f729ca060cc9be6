import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../config/load.ts';
import { check } from './check.ts';
import type { Finding } from './finding.ts';

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'quittance-check-'));
});
afterAll(() => rmSync(cwd, { recursive: true }));

const cert = (name: string) => join(PACKAGE_ROOT, 'certs', name);

/** Runs check with these environment variables alone. */
async function run(
  env: NodeJS.ProcessEnv,
): Promise<{ code: number; findings: Finding[]; wrong: string[]; err: string[] }> {
  const out: string[] = [];
  const err: string[] = [];
  const io = {
    env: { QUITTANCE_STORE__MIN_FREE: '1B', ...env },
    cwd,
    out: (l: string) => out.push(l),
    err: (l: string) => err.push(l),
  };
  const code = await check({ config: null, json: true }, io);
  const { findings } = JSON.parse(out[0]!) as { findings: Finding[] };
  return { code, findings, err, wrong: findings.filter((f) => f.level === 'error').map((f) => `${f.what}: ${f.text}`) };
}

test('the test certificates and an empty directory are all right, but for the warning that they are for tests', async () => {
  const { code, findings, wrong, err } = await run({});
  expect(wrong).toEqual([]);
  expect({ code, err }).toEqual({ code: 0, err: [] });
  expect(findings).toContainEqual({
    level: 'warning',
    what: 'config',
    text: 'environment is "test": test CAs are accepted.',
  });
});

test('check creates nothing', async () => {
  await run({});
  expect(() => statSync(join(cwd, 'var'))).toThrow('ENOENT');
});

test.each<[what: string, env: NodeJS.ProcessEnv, wrong: RegExp]>([
  ['a misspelt key', { QUITTANCE_HTTP__PROT: '1' }, /^config: .*QUITTANCE_HTTP__PORT/],
  [
    'a key that does not belong to the certificate',
    { QUITTANCE_IDENTITY__CERTIFICATE: cert('receiver.crt'), QUITTANCE_IDENTITY__KEY: cert('sender.key') },
    /^identity: .*does not belong/,
  ],
  [
    'an expired certificate',
    { QUITTANCE_IDENTITY__CERTIFICATE: cert('expired.crt'), QUITTANCE_IDENTITY__KEY: cert('expired.key') },
    /^identity: our certificate expired on 2022-/,
  ],
  [
    'a certificate of another PKI',
    { QUITTANCE_IDENTITY__CERTIFICATE: cert('other.crt'), QUITTANCE_IDENTITY__KEY: cert('other.key') },
    /^identity: our own certificate would not be trusted/,
  ],
  ['a missing revocation list', { QUITTANCE_TRUST__CRLS: '' }, /^revocation: no CRL of .*its senders get 503/],
  ['a trust file that is not there', { QUITTANCE_TRUST__ISSUERS: '/nowhere.pem' }, /^trust: .*\/nowhere\.pem/],
  ['a trust file without a root', { QUITTANCE_TRUST__ISSUERS: cert('ap-ca.crt') }, /^trust: .*add that root/],
  ['an inbox that is a file', { QUITTANCE_DELIVERY__INBOX: cert('README.md') }, /^inbox: .*is not a directory/],
  ['a serviced list that is not there', { QUITTANCE_SERVICED__FILE: '/nowhere.toml' }, /^serviced: .*\/nowhere\.toml/],
  ['a disk that is too full', { QUITTANCE_STORE__MIN_FREE: '9000TB' }, /^disk: .*new messages would get 503/],
  ['a group that is not there', { QUITTANCE_DELIVERY__GROUP: 'no-such-group' }, /^inbox: .*no group "no-such-group"/],
])('%s is wrong', async (_, env, expected) => {
  const { code, wrong, err } = await run(env);
  expect(wrong).toEqual([expect.stringMatching(expected)]);
  expect(code).toBe(1);
  expect(err).toEqual([expect.stringContaining('One thing is wrong')]);
});

function production(): NodeJS.ProcessEnv {
  return {
    QUITTANCE_ENVIRONMENT: 'production',
    QUITTANCE_IDENTITY__CERTIFICATE: cert('receiver.crt'),
    QUITTANCE_IDENTITY__KEY: cert('receiver.key'),
    QUITTANCE_TRUST__ISSUERS: cert('trust.pem'),
    QUITTANCE_TRUST__CRLS: cert('ap-ca.crl'),
  };
}

test('a test CA in production is wrong, and so is our own certificate of one', async () => {
  const { code, wrong } = await run(production());
  expect(wrong).toEqual([
    expect.stringMatching(/^identity: CN=POP000002.* is issued by a test CA .*name our production certificate/),
    expect.stringMatching(/^trust: .*is a test CA/),
  ]);
  expect(code).toBe(1);
});

test('a missing revocation list is only a warning under "soft"', async () => {
  const { code, findings } = await run({ QUITTANCE_TRUST__CRLS: '', QUITTANCE_TRUST__REVOCATION: 'soft' });
  expect(code).toBe(0);
  expect(findings).toContainEqual(expect.objectContaining({ level: 'warning', what: 'revocation' }));
});

test('a database of a newer program and a file that is none are wrong', async () => {
  const file = join(cwd, 'x.db');
  const url = { QUITTANCE_STORE__URL: `sqlite:${file}` };
  const db = new Database(file);
  db.pragma('user_version = 9999');
  db.close();
  expect((await run(url)).wrong).toEqual([expect.stringContaining('written by a newer program')]);
  writeFileSync(file, 'x'.repeat(5000));
  expect((await run(url)).wrong).toEqual([expect.stringContaining('is not an SQLite database')]);
});

const otherDevice = (() => {
  try {
    return statSync('/dev/shm').dev !== statSync(tmpdir()).dev;
  } catch {
    return false;
  }
})();

test.skipIf(!otherDevice)(
  'staging on another file system than the inbox is wrong (skipped without /dev/shm)',
  async () => {
    const { code, findings, wrong } = await run({ QUITTANCE_DELIVERY__STAGING: '/dev/shm/quittance-staging' });
    expect(code).toBe(1);
    expect(wrong).toEqual([expect.stringMatching(/^staging: .*different file systems/)]);
    expect(findings).toContainEqual(
      expect.objectContaining({ level: 'warning', text: expect.stringContaining('tmpfs, in memory') }),
    );
  },
);

const mayMount = spawnSync('unshare', ['-m', 'true']).status === 0;

/** Runs check in a mount namespace of its own, after this shell command. */
function checkAfter(mount: string, env: Record<string, string>): SpawnSyncReturns<string> {
  const program = `"${process.execPath}" "${join(PACKAGE_ROOT, 'dist/cli.js')}" check`;
  return spawnSync('unshare', ['-m', 'sh', '-c', `${mount} && exec ${program}`], {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, QUITTANCE_STORE__MIN_FREE: '1B', ...env },
  });
}

test.skipIf(!mayMount)(
  'staging behind a bind mount is wrong, although the device is the same (skipped without the right to mount)',
  () => {
    const [inbox, staging] = [join(cwd, 'bind/inbox'), join(cwd, 'bind/staging')];
    mkdirSync(inbox, { recursive: true });
    mkdirSync(staging);
    const places = { QUITTANCE_DELIVERY__INBOX: inbox, QUITTANCE_DELIVERY__STAGING: staging };
    const run = (mount: string) => checkAfter(mount, places);
    expect(run('true').status).toBe(0);
    const bound = run('mount --bind bind/staging bind/staging');
    expect(bound.status).toBe(1);
    expect(bound.stdout).toMatch(/^WRONG +staging .*different file systems/m);
  },
);

test.skipIf(!mayMount)(
  'a database, an inbox and a staging that are mounted read-only are wrong, each with what to do (skipped without the right to mount)',
  () => {
    const directory = join(cwd, 'read-only');
    mkdirSync(directory);
    new Database(join(directory, 'quittance.db')).close();
    const readOnly = 'mount --bind read-only read-only && mount -o remount,ro,bind read-only';
    const database = { QUITTANCE_STORE__URL: `sqlite:${join(directory, 'quittance.db')}` };
    expect(checkAfter('true', database).status).toBe(0);
    const found = checkAfter(readOnly, database);
    expect(found.status).toBe(1);
    for (const place of ['read-only', 'read-only/quittance.db'].map((name) => join(cwd, name))) {
      const text = `^WRONG +database +${place} is on a file system that is mounted read-only; mount it for writing`;
      expect(found.stdout).toMatch(new RegExp(text, 'm'));
    }
    // The file alone: nothing but the database says so.
    const file =
      'mount --bind read-only/quittance.db read-only/quittance.db && mount -o remount,ro,bind read-only/quittance.db';
    expect(checkAfter(file, database).stdout.match(/^WRONG.*/gm)).toEqual([
      expect.stringMatching(/^WRONG +database +.*quittance\.db is on a file system that is mounted read-only/),
    ]);
    for (const place of ['INBOX', 'STAGING']) {
      const { status, stdout } = checkAfter(readOnly, { [`QUITTANCE_DELIVERY__${place}`]: directory });
      expect(status).toBe(1);
      expect(stdout).toMatch(
        new RegExp(`^WRONG +${place.toLowerCase()} +.*mounted read-only; mount it for writing`, 'm'),
      );
    }
  },
);
