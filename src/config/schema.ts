import { z } from 'zod';
import {
  addresses,
  choice,
  duration,
  fileMode,
  flag,
  integer,
  path,
  paths,
  secret,
  size,
  storeUrl,
  text,
  texts,
} from './fields.ts';

const MANY = 1_000_000;

/** How long a MessageId is remembered when neither the configuration nor a rule says so. */
export const DEFAULT_WINDOW = '90d';
const HOSTS = 'a list of hosts such as "crl.example.org" or "crl.example.org:8080"';
const HOST = /^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(?::\d{1,5})?$/;
const HTTP_URL = /^https?:\/\/[^\s/]+\S*$/;

/** Every key with its type, default and comment (architecture §7). The names are a contract with operators: keys are only ever added. */
export const configSchema = z.strictObject({
  environment: choice(['test', 'production'], '"production" refuses certificates of a test CA, also our own.'),
  http: section({
    host: text('127.0.0.1', 'a host name or an IP address', 'Address to listen on; "0.0.0.0" for all.', /^\S+$/),
    port: integer(8080, { min: 0, max: 65535 }, 'Port to listen on; 0 takes any that is free (the log says which).'),
    path: text('/as4', 'a path that begins with "/"', 'Where messages are posted to.', /^\/[^\s?#]*$/),
    maxBody: size('110MB', 'Largest request. Peppol asks for payloads of 100 MB.'),
    inFlight: integer(
      64,
      { min: 1, max: MANY },
      'Messages worked on at a time; the next one gets 503 and comes again.',
    ),
    waiting: integer(
      256,
      { min: 0, max: MANY },
      'Requests that may wait for another copy of the same message, on top of http.inFlight.',
    ),
    waitForCopy: duration('20s', 'How long a copy waits for the one that came first, then 503.'),
    headersTimeout: duration('15s', 'Time for the header of a request to arrive.'),
    envelopeTimeout: duration(
      '15s',
      'Time for what shows who sent it to arrive: the envelope, or a message up to limits.buffer as a whole.',
    ),
    requestTimeout: duration('5m', 'Time for a whole request to arrive.'),
    keepAliveTimeout: duration('65s', 'An idle connection is closed after this. Longer than that of a proxy in front.'),
    retryAfter: duration('30s', 'What a 503 tells the sender to wait.'),
    shutdownTimeout: duration('30s', 'Time for requests in flight to finish after SIGTERM.'),
    allowPlainHttp: flag('Without [tls], listen on an address that other machines reach: a proxy there must do TLS.'),
    trustProxy: addresses(
      'Proxies in front of us: from these, and only these, X-Forwarded-For says who the sender is.',
    ),
    foldedHeaders: choice(
      ['accept', 'refuse'],
      'A Content-Type that is folded over several lines, as JavaMail writes it; every other folded field gets 400.',
    ),
    inFlightPerSource: integer(
      56,
      { min: 1, max: MANY },
      'Messages of one source address at a time, those that only arrive among them; the next one gets 503.',
    ),
    strangers: integer(
      1024,
      { min: 1, max: MANY },
      'Messages from addresses that got no receipt for a new message yet: they arrive and wait beside http.inFlight.',
    ),
    failuresPerMinute: integer(
      600,
      { min: 0, max: MANY },
      'Requests without an authentic message from one source address; beyond it gets 503 for a while. 0: no limit.',
    ),
    draining: integer(
      64,
      { min: 0, max: MANY },
      'Refused uploads read to their end at a time; a further one is cut off after its answer.',
    ),
    maxConnections: integer(
      4096,
      { min: 1, max: MANY },
      'Open connections, a quarter of them of one source at most; a further one is closed at once.',
    ),
  }),
  tls: section({
    certificate: path(
      '',
      'HTTPS without a proxy: certificate and its chain (PEM). Not that of [identity]. Read again on SIGHUP.',
      { required: false },
    ),
    key: path('', 'Its private key (PEM).', { required: false }),
    pkcs12: path('', 'Instead of both: a PKCS#12 file.', { required: false }),
    password: secret('Of that file or of an encrypted key. Better in QUITTANCE_TLS__PASSWORD.'),
  }),
  identity: section({
    certificate: path('certs/receiver.crt', 'Our access point certificate (PEM; issuers may follow it).', {
      required: false,
    }),
    key: path('certs/receiver.key', 'Its private key (PEM).', { required: false }),
    pkcs12: path('', 'Instead of both: a PKCS#12 file.', { required: false }),
    password: secret('Of the PKCS#12 file or of an encrypted key. Better in QUITTANCE_IDENTITY__PASSWORD.'),
    previousKey: path('', 'Private key of the certificate before: still decrypts during roll-over.', {
      required: false,
    }),
  }),
  trust: section({
    issuers: path(
      'certs/trust.pem',
      'The access point CAs, and the self-signed roots above them (PEM). A root never issues a leaf.',
      { required: true },
    ),
    crls: paths(['certs/ap-ca.crl'], 'Revocation lists of those CAs (DER or PEM).'),
    revocation: choice(
      ['hard', 'soft', 'off'],
      'Without a valid list: "hard" answers 503, "soft" accepts and warns, "off" never looks.',
    ),
    fetchCrls: choice(
      ['on', 'off'],
      'Fetch the lists from where the certificates say, as long as trust.crlHosts has the host.',
    ),
    crlHosts: texts(
      ['crl.one.nl.digicert.com'],
      HOSTS,
      'Hosts that lists are fetched from ("host", or "host:port" for another port).',
      HOST,
    ),
    crlUrls: texts(
      [],
      'a list of http(s) URLs',
      'Fetch the lists from here, and not from where the certificates say: a mirror.',
      HTTP_URL,
    ),
    crlDirectory: path('var/crls', 'Where fetched lists are kept, for the next start.', { required: true }),
    crlMaxBytes: size('2MB', 'Largest list that is fetched.'),
    fetchInterval: duration('1h', 'A list is fetched again after this, or later when its server says so.'),
    fetchTimeout: duration('5s', 'Time for one list, or one answer of an OCSP responder.'),
    ocsp: choice(['off', 'on'], 'Also ask the OCSP responder of the CA; when it does not answer, the list decides.'),
    ocspHosts: texts(['ocsp.one.nl.digicert.com'], HOSTS, 'Hosts of OCSP responders that may be asked.', HOST),
    ocspUrl: text(
      '',
      'an http(s) URL, or "" for none',
      'Ask this responder, and not the one that the certificate names.',
      /^(https?:\/\/\S+)?$/,
    ),
  }),
  store: section({
    url: storeUrl('sqlite:var/quittance.db', 'The database. Large payloads lie in a directory beside it.'),
    minFree: size('1GB', 'With less free space new messages get 503; duplicates are still answered.'),
  }),
  delivery: section({
    inbox: path('var/inbox', 'Where the backend finds one directory per message.', { required: true }),
    staging: path('var/staging', 'Where they are made; on the same file system as the inbox.', { required: true }),
    mode: fileMode(
      '0770',
      'Permissions of a directory in the inbox (files: without x). The backend must be able to delete it.',
    ),
    group: text(
      '',
      'a group name or number, or ""',
      'Group that the directories are given to; "" leaves it.',
      /^[^\s:]*$/,
    ),
    afterPowerLoss: choice(
      ['deliver', 'review'],
      'A hand-over whose fate a power loss hides: again, marked possibleDuplicate, or kept for review.',
    ),
  }),
  serviced: section({
    file: path('', 'Who is serviced: a list that is read again when it changes. "" is everything.', {
      required: false,
    }),
  }),
  peppol: section({
    sbdh: choice(['strict', 'report'], '"report" turns format faults of the SBDH (not contradictions) into warnings.'),
  }),
  duplicates: section({
    policy: path(
      '',
      'Rules by sender, recipient, process and document type; read again when it changes. "" is the rules that ship with the program ("quittance policy show").',
      { required: false },
    ),
    window: duration(
      DEFAULT_WINDOW,
      'How long a MessageId is remembered where no rule says it. Without a policy of your own, another value than 90d holds for every message.',
    ),
    staleTimestamp: choice(
      ['review', 'deliver', 'refuse'],
      'A new message whose signed eb:Timestamp is older than the window: perhaps a replay.',
    ),
    outsideWindow: choice(
      ['deliver', 'review'],
      'A key whose window has passed, in a fresh message: delivered with a warning, or kept for review.',
    ),
    onConflict: choice(
      ['reject', 'hold'],
      'A known MessageId with another content: an error for the sender, or a receipt and review.',
    ),
    interchangeKey: choice(
      ['reference+sender', 'reference', 'reference+sender+content'],
      'What names an EDIFACT or X12 interchange.',
    ),
    onInterchangeConflict: choice(
      ['review', 'allow', 'suppress'],
      'A known interchange or InstanceIdentifier with another content, under a new MessageId.',
    ),
    replacePending: flag('Such an interchange replaces the earlier one while that has not been handed over.'),
    rebuilt: choice(
      ['own-receipt', 'first-receipt'],
      'A repeat with rebuilt headers: its own receipt, or the bytes of the first one.',
    ),
  }),
  retention: section({
    payload: duration('30d', 'Payloads are kept this long in the database after they were received.'),
    evidence: duration('400d', 'Envelope, signer and receipts: what proves later who sent what.'),
    audit: duration('3650d', 'Decisions: longer than the longest window, so that each suppression can be explained.'),
  }),
  review: section({
    maxWaiting: integer(
      0,
      { min: 0, max: MANY },
      'More receipted messages than this waiting for an operator are told by /health/ready.',
    ),
    maxAge: duration('24h', 'So is one that waits longer than this.'),
    exceptionsPerHour: integer(
      1000,
      { min: 0, max: MANY },
      'Approvals and redeliveries within an hour; a further one is refused.',
    ),
  }),
  limits: section({
    envelope: size('256KiB', 'Largest SOAP envelope.'),
    parts: integer(32, { min: 1, max: 1000 }, 'MIME parts of a message.'),
    partHeaders: size('16KiB', 'Header bytes of one MIME part.'),
    payload: size('250MB', 'Largest payload once decompressed.'),
    ratio: integer(
      300,
      { min: 1, max: MANY },
      'Decompressed bytes per compressed byte, above 128 KiB. Gzip ends at 1032; equal lines of an invoice reach 230. Up to 10 is always taken.',
    ),
    xmlAttachment: size(
      '20MB',
      'Largest attachment that its sender has declared to be XML, which must be canonicalised.',
    ),
    buffer: size('1MiB', 'Requests up to this are held in memory whole; larger ones stream.'),
    buffered: size('64MiB', 'Memory for that over all requests.'),
  }),
  log: section({
    level: choice(['info', 'trace', 'debug', 'warn', 'error', 'fatal', 'silent'], 'The least level that is logged.'),
  }),
});

/** The configuration as the program uses it: milliseconds, bytes and absolute paths; nothing in it can be changed. */
export type Config = DeepReadonly<z.output<typeof configSchema>>;

type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

function section<T extends z.ZodRawShape>(shape: T) {
  // The schema gives every key its default, so an absent section is an empty one.
  return z.strictObject(shape).prefault({} as never);
}
