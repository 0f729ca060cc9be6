import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { certFile } from '../../../certs/read.ts';
import type { Certificate } from '../certificate.ts';

/** What the responder knows and who signs for it. Names are those of the test PKI. */
export interface ResponderOptions {
  readonly good?: readonly Certificate[];
  readonly revoked?: readonly Certificate[];
  /** `ocsp` (delegated by the CA) unless a test wants another. */
  readonly signer?: string;
  /** The CA that the answers are about. */
  readonly ca?: string;
  /** More arguments of `openssl ocsp`, such as `-resp_key_id`. */
  readonly more?: readonly string[];
}

/** The answer of OpenSSL to a request, both DER. It is of now, and holds for a day. */
export function opensslAnswer(request: Buffer, o: ResponderOptions = {}): Buffer {
  return inDirectory((directory) => {
    const [question, answer] = [join(directory, 'request.der'), join(directory, 'answer.der')];
    writeFileSync(question, request);
    execFileSync('openssl', [...argumentsOf(directory, o), '-reqin', question, '-respout', answer], { stdio: 'pipe' });
    return readFileSync(answer);
  });
}

export interface Responder {
  readonly url: string;
  readonly host: string;
  stop(): Promise<void>;
}

/** A responder that runs, on a free port. */
export async function startOpensslResponder(o: ResponderOptions = {}): Promise<Responder> {
  const directory = mkdtempSync(join(tmpdir(), 'quittance-ocsp-'));
  const process = spawn('openssl', [...argumentsOf(directory, o), '-port', '0'], { stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = new Promise<void>((resolve) => {
    process.once('exit', () => resolve());
  });
  const port = await new Promise<string>((resolve, reject) => {
    let said = '';
    const hear = (chunk: Buffer) => {
      said += chunk.toString();
      const found = /^ACCEPT .*:(\d+)/m.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    };
    process.stdout.on('data', hear);
    process.stderr.on('data', hear);
    process.once('exit', () => reject(new Error(`openssl ocsp has ended: ${said}`)));
  });
  return {
    url: `http://127.0.0.1:${port}/`,
    host: `127.0.0.1:${port}`,
    async stop() {
      process.kill();
      await exited;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function argumentsOf(
  directory: string,
  { good = [], revoked = [], signer = 'ocsp', ca = 'ap-ca', more = [] }: ResponderOptions,
) {
  const index = join(directory, 'index.txt');
  const row = (state: string, when: string, { serial }: Certificate) =>
    `${state}\t470101000000Z\t${when}\t${(serial.length % 2 ? `0${serial}` : serial).toUpperCase()}\tunknown\t/CN=x\n`;
  const rows = [...good.map((c) => row('V', '', c)), ...revoked.map((c) => row('R', '230601000000Z', c))];
  writeFileSync(index, rows.join(''));
  return [
    'ocsp',
    ...['-index', index, '-CA', certFile(`${ca}.crt`), '-ndays', '1'],
    ...['-rsigner', certFile(`${signer}.crt`), '-rkey', certFile(`${signer}.key`), ...more],
  ];
}

function inDirectory<T>(work: (directory: string) => T): T {
  const directory = mkdtempSync(join(tmpdir(), 'quittance-ocsp-'));
  try {
    return work(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
