import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { XmlDocument } from 'libxml2-wasm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { caExtensions, makeCertificate, newKeys } from '../certs/maker.ts';
import { startQuittance } from './target/quittance.ts';
import type { Target } from './target/target.ts';

const CERTS = join(import.meta.dirname, '../certs');
let directory: string;
let target: Target;

/** Quittance with a TLS certificate of a CA that nobody else knows. */
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'quittance-https-'));
  const issue = (
    name: string,
    issuer: Parameters<typeof makeCertificate>[0]['issuer'],
    extensions: readonly object[],
  ) =>
    makeCertificate({
      name,
      issuer,
      extensions,
      keys: newKeys(2048),
      commonNames: [name],
      organisation: 'Tests',
      unit: 'TLS',
      notBefore: '2020-01-01',
      notAfter: '2099-01-01',
    });
  const ca = issue('private CA', null, caExtensions(0));
  const server = issue('localhost', ca, [
    {
      name: 'subjectAltName',
      altNames: [
        { type: 7, ip: '127.0.0.1' },
        { type: 2, value: 'localhost' },
      ],
    },
    { name: 'extKeyUsage', serverAuth: true },
  ]);
  writeFileSync(file('ca.crt'), ca.pem);
  writeFileSync(file('tls.crt'), server.pem);
  writeFileSync(file('tls.key'), server.keyPem, { mode: 0o600 });
  target = await startQuittance({ tls: { certificate: file('tls.crt'), key: file('tls.key'), ca: ca.pem } });
});

afterAll(async () => {
  await target?.stop();
  rmSync(directory, { recursive: true, force: true });
});

function file(name: string): string {
  return join(directory, name);
}

interface Said {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

async function conformance(...args: readonly string[]): Promise<Said> {
  const command = ['--import', 'tsx', join(import.meta.dirname, 'cli.ts'), ...args];
  const child: ChildProcess = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, err] = ['', ''];
  child.stdout?.on('data', (piece: Buffer) => {
    out += piece.toString();
  });
  child.stderr?.on('data', (piece: Buffer) => {
    err += piece.toString();
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, out, err };
}

it('tests an https endpoint whose certificate is of a CA of one’s own, lost receipts among it', async () => {
  const { inbox, url } = target;
  expect(url.protocol).toBe('https:');
  const said = await conformance(
    ...['--url', url.href, '--tls-ca', file('ca.crt'), '--inbox', inbox?.directory ?? ''],
    ...['--only', 'AS4_CP_TA01,AS4_CP_TA10-*,Q-DUP-01,Q-DUP-32,SBD-30,NEG-HTTP-01,RCPT-*'],
    ...['--junit', file('junit.xml'), '--html', file('report.html')],
  );
  expect(said.err).toBe('');
  expect(said.out).toMatch(/24 passed, 0 failed, 2 skipped/);
  expect(said.out).toMatch(/^case +source +what was asserted +result +ms$/m);
  expect(said.code).toBe(0);
  const junit = XmlDocument.fromBuffer(readFileSync(file('junit.xml')));
  expect(junit.find('/testsuite/testcase')).toHaveLength(26);
  expect(junit.find('/testsuite/testcase/skipped')).toHaveLength(2);
  junit.dispose();
});

it('does not take a certificate of a CA that it was not told of', async () => {
  const said = await conformance('--url', target.url.href, '--only', 'PING-01');
  expect(said.err).toMatch(/^There is nothing to test at https:.*certificate/);
  expect(said.code).toBe(2);
});

it('shows request and answer of every failure in one page that needs no other', async () => {
  const said = await conformance(
    ...['--url', target.url.href, '--tls-ca', file('ca.crt'), '--receiver-cert', join(CERTS, 'sender.crt')],
    ...['--sender-cert', join(CERTS, 'sender.crt'), '--sender-key', join(CERTS, 'sender.key')],
    ...['--only', 'AS4_CP_TA01,NEG-HTTP-01,RCPT-01', '--html', file('report.html')],
  );
  expect(said.out).toMatch(/1 passed, 2 failed/);
  expect(said.code).toBe(1);
  const page = readFileSync(file('report.html'), 'utf8');
  for (const id of ['AS4_CP_TA01', 'RCPT-01']) {
    const from = page.indexOf(`<h3 id="${id}">`);
    const text = page.slice(from, page.indexOf('<h3', from + 1));
    expect(text).toMatch(/<h4>Request<\/h4><pre>POST \/as4 HTTP\/1\.1\nHost: 127\.0\.0\.1/);
    expect(text).toMatch(/<h4>Answer<\/h4><pre>HTTP 200\n/);
  }
  expect(page).not.toMatch(/<(?:script|link|img|iframe)\b|\bsrc=|@import|url\(/);
});

it.each([
  [['--url', 'nonsense'], '--url nonsense is not the URL of an endpoint'],
  [['--url', 'ftp://127.0.0.1/'], 'is not the URL of an endpoint'],
  [
    ['--url', 'http://127.0.0.1:9/', '--only', 'PING-01'],
    'There is nothing to test at http://127.0.0.1:9/: connect ECONNREFUSED',
  ],
  [['--url', 'http://127.0.0.1:9/', '--inbox', '/nowhere'], '--inbox /nowhere is not a directory.'],
  [['--url', 'http://127.0.0.1:9/', '--receiver-cert', '/nowhere'], '/nowhere cannot be used'],
  [
    [
      '--url',
      'http://127.0.0.1:9/',
      '--sender-cert',
      join(CERTS, 'sender.crt'),
      '--sender-key',
      join(CERTS, 'other.key'),
    ],
    'is not the key of the certificate',
  ],
  [['--sender-key', 'own.key'], '--sender-key goes with --url'],
  [['--junit', '/nowhere/junit.xml'], '--junit: there is no /nowhere.'],
  [['--only', 'NO-SUCH-CASE'], 'There is no case NO-SUCH-CASE'],
  [['--no-such-option'], 'Unknown option'],
])('says what is wrong with %j, and ends with 2', async (args, sentence) => {
  const said = await conformance(...args);
  expect(said.err).toContain(sentence);
  expect(said.err).not.toMatch(/^ +at /m);
  expect(said.code).toBe(2);
});

it('explains its options', async () => {
  const said = await conformance('--help');
  for (const option of ['--url', '--inbox', '--receiver-cert', '--sender-key', '--only', '--junit', '--html']) {
    expect(said.out).toContain(option);
  }
  expect(said.code).toBe(0);
});
