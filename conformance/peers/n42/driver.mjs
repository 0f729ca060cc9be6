// Reads orders from stdin, one JSON object a line, and writes what @n42/edelivery makes of the answer to stdout in the same way.
// A process of its own, started in the folder that the package was installed in: node driver.mjs CERTS
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const [certs = ''] = process.argv.slice(2);
process.env.HOME = process.cwd(); // it keeps a database of what it has sent there
const part = (path) => import(join(process.cwd(), 'node_modules/@n42/edelivery/src', path));
const { N42Context } = await part('model/context.js');
const { buildAs4Request, sendAs4Message } = await part('sender/as4.js');

const SCHEME = 'iso6523-actorid-upis';
const quiet = { start() {}, done() {}, fail() {}, mark() {} };
const pem = (name) => readFileSync(join(certs, name), 'utf8');

/** Its context of one message, as its command line would fill it. */
function contextOf(order) {
  const context = new N42Context({
    env: 'test',
    senderId: `${SCHEME}::${order.from}`,
    receiverId: `${SCHEME}::${order.to}`,
    documentType: order.documentType,
    processId: order.process,
    senderCert: pem(`${order.as ?? 'sender'}.crt`),
    senderKey: pem(`${order.as ?? 'sender'}.key`),
    receiverCert: pem('receiver.crt'),
    fromPartyId: 'POP000001',
    toPartyId: 'POP000002',
    hostname: 'interop.quittance.test',
    endpointUrl: order.url,
    spinner: quiet,
    timer: quiet,
    persist: false,
  });
  context.keyPass = '';
  context.runtimeEnv = { get: (name) => process.env[name] };
  return context;
}

let last = null;

/** Builds a message, or takes the last one again, and sends it with the package's own retries. */
async function send(order) {
  if (order.repeat === undefined) {
    const context = contextOf(order);
    const request = buildAs4Request(context, readFileSync(order.sbd));
    const [, messageId] = /<ns2:MessageId>([^<]+)</.exec(request.body.toString('latin1')) ?? [];
    last = { context, request, messageId };
  }
  const { context, request, messageId } = last;
  const signal = await sendAs4Message(context, request.headers, request.body);
  const [error] = signal.errors;
  return {
    accepted: signal.isReceipt && error === undefined,
    verdict: signal.isReceipt
      ? 'isReceipt'
      : `errors: ${signal.errors.map((each) => each.detail || each.description).join()}`,
    checks: { RefToMessageId: signal.refToMessageId === messageId },
    messageId,
    ...(error === undefined ? {} : { error: { description: error.description, detail: error.detail } }),
  };
}

for await (const line of createInterface({ input: process.stdin })) {
  const judgement = await send(JSON.parse(line)).catch((error) => ({
    accepted: false,
    verdict: `${error.name} ${error.code ?? ''} ${error.message} ${error.details ?? ''}`,
    checks: {},
    messageId: last?.messageId,
  }));
  process.stdout.write(`${JSON.stringify(judgement)}\n`);
}
process.exit(0);
