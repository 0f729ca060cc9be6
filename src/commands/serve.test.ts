import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { PACKAGE_ROOT } from '../config/load.ts';

// Each test starts several processes, on a machine that may be busy with others.
vi.setConfig({ testTimeout: 120_000 });

const CLI = join(PACKAGE_ROOT, 'dist/cli.js');
let cwd: string;
let children: ChildProcessByStdio<null, Readable, Readable>[];
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'quittance-cli-'));
  children = [];
});
afterEach(async () => {
  for (const child of children) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  await Promise.all(children.map((c) => c.exitCode === null && c.signalCode === null && once(c, 'exit')));
  rmSync(cwd, { recursive: true });
});

type LogLine = { readonly msg: string; readonly url?: string; readonly level: number };

/** The receiver as an operator runs it, in an empty directory. */
function serve(args: string[] = [], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [CLI, 'serve', ...args], {
    cwd,
    env: environment({ QUITTANCE_HTTP__PORT: '0', ...env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  const log: LogLine[] = [];
  const waiting: { msg: string; found: (line: LogLine) => void }[] = [];
  createInterface({ input: child.stdout }).on('line', (text) => {
    const line = JSON.parse(text) as LogLine;
    log.push(line);
    for (const w of waiting) if (w.msg === line.msg) w.found(line);
  });
  let err = '';
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  const exited = once(child, 'close').then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as string | null,
  }));
  /** The first line with this msg; rejects when the process ends without it. */
  const says = (msg: string) =>
    new Promise<LogLine>((found, reject) => {
      const said = log.find((l) => l.msg === msg);
      if (said) found(said);
      waiting.push({ msg, found });
      void exited.then(() => reject(new Error(`ended without saying "${msg}": ${err}`)));
    });
  const url = () => says('listening').then((line) => line.url!);
  return { child, log, exited, says, url, err: () => err };
}

function environment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, QUITTANCE_STORE__MIN_FREE: '1B', ...env };
}

/** Any other command. */
function quittance(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [CLI, ...args], { cwd, env: environment({}) }, (error, out, err) => {
      resolve({ code: error ? Number(error.code) : 0, out, err });
    });
  });
}

test('a fresh directory is enough: the message sent twice gives one directory and two byte-identical receipts', async () => {
  const receiver = serve();
  const url = await receiver.url();
  const { code, out, err } = await quittance('send', '--url', url, '--repeat', '2', '--save', 'm.as4');
  expect(err).toBe('');
  expect(code).toBe(0);
  expect(out).toMatch(/answer 1: HTTP 200, receipt, signature verified/);
  expect(out).toMatch(/^2 answers, byte-identical$/m);
  const { sha256 } = (
    JSON.parse((await quittance('send', '--url', url, '--replay', 'm.as4', '--json')).out) as {
      attempts: { sha256: string }[];
    }
  ).attempts[0]!;
  expect(out).toContain(sha256.slice(0, 16));
  await receiver.says('delivered');
  expect(readdirSync(join(cwd, 'var/inbox')).filter((n) => !n.startsWith('.'))).toHaveLength(1);
  receiver.child.kill('SIGTERM');
  expect(await receiver.exited).toEqual({ code: 0, signal: null });
});

test('the log says that it runs with test certificates, before it listens', async () => {
  const receiver = serve();
  await receiver.url();
  const warning = receiver.log.find((l) => l.msg === 'test certificates');
  expect(warning?.level).toBe(40);
});

test.each(['SIGTERM', 'SIGINT'] as const)('%s ends it with 0 when nothing is in flight', async (signal) => {
  const receiver = serve();
  await receiver.url();
  receiver.child.kill(signal);
  expect(await receiver.exited).toEqual({ code: 0, signal: null });
  expect(receiver.log.at(-1)?.msg).toBe('stopped');
});

test('after SIGTERM an upload in flight gets its receipt and a new message 503, then it ends with 0', async () => {
  const receiver = serve();
  const url = await receiver.url();
  await quittance('send', '--url', url, '--save', 'm.as4');
  const upload = await halfSent(url);
  receiver.child.kill('SIGTERM');
  await receiver.says('stopping');
  const refused = await quittance('send', '--url', url);
  expect(refused.code).toBe(1);
  expect(refused.err).toMatch(/HTTP 503 without a receipt; it asks to try again later/);
  upload.socket.write(upload.rest);
  const answer = await upload.answer;
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  expect(answer).toContain('NonRepudiationInformation');
  expect(await receiver.exited).toEqual({ code: 0, signal: null });
});

test('a second signal ends it at once, also with an upload in flight', async () => {
  const receiver = serve();
  const url = await receiver.url();
  await quittance('send', '--url', url, '--save', 'm.as4');
  const upload = await halfSent(url);
  receiver.child.kill('SIGTERM');
  await receiver.says('stopping');
  receiver.child.kill('SIGTERM');
  const { code, signal } = await receiver.exited;
  expect(signal ?? code).not.toBe(0);
  upload.socket.destroy();
});

