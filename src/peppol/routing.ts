import { As4Error } from '../as4-error.ts';
import type { UserMessage } from '../ebms/user-message.ts';

/** A Peppol identifier: schemes are case-sensitive, values of participants are not (PFUOI 4.4.0). */
export interface Identifier {
  readonly scheme: string;
  readonly value: string;
}

/** Who sends what to whom, as the ebMS header says. */
export interface Routing {
  readonly sender: Identifier;
  readonly receiver: Identifier;
  readonly documentType: Identifier;
  readonly process: Identifier;
}

/**
 * Routing of a business message; not for a ping, which has none.
 * @throws {As4Error} EBMS:0004 when originalSender or finalRecipient is missing or untyped; 0003 when it is there twice
 */
export function routingOf(message: UserMessage): Routing {
  const { service, action } = message.collaborationInfo;
  const separator = action.indexOf('::');
  return {
    sender: participant(message, 'originalSender'),
    receiver: participant(message, 'finalRecipient'),
    documentType:
      separator < 0
        ? { scheme: '', value: action }
        : { scheme: action.slice(0, separator), value: action.slice(separator + 2) },
    process: { scheme: service.type ?? '', value: service.value },
  };
}

function participant(message: UserMessage, name: 'originalSender' | 'finalRecipient'): Identifier {
  const [property, second] = message.messageProperties.filter((p) => p.name === name);
  if (second !== undefined) {
    throw new As4Error('EBMS:0003', `the message property ${name} is there twice`, { reason: 'repeated-property' });
  }
  if (property?.type === undefined) {
    const what = `the message property ${name} ${property === undefined ? 'is missing' : 'has no @type'}`;
    throw new As4Error('EBMS:0004', what, { detail: what, reason: 'participant-missing' });
  }
  return { scheme: property.type, value: property.value };
}
