import { readCanonical } from '../answer/canonical-tree.ts';
import { NS, X509V3 } from '../answer/namespaces.ts';
import { SignalSchema } from '../answer/schema.ts';
import type { Case } from '../case.ts';
import type { SeenSignal, Trial } from '../runner/trial.ts';

/** What is wrong with one signal; null: nothing. */
type Check = (seen: SeenSignal) => string | null;

/** An assertion about every signal of the whole run. */
function everySignal(
  id: string,
  source: string,
  asserts: string,
  check: (trial: Trial) => Check,
  basis: Case['basis'] = 'norm',
): Case {
  return {
    id: `RCPT-${id}`,
    source,
    asserts,
    basis,
    when: 'last',
    async run(trial) {
      // With --only there may be none yet.
      if (!trial.seen.some(({ signal }) => signal.receipt !== null)) await trial.send(trial.make({ document: null }));
      const one = check(trial);
      const faults = trial.seen.map((seen) => ({ seen, fault: one(seen) })).filter(({ fault }) => fault !== null);
      const [first] = faults;
      if (first !== undefined) {
        // So that the report shows one of them.
        trial.exchanges.push(first.seen.exchange);
        trial.fail('form', `${faults.length} of ${trial.seen.length} signals: ${first.fault}`);
      }
      if (trial.seen.length === 0) trial.fail('no-signal', 'there was not one signal');
    },
  };
}

const unless = (holds: boolean, fault: string) => (holds ? null : fault);

/** The form of receipts and errors, looked at in all answers of the run. */
export const ANSWER_FORM_CASES: readonly Case[] = [
  everySignal(
    '01',
    'AS4 §5.1.8(c); facts §1.7',
    'Every signal is signed by the receiver over eb:Messaging and Body.',
    () =>
      ({ signal }) =>
        signal.fault,
  ),
  everySignal(
    '02',
    'facts §2.7',
    'There is exactly one wsse:Security with one ds:Signature.',
    () =>
      ({ signal: { envelope } }) =>
        unless(
          envelope.securities === 1 && envelope.signatures === 1,
          `${envelope.securities} Security, ${envelope.signatures} Signature`,
        ),
  ),
  everySignal(
    '03',
    'facts §2.7',
    'eb:Messaging has a wsu:Id.',
    () =>
      ({ signal: { envelope } }) =>
        unless(envelope.messagingId !== null, 'no wsu:Id'),
  ),
  everySignal(
    '04',
    'PAS4 §4.7',
    'The token is a BinarySecurityToken of type X509v3.',
    () =>
      ({ signal: { envelope } }) =>
        unless(envelope.tokenType === X509V3, `ValueType ${envelope.tokenType}`),
  ),
  everySignal(
    '05',
    'AS4 App. A.3; facts §2.7',
    'eb:Receipt has one child, NonRepudiationInformation.',
    () =>
      ({ signal: { receipt } }) =>
        unless(
          receipt === null || receipt.children.join() === 'NonRepudiationInformation',
          `its children are ${receipt?.children.join(', ')}`,
        ),
    'reading',
  ),
  everySignal('06', 'Core §5.2.3, XSD; EBBP', 'eb:Messaging is valid against the grammar of signals.', () => {
    const schema = new SignalSchema();
    return ({ signal }) => schema.faultOf(signal.messaging);
  }),
  everySignal('07', 'Core §5.2.1', 'eb:Messaging has mustUnderstand="true".', () => ({ signal }) => {
    const value = readCanonical(signal.messaging).attributes[`{${NS.soap}}mustUnderstand`];
    return unless(value === 'true' || value === '1', `mustUnderstand is ${value}`);
  }),
  everySignal(
    '08',
    'AS4 §3.1',
    'The SOAP Body is empty.',
    () =>
      ({ signal }) =>
        unless(signal.envelope.bodyEmpty, 'there is something in it'),
  ),
  everySignal(
    '09',
    'Core §5.1.1; facts §2.7',
    'The answer is plain SOAP: no multipart, no Content-Encoding.',
    () =>
      ({ answer }) =>
        unless(
          /^application\/soap\+xml\b/i.test(answer.headers['content-type'] ?? '') &&
            answer.headers['content-encoding'] === undefined,
          `Content-Type ${answer.headers['content-type']}, Content-Encoding ${answer.headers['content-encoding']}`,
        ),
  ),
  everySignal(
    '10',
    'facts §2.3',
    'There is no wsu:Timestamp, which would make a stored receipt expire.',
    () =>
      ({ signal }) =>
        unless(signal.envelope.timestamps === 0, 'there is one'),
    'reading',
  ),
  everySignal(
    '11',
    'Core §5.2.2.1',
    'MessageId has the form of RFC 2822 without angle brackets.',
    () =>
      ({ signal }) =>
        unless(/^[^\s<>@]+@[^\s<>@]+$/.test(signal.messageId ?? ''), `it is ${signal.messageId}`),
  ),
  everySignal('12', 'Core §5.2.2.1', 'Each signal has a MessageId of its own.', (trial) => {
    const bodies = new Map<string, Buffer>();
    for (const { signal, answer } of trial.seen) {
      if (!bodies.has(signal.messageId ?? '')) bodies.set(signal.messageId ?? '', answer.body);
    }
    return ({ signal, answer }) =>
      unless(bodies.get(signal.messageId ?? '')?.equals(answer.body) === true, `${signal.messageId} came twice`);
  }),
  everySignal('13', 'Core §5.2.2.1', 'eb:Timestamp is now, within five minutes, in UTC.', () => ({ signal, at }) => {
    const timestamp = signal.timestamp ?? '';
    const time = Date.parse(/Z$|[+-]\d\d:\d\d$/.test(timestamp) ? timestamp : `${timestamp}Z`);
    return unless(Math.abs(time - at) < 300_000, `it is ${timestamp}`);
  }),
];
