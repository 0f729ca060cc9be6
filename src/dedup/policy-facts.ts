import { nearest } from '../config/nearest.ts';
import type { Identifier } from '../peppol/routing.ts';
import { PAYLOAD_KINDS, type PayloadKind } from './payload-kind.ts';
import type { PolicyFacts } from './policy.ts';
import type { ConditionKey } from './policy-condition.ts';

/** What an operator writes of a message; what is left out the message does not have. */
export type WrittenFacts = Readonly<Partial<Record<ConditionKey, string>>>;

/**
 * The facts of a message from what an operator writes. Identifiers may be written with their scheme or without it.
 * @throws RangeError, a sentence, for a payloadKind that does not exist
 */
export function readFacts(written: WrittenFacts): PolicyFacts {
  const kind = written.payloadKind;
  if (kind !== undefined && !isPayloadKind(kind)) {
    const near = nearest(kind, PAYLOAD_KINDS);
    throw new RangeError(
      `payloadKind ${JSON.stringify(kind)} is unknown; ${near ? `did you mean ${near}?` : `there are ${PAYLOAD_KINDS.join(', ')}.`}`,
    );
  }
  return {
    senderAp: written.senderAp ?? '',
    originalSender: identifier(written.originalSender, 'iso6523-actorid-upis'),
    finalRecipient: identifier(written.finalRecipient, 'iso6523-actorid-upis'),
    process: identifier(written.process, 'cenbii-procid-ubl'),
    documentType: identifier(written.documentType, 'busdox-docid-qns'),
    payloadKind: kind ?? null,
  };
}

function isPayloadKind(text: string): text is PayloadKind {
  return (PAYLOAD_KINDS as readonly string[]).includes(text);
}

/** A document type has `::` in its value, too; but only a value has a single colon before the first one. */
function identifier(written: string | undefined, scheme: string): Identifier | null {
  if (written === undefined || written === '') return null;
  const at = written.indexOf('::');
  const before = written.slice(0, at);
  if (at <= 0 || before.includes(':')) return { scheme, value: written };
  return { scheme: before, value: written.slice(at + 2) };
}
