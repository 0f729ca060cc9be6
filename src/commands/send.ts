import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { loadConfig, PACKAGE_ROOT } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { type SendOptions, type SendResult, sendMessage } from '../send/send.ts';
import { CommandError, type ExitCode, type Io } from './io.ts';

/** As commander gives them. */
export interface SendArguments {
  readonly config?: string;
  readonly url?: string;
  readonly repeat: number;
  readonly messageId?: string;
  readonly document?: string;
  readonly senderCert?: string;
  readonly senderKey?: string;
  readonly receiverCert?: string;
  readonly save?: string;
  readonly replay?: string;
  readonly sender?: string;
  readonly receiver?: string;
  readonly instanceId?: string;
  readonly compress: boolean;
  readonly ping: boolean;
  readonly json: boolean;
}

/** Sends a message, as a Peppol access point would, as often as asked for, and shows what came back and whether it holds. */
export async function send(a: SendArguments, io: Io): Promise<ExitCode> {
  if (a.replay && (a.document || a.ping || a.save)) {
    throw new CommandError(
      '--replay sends bytes that were saved before; it goes with neither --document, --ping nor --save.',
      2,
    );
  }
  if (a.ping && a.document) throw new CommandError('A ping carries no document; leave out --document or --ping.', 2);
  const options = await sendOptions(a, io);
  await Promise.all([a.document, a.replay].map((file) => mustExist(file, io)));
  const result = await sendMessage(options).catch((cause: unknown) => {
    throw explain(cause, options.url);
  });
  if (a.json) io.out(JSON.stringify(result));
  else for (const line of describe(result, options)) io.out(line);
  if (result.complaint !== null) io.err(result.complaint);
  return result.complaint === null ? 0 : 1;
}

async function sendOptions(a: SendArguments, io: Io): Promise<SendOptions> {
  // Only what is not given by hand is taken from the configuration of the receiver, so that a test of another one needs none.
  const { config } =
    a.url && a.receiverCert ? { config: null } : await loadConfig({ file: a.config ?? null, env: io.env, cwd: io.cwd });
  const here = (path: string) => resolve(io.cwd, path);
  return {
    url: a.url ?? urlOf(config!),
    senderCertificate: a.senderCert ? here(a.senderCert) : join(PACKAGE_ROOT, 'certs/sender.crt'),
    senderKey: a.senderKey ? here(a.senderKey) : join(PACKAGE_ROOT, 'certs/sender.key'),
    receiverCertificate: a.receiverCert ? here(a.receiverCert) : certificateOf(config!),
    ...(a.messageId === undefined ? {} : { messageId: a.messageId }),
    ...(a.document === undefined ? {} : { document: here(a.document) }),
    ...(a.save === undefined ? {} : { save: here(a.save) }),
    ...(a.replay === undefined ? {} : { replay: here(a.replay) }),
    ...(a.sender === undefined ? {} : { originalSender: a.sender }),
    ...(a.receiver === undefined ? {} : { finalRecipient: a.receiver }),
    ...(a.instanceId === undefined ? {} : { instanceIdentifier: a.instanceId }),
    repeat: a.repeat,
    compress: a.compress,
    ping: a.ping,
  };
}

function urlOf(config: Config): string {
  const { host, port, path } = config.http;
  const scheme = config.tls.certificate === '' && config.tls.pkcs12 === '' ? 'http' : 'https';
  if (port === 0)
    throw new CommandError('http.port is 0, so the receiver took a port that only its log knows; pass --url.');
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `${scheme}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}${path}`;
}

function certificateOf(config: Config): string {
  if (config.identity.certificate) return config.identity.certificate;
  throw new CommandError('The receiver has a PKCS#12 file; pass its certificate as PEM with --receiver-cert.');
}

async function mustExist(file: string | undefined, io: Io): Promise<void> {
  if (file === undefined) return;
  const path = resolve(io.cwd, file);
  const found = await stat(path).catch(() => null);
  if (!found?.isFile()) throw new CommandError(`There is no file ${path}.`);
}

/** What Node says of a certificate that it does not accept. */
const TLS_FAULTS = /^(ERR_TLS_CERT_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(GET|VERIFY)_)/;

function explain(cause: unknown, url: string): unknown {
  for (let e = cause; e instanceof Error; e = e.cause) {
    const { code } = e as NodeJS.ErrnoException;
    if (code === 'ECONNREFUSED')
      return new CommandError(
        `Nothing listens at ${url}; start the receiver with "npm start" or "quittance serve".`,
        1,
        cause,
      );
    if ((code === 'ENOENT' || code === 'EACCES') && e.message.includes('open'))
      return new CommandError(
        `${(e as NodeJS.ErrnoException).path} cannot be read (${code}); name another file.`,
        1,
        cause,
      );
    if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
      return new CommandError(`The host of ${url} cannot be found.`, 1, cause);
    if (code !== undefined && TLS_FAULTS.test(code))
      return new CommandError(
        `The TLS certificate at ${url} does not hold (${e.message}); pass --url with the host name that is in it, and name a CA of your own in NODE_EXTRA_CA_CERTS.`,
        1,
        cause,
      );
    if (code === 'ECONNRESET' || code === 'EPIPE')
      return new CommandError(
        `${url} closed the connection without an answer; send again with the same --message-id, or the saved bytes with --replay.`,
        1,
        cause,
      );
  }
  return cause;
}

function describe(result: SendResult, o: SendOptions): string[] {
  const lines = [`Message ${result.messageId} to ${o.url}`];
  result.attempts.forEach((a, i) => {
    const what = a.receipt
      ? `receipt, ${a.verified ? 'signature verified' : 'NOT VERIFIED'}`
      : a.error
        ? `${a.error.code}${a.error.detail ? ` (${a.error.detail})` : ''}, ${a.verified ? 'signature verified' : 'not signed or not verified'}`
        : 'no signal';
    lines.push(
      `  answer ${i + 1}: HTTP ${a.status}, ${what}, ${a.bytes} bytes, sha256 ${a.sha256.slice(0, 16)}…, ${Math.round(a.ms)} ms`,
    );
  });
  if (o.save) lines.push(`The bytes sent are in ${o.save}; send them again with --replay ${o.save}`);
  const n = result.attempts.length;
  if (n > 1) lines.push(`${n} answers, ${result.identical ? 'byte-identical' : 'NOT identical'}`);
  return lines;
}