/** Half of the saved message on its way; the answer is whatever comes back until the end. */
async function halfSent(url: string): Promise<{ socket: Socket; rest: Buffer; answer: Promise<string> }> {
  const bytes = readFileSync(join(cwd, 'm.as4'));
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const head = bytes.toString('latin1').replace('\r\n', '\r\nHost: x\r\n');
  const all = Buffer.from(head, 'latin1');
  let received = '';
  const answer = new Promise<string>((resolve) => {
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(received));
  });
  await new Promise<void>((sent) => socket.write(all.subarray(0, all.length - 500), () => sent()));
  // The receiver counts a request as in flight once it has seen its head; a health check that comes after it shows that it has.
  await fetch(new URL('/health/live', url));
  return { socket, rest: all.subarray(all.length - 500), answer };
}

test('a port in use is an error that says what to do', async () => {
  const first = serve();
  const { port } = new URL(await first.url());
  const second = serve(['--config', join(cwd, 'second.toml')]);
  expect(await second.exited).toEqual({ code: 1, signal: null });
  expect(second.err()).toContain('"quittance init');

  const third = serve([], {
    QUITTANCE_HTTP__PORT: port,
    QUITTANCE_STORE__URL: 'sqlite:other.db',
    QUITTANCE_DELIVERY__INBOX: 'i',
    QUITTANCE_DELIVERY__STAGING: 's',
  });
  expect(await third.exited).toEqual({ code: 1, signal: null });
  expect(third.err()).toMatch(
    /^http\.port \d+ of 127\.0\.0\.1 is in use; stop what listens there, or set another port\.\n$/,
  );
});

test('a database that is older than its folder is refused, and accepted with --restored', async () => {
  const [database, backup] = [join(cwd, 'var/quittance.db'), join(cwd, 'backup.db')];
  for (const round of [1, 2]) {
    const receiver = serve();
    const url = await receiver.url();
    await quittance('send', '--url', url);
    await receiver.says('delivered');
    receiver.child.kill('SIGTERM');
    await receiver.exited;
    if (round === 1) copyFileSync(database, backup);
  }
  for (const suffix of ['', '-wal', '-shm']) rmSync(database + suffix, { force: true });
  copyFileSync(backup, database);
  const refused = serve();
  expect(await refused.exited).toEqual({ code: 1, signal: null });
  expect(refused.err()).toMatch(/--restored/);
  await serve(['--restored']).url();
});

test('wrong usage exits with 2, a wrong configuration with 1 and all that is wrong on stderr', async () => {
  for (const args of [
    ['bogus'],
    ['serve', '--bogus'],
    ['send', '--repeat', '0'],
    ['send', '--replay', 'x', '--ping'],
  ]) {
    expect((await quittance(...args)).code).toBe(2);
  }
  const receiver = serve([], { QUITTANCE_HTTP__PORT: 'x', QUITTANCE_HTTP__PATH: 'x' });
  expect(await receiver.exited).toEqual({ code: 1, signal: null });
  expect(receiver.err().trim().split('\n')).toHaveLength(2);
  expect(receiver.log).toEqual([]);
});

test('init writes a configuration that check and serve take as it is, and does not overwrite one', async () => {
  const { code, out } = await quittance('init');
  expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('quittance check') });
  expect((await quittance('init')).err).toMatch(/exists already; .*--force/);
  expect((await quittance('init', '--force')).code).toBe(0);
  const checked = await quittance('check');
  expect(checked.err).toBe('');
  expect(checked.out).toMatch(/^ok +config +.*quittance\.toml$/m);
  const receiver = serve();
  await receiver.url();
});

test('send says what to do when nothing listens', async () => {
  const { code, err } = await quittance('send', '--url', 'http://127.0.0.1:9/as4');
  expect(code).toBe(1);
  expect(err).toBe(
    'Nothing listens at http://127.0.0.1:9/as4; start the receiver with "npm start" or "quittance serve".\n',
  );
});

test('send shows the code and the words of a refusal, and exits with 1', async () => {
  const receiver = serve();
  const url = await receiver.url();
  const cert = (name: string) => join(PACKAGE_ROOT, 'certs', name);
  const { code, out, err } = await quittance(
    'send',
    '--url',
    url,
    '--sender-cert',
    cert('expired.crt'),
    '--sender-key',
    cert('expired.key'),
  );
  expect(code).toBe(1);
  expect(out).toMatch(/answer 1: HTTP 200, EBMS:0101, signature verified/);
  expect(err).toMatch(/^The receiver refused the message with EBMS:0101: .*expired/);
});
