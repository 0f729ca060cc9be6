import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { PARTICIPANTS } from '../../fixtures/sender/messaging.ts';
import { Inbox } from '../runner/inbox.ts';
import { readCertificate, readSigner, signersIn } from './keys.ts';
import type { Target } from './target.ts';

const ROOT = join(import.meta.dirname, '../..');
const CERTS = join(ROOT, 'certs');
const UNKNOWN = '0208:0111111111';

type Child = ChildProcessByStdio<null, Readable, Readable>;

interface Running {
  readonly child: Child;
  readonly url: URL;
}

export interface QuittanceOptions {
  /** With a list of who is serviced. */
  readonly serviced?: boolean;
  /** Files of the TLS certificate, and PEM of its CA: it speaks https. */
  readonly tls?: { readonly certificate: string; readonly key: string; readonly ca: string };
}

/** Starts the built Quittance on a free port with a database and folders of its own; `stop` removes them. */
export async function startQuittance({ serviced = false, tls }: QuittanceOptions = {}): Promise<Target> {
  const directory = mkdtempSync(join(tmpdir(), 'quittance-conformance-'));
  const list = join(directory, 'serviced.toml');
  for (const name of ['inbox', 'staging']) mkdirSync(join(directory, name));
  if (serviced) writeFileSync(list, servicedList(PARTICIPANTS.receiver));
  const settings = {
    QUITTANCE_SERVICED__FILE: serviced ? list : '',
    ...(tls === undefined ? {} : { QUITTANCE_TLS__CERTIFICATE: tls.certificate, QUITTANCE_TLS__KEY: tls.key }),
  };
  let running = await serve(directory, 0, settings);
  let second: Promise<Target> | null = null;
  return {
    name: `Quittance ${version()}`,
    get url() {
      return running.url;
    },
    tlsCa: tls?.ca,
    receiver: readCertificate(join(CERTS, 'receiver.crt')),
    sender: readSigner(join(CERTS, 'sender.crt'), join(CERTS, 'sender.key')),
    sender2: readSigner(join(CERTS, 'sender-2.crt'), join(CERTS, 'sender-2.key')),
    bad: signersIn(CERTS),
    participants: PARTICIPANTS,
    notServiced: serviced ? UNKNOWN : null,
    setServiced: serviced
      ? async (whom) => writeFileSync(list, servicedList(whom === 'all' ? '*' : PARTICIPANTS.receiver))
      : null,
    inbox: new Inbox(join(directory, 'inbox')),
    restart: async () => {
      await end(running.child, 'SIGKILL');
      running = await serve(directory, Number(running.url.port), settings);
    },
    serviced: serviced
      ? null
      : () => {
          second ??= startQuittance({ serviced: true, ...(tls === undefined ? {} : { tls }) });
          return second;
        },
    stop: async () => {
      await (await second)?.stop();
      await end(running.child, 'SIGTERM');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function version(): string {
  return (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version;
}

/** Orders to this participant, of any process; patterns with * as an operator writes them. */
function servicedList(value: string): string {
  return [
    '[[serviced]]',
    `participant = "iso6523-actorid-upis::${value}"`,
    'documentType = "busdox-docid-qns::urn:oasis:names:specification:ubl:schema:xsd:Order-2::*"',
    'process = "cenbii-procid-ubl::urn:fdc:peppol.eu:poacc:bis:ordering:*"',
    '',
  ].join('\n');
}

async function serve(directory: string, port: number, settings: Readonly<Record<string, string>>): Promise<Running> {
  const env = {
    PATH: process.env.PATH,
    QUITTANCE_HTTP__PORT: String(port),
    // The suite is one source with many faults.
    QUITTANCE_HTTP__FAILURES_PER_MINUTE: '0',
    QUITTANCE_IDENTITY__CERTIFICATE: join(CERTS, 'receiver.crt'),
    QUITTANCE_IDENTITY__KEY: join(CERTS, 'receiver.key'),
    QUITTANCE_TRUST__ISSUERS: join(CERTS, 'trust.pem'),
    QUITTANCE_TRUST__CRLS: ['ap-ca.crl', 'root.crl'].map((name) => join(CERTS, name)).join(','),
    QUITTANCE_TRUST__FETCH_CRLS: 'off',
    QUITTANCE_TRUST__CRL_DIRECTORY: join(directory, 'crls'),
    QUITTANCE_STORE__URL: `sqlite:${join(directory, 'quittance.db')}`,
    QUITTANCE_STORE__MIN_FREE: '1MB',
    QUITTANCE_DELIVERY__INBOX: join(directory, 'inbox'),
    QUITTANCE_DELIVERY__STAGING: join(directory, 'staging'),
    ...settings,
  };
  const command = [join(ROOT, 'dist/cli.js'), 'serve'];
  const child: Child = spawn(process.execPath, command, { cwd: directory, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stderr.on('data', (piece: Buffer) => {
    said += piece.toString();
  });
  const url = await new Promise<URL>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { msg, url } = parse(line);
      if (msg === 'listening' && url !== undefined) resolve(new URL(url));
    });
    child.on('exit', (code) => reject(new Error(`Quittance ended with ${code} before it listened: ${said}`)));
  });
  return { child, url };
}

function parse(line: string): { readonly msg?: string; readonly url?: string } {
  try {
    return JSON.parse(line) as { msg?: string; url?: string };
  } catch {
    return {};
  }
}

async function end(child: Child, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}
