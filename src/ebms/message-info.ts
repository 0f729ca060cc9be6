import type { XmlElement } from '../xml/tree.ts';
import { attributesOf, Cursor, invalidHeader, stringOf, tokenOf } from './cursor.ts';
import { parseDateTime } from './date-time.ts';
import { messageIdFault } from './message-id.ts';
import { quote } from './quote.ts';
import type { MessageInfo } from './user-message.ts';

/** @throws {As4Error} EBMS:0009 for an impossible Timestamp and an id that cannot serve as one */
export function readMessageInfo(element: XmlElement): MessageInfo {
  attributesOf(element, []);
  const at = new Cursor(element);
  const timestampElement = at.one('Timestamp');
  const messageId = readId(at.one('MessageId'));
  const refElement = at.optional('RefToMessageId');
  const refToMessageId = refElement === undefined ? undefined : readId(refElement);
  at.end();
  attributesOf(timestampElement, []);
  const timestamp = tokenOf(timestampElement);
  const moment = parseDateTime(timestamp);
  if (moment === null) throw invalidHeader(`eb:Timestamp ${quote(timestamp)} is not an xsd:dateTime`);
  return {
    timestamp,
    timestampMs: moment.ms,
    messageId,
    ...(refToMessageId === undefined ? {} : { refToMessageId }),
  };
}

function readId(element: XmlElement): string {
  attributesOf(element, []);
  const id = stringOf(element);
  const fault = messageIdFault(id);
  if (fault !== null) throw invalidHeader(`eb:${element.local} ${fault}`, 'bad-message-id');
  return id;
}
