import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

const CERTS = join(import.meta.dirname, '../certs');

/** The command line. */
export interface Options {
  readonly url: string | null;
  readonly name: string | null;
  readonly inbox: string | null;
  readonly tlsCa: string | null;
  readonly receiverCert: string;
  readonly senderCert: string;
  readonly senderKey: string;
  readonly sender2Cert: string | null;
  readonly sender2Key: string | null;
  readonly badCerts: string | null;
  readonly originalSender: string | null;
  readonly finalRecipient: string | null;
  readonly notServiced: string | null;
  readonly restartCommand: string | null;
  /** ms */
  readonly timeout: number;
  readonly parallel: number;
  readonly only: readonly string[];
  readonly junit: string | null;
  readonly html: string | null;
  readonly json: string | null;
  readonly list: boolean;
}

export const USAGE = `npm run conformance [-- OPTIONS]

Tests an AS4 receiver by the Peppol profile, over HTTP. Without --url it starts Quittance on a free port with a temporary database.

  --url URL                 the endpoint, http or https
  --tls-ca PEM              CAs of its TLS certificate, when they are not those that Node.js trusts
  --name NAME               how the reports call it
  --inbox DIR               the folder that it delivers to; without it deliveries are not looked at
  --receiver-cert PEM       certificate that messages are encrypted for and answers signed with
  --sender-cert PEM --sender-key PEM
                            an access point that it trusts
  --sender2-cert PEM --sender2-key PEM
                            another one
  --bad-certs DIR           NAME.crt and NAME.key of certificates that it must refuse (names: certs/README.md)
  --original-sender ID      participant that messages are from, such as 0208:0123456749
  --final-recipient ID      participant that it services
  --not-serviced ID         participant that it does not service
  --restart-command CMD     kills it and starts it again
  --timeout SECONDS         how long it may say nothing (60); something large may take longer
  --parallel N              cases at a time (4)
  --only ID[,ID…]           only these cases; * stands for any characters
  --list                    list the cases and run none
  --junit FILE, --html FILE, --json FILE
                            reports

Keys that are not given are those of the test PKI in certs/. Exit code: 0 all passed, 1 a failure, 2 wrong usage, or there is nothing at the URL.
`;

const ABOUT_AN_ENDPOINT = [
  'name',
  'inbox',
  'tls-ca',
  'receiver-cert',
  'sender-cert',
  'sender-key',
  'sender2-cert',
  'sender2-key',
  'bad-certs',
  'original-sender',
  'final-recipient',
  'not-serviced',
  'restart-command',
  'timeout',
] as const;

/** @throws Error with a sentence for the user */
export function readOptions(args: readonly string[]): Options | 'help' {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    strict: true,
    allowPositionals: false,
    options: {
      url: text,
      name: text,
      inbox: text,
      'tls-ca': text,
      'receiver-cert': text,
      'sender-cert': text,
      'sender-key': text,
      'sender2-cert': text,
      'sender2-key': text,
      'bad-certs': text,
      'original-sender': text,
      'final-recipient': text,
      'not-serviced': text,
      'restart-command': text,
      timeout: text,
      parallel: text,
      only: { type: 'string', multiple: true },
      junit: text,
      html: text,
      json: text,
      list: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) return 'help';
  const parallel = Number(values.parallel ?? 4);
  if (!Number.isInteger(parallel) || parallel < 1) throw new Error('--parallel must be a whole number above 0.');
  const seconds = Number(values.timeout ?? 60);
  if (!(seconds > 0 && seconds <= 86_400)) throw new Error('--timeout must be a number of seconds.');
  const alone = values.url === undefined ? ABOUT_AN_ENDPOINT.find((name) => values[name] !== undefined) : undefined;
  if (alone !== undefined) {
    throw new Error(`--${alone} goes with --url: without it, Quittance is started with keys and folders of its own.`);
  }
  for (const name of ['junit', 'html', 'json'] as const) {
    const file = values[name];
    if (file !== undefined && !existsSync(dirname(file))) throw new Error(`--${name}: there is no ${dirname(file)}.`);
  }
  const own = values['receiver-cert'] === undefined && values['sender-cert'] === undefined;
  const test = (name: string) => (own ? join(CERTS, name) : null);
  return {
    url: values.url === undefined ? null : endpointUrl(values.url),
    name: values.name ?? null,
    inbox: values.inbox ?? null,
    tlsCa: values['tls-ca'] ?? null,
    receiverCert: values['receiver-cert'] ?? join(CERTS, 'receiver.crt'),
    senderCert: values['sender-cert'] ?? join(CERTS, 'sender.crt'),
    senderKey: values['sender-key'] ?? join(CERTS, 'sender.key'),
    sender2Cert: values['sender2-cert'] ?? test('sender-2.crt'),
    sender2Key: values['sender2-key'] ?? test('sender-2.key'),
    badCerts: values['bad-certs'] ?? (own ? CERTS : null),
    originalSender: values['original-sender'] ?? null,
    finalRecipient: values['final-recipient'] ?? null,
    notServiced: values['not-serviced'] ?? null,
    restartCommand: values['restart-command'] ?? null,
    timeout: seconds * 1000,
    parallel,
    only: (values.only ?? []).flatMap((ids) => ids.split(',')).filter((id) => id !== ''),
    junit: values.junit ?? null,
    html: values.html ?? null,
    json: values.json ?? null,
    list: values.list ?? false,
  };
}

function endpointUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new Error(`--url ${text} is not the URL of an endpoint, such as https://ap.example.org/as4.`);
  }
  return url.href;
}
