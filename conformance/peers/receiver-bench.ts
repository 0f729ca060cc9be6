import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PARTICIPANTS } from '../../fixtures/sender/messaging.ts';
import { readCertificate } from '../target/keys.ts';
import { Checks } from './checks.ts';
import type { PeerReceiver } from './peer-receiver.ts';
import { makeSample, type Sample, type SampleKind } from './sample.ts';
import type { Passed, Tap } from './tap.ts';
import { CERTS } from './tools.ts';

const CLI = join(import.meta.dirname, '../../dist/cli.js');

/** What `quittance send --json` says, as far as the cases look at it. */
export interface SendReport {
  readonly messageId: string;
  readonly verdict: string;
  readonly identical: boolean;
  readonly attempts: readonly {
    readonly status: number;
    readonly receipt: boolean;
    readonly verified: boolean;
    readonly fault?: string;
    readonly error: { readonly code: string; readonly description: string } | null;
  }[];
}

/** One run of it. */
export interface Sending {
  readonly exit: number;
  readonly report: SendReport | null;
  readonly stderr: string;
}

export interface ReceiverBenchParts {
  readonly receiver: PeerReceiver;
  /** Between `quittance send` and the receiver. */
  readonly tap: Tap;
  readonly samples: string;
}

/** What one case works with in which another product receives: the built command line as an operator runs it, the tap, and the receiver. */
export class ReceiverBench {
  readonly checks = new Checks();
  /** What the command line has made of each message, in its own words. */
  readonly verdicts: string[] = [];
  readonly #parts: ReceiverBenchParts;

  constructor(parts: ReceiverBenchParts) {
    this.#parts = parts;
    parts.tap.reset(parts.receiver.url);
  }

  get passed(): readonly Passed[] {
    return this.#parts.tap.passed;
  }

  sample(kind: SampleKind = 'invoice', ballast = 0): Sample {
    return makeSample(this.#parts.samples, kind, ballast);
  }

  /** `quittance send` with the test PKI. @param path of the endpoint, when it is not the usual one */
  async send({ messageId }: Sample, args: readonly string[], path?: string): Promise<Sending> {
    const url = path === undefined ? this.#parts.tap.url : new URL(path, this.#parts.tap.url);
    const { sender, receiver } = PARTICIPANTS;
    const command = ['send', '--json', '--url', url.href, '--receiver-cert', this.certificate('receiver')];
    const routing = ['--message-id', messageId, '--sender', sender, '--receiver', receiver];
    const sending = await run([...command, ...routing, ...args]);
    const words = [sending.report?.verdict ?? `exit code ${sending.exit}`, sending.stderr];
    this.verdicts.push(words.filter((each) => each !== '').join(': '));
    return sending;
  }

  /** The command line takes the receipt, and it is one: by our own reader, which shares no code with it. */
  receipted({ messageId }: Sample, { exit, report, stderr }: Sending): void {
    this.checks.that('exit code 0', exit === 0, `${exit}`);
    this.checks.that('nothing on stderr', stderr === '', stderr);
    this.checks.that('verdict', report?.verdict === 'receipted', report?.verdict);
    this.checks.that('its MessageId', report?.messageId === messageId, report?.messageId);
    for (const attempt of report?.attempts ?? []) this.checks.that('verified', attempt.receipt && attempt.verified);
    this.proves(this.passed, messageId);
  }

  /** These answers are receipts, signed with that certificate of the test PKI, of exactly what the requests signed. */
  proves(passed: readonly Passed[], messageId: string, signer = 'receiver'): void {
    this.checks.receipts(passed, messageId, readCertificate(this.certificate(signer)));
  }

  /** These answers are one signed error each, with this code. */
  refuses(passed: readonly Passed[], code: string): void {
    this.checks.errorSignal(passed, readCertificate(this.certificate('receiver')), [code]);
  }

  /** Path of a certificate of the test PKI. */
  certificate(name: string): string {
    return join(CERTS, `${name}.crt`);
  }

  /** The receiver has handed this document over once. */
  taken({ mark, content, document }: Sample): void {
    const found = this.#payloads().filter((payload) => payload.includes(mark));
    this.checks.that('taken once', found.length === 1, `${found.length} times`);
    if (document.wrapper !== undefined || found[0] === undefined) return;
    const root = content.subarray(content.indexOf(`<${document.root}`));
    this.checks.that('its document to the octet', found[0].includes(root.toString('latin1').trimEnd(), 0, 'latin1'));
  }

  #payloads(): Buffer[] {
    const { folder } = this.#parts.receiver;
    return readdirSync(folder)
      .filter((name) => name.endsWith('.payload'))
      .map((name) => readFileSync(join(folder, name)));
  }
}

function run(args: readonly string[]): Promise<Sending> {
  return new Promise((resolve) => {
    execFile(process.execPath, [CLI, ...args], { timeout: 180_000 }, (error, stdout, stderr) => {
      const exit = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ exit, report: parse(stdout), stderr: stderr.trim() });
    });
  });
}

function parse(stdout: string): SendReport | null {
  try {
    return JSON.parse(stdout) as SendReport;
  } catch {
    return null;
  }
}
