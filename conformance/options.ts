import { join } from 'node:path';
import { parseArgs } from 'node:util';

const CERTS = join(import.meta.dirname, '../certs');

/** The command line. */
export interface Options {
  readonly url: string | null;
  readonly name: string | null;
  readonly inbox: string | null;
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
  readonly parallel: number;
  readonly only: readonly string[];
  readonly junit: string | null;
  readonly html: string | null;
  readonly json: string | null;
  readonly list: boolean;
}

export const USAGE = `npm run conformance [-- OPTIONS]

Tests an AS4 receiver by the Peppol profile, over HTTP. Without --url it starts Quittance on a free port with a temporary database.

  --url URL                 the endpoint
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
  --parallel N              cases at a time (4)
  --only ID[,ID…]           only these cases; * stands for any characters
  --list                    list the cases and run none
  --junit FILE, --html FILE, --json FILE
                            reports

Keys that are not given are those of the test PKI in certs/. Exit code: 0 all passed, 1 a failure, 2 wrong usage.
`;

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
  if (values.url === undefined && (values.inbox ?? values['restart-command']) !== undefined) {
    throw new Error(
      '--inbox and --restart-command go with --url: without it, Quittance is started with folders of its own.',
    );
  }
  const own = values['receiver-cert'] === undefined && values['sender-cert'] === undefined;
  const test = (name: string) => (own ? join(CERTS, name) : null);
  return {
    url: values.url === undefined ? null : new URL(values.url).href,
    name: values.name ?? null,
    inbox: values.inbox ?? null,
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
    parallel,
    only: (values.only ?? []).flatMap((ids) => ids.split(',')).filter((id) => id !== ''),
    junit: values.junit ?? null,
    html: values.html ?? null,
    json: values.json ?? null,
    list: values.list ?? false,
  };
}
