import { childrenNamed, is, type XmlElement } from '../xml/tree.ts';
import { attributesOf, Cursor, invalidHeader, trimXml } from './cursor.ts';
import { EB, S12 } from './namespaces.ts';
import { readUserMessage } from './read-user-message.ts';
import { readSignalMessage, type SignalMessage } from './signal-message.ts';

/** eb:MessageInfo (Core §5.2.2.1). */
export interface MessageInfo {
  /** As written, trimmed. */
  readonly timestamp: string;
  /** Epoch milliseconds of it; a value without time zone is UTC. */
  readonly timestampMs: number;
  readonly messageId: string;
  readonly refToMessageId?: string;
}

/** eb:PartyId, eb:Service and eb:AgreementRef: a value and who gives it its meaning. */
export interface TypedValue {
  readonly value: string;
  readonly type?: string;
}

/** eb:From, eb:To. The schema allows several PartyIds, eDelivery one (eD §1.4.4.1). */
export interface Party {
  readonly partyId: TypedValue;
  readonly role: string;
}

/** eb:Property of MessageProperties and PartProperties. */
export interface Property {
  readonly name: string;
  readonly type?: string;
  readonly value: string;
}

export interface PartInfo {
  /** `cid:` URI as written. */
  readonly href: string;
  readonly schema?: { readonly location: string; readonly version?: string; readonly namespace?: string };
  readonly description?: { readonly lang: string; readonly value: string };
  readonly partProperties: readonly Property[];
}

/** eb:UserMessage (Core §5.2.2, facts §1.1). */
export interface UserMessage {
  readonly messageInfo: MessageInfo;
  readonly mpc?: string;
  readonly partyInfo: { readonly from: Party; readonly to: Party };
  readonly collaborationInfo: {
    readonly agreementRef?: TypedValue & { readonly pmode?: string };
    readonly service: TypedValue;
    readonly action: string;
    /** May be empty. */
    readonly conversationId: string;
  };
  readonly messageProperties: readonly Property[];
  /** In the order of the header: the first one is the leading document (eD §1.4.4.6). */
  readonly payloadInfo: readonly PartInfo[];
}

/** eb:Messaging carries exactly one unit (eD §1.4.2.2). */
export type Messaging =
  | { readonly kind: 'userMessage'; readonly userMessage: UserMessage }
  | { readonly kind: 'signal'; readonly signal: SignalMessage };

/**
 * Reads an eb:Messaging, strictly by the schema of facts §1.1.
 * @throws {As4Error} EBMS:0009 unless it holds exactly one unit that the schema allows; 0008 for a PullRequest and other signals that
 * are neither Receipt nor Error; for values as `readUserMessage` says
 */
export function readMessaging(messaging: XmlElement): Messaging {
  if (!is(messaging, EB, 'Messaging')) throw invalidHeader('the SOAP header has no eb:Messaging');
  const signals = childrenNamed(messaging, EB, 'SignalMessage');
  const users = childrenNamed(messaging, EB, 'UserMessage');
  const signal = users.length === 0 && signals.length === 1 ? signals[0] : undefined;
  // Read before anything can be found wrong: a signal is never answered with an error (architecture §5).
  if (signal !== undefined) return { kind: 'signal', signal: readSignalMessage(signal) };
  attributesOf(messaging, ['id'], 'tolerated');
  const mustUnderstand = messaging.attributes.find((a) => a.uri === S12 && a.local === 'mustUnderstand')?.value;
  if (mustUnderstand !== undefined && !/^(?:true|false|0|1)$/.test(trimXml(mustUnderstand))) {
    throw invalidHeader('eb:Messaging/@S12:mustUnderstand is not a boolean');
  }
  const [user, second] = users;
  if (user === undefined || second !== undefined || signals.length > 0) {
    throw invalidHeader(
      `eb:Messaging must contain exactly one message, found ${users.length} eb:UserMessage and ${signals.length} eb:SignalMessage`,
      'not-one-message',
    );
  }
  const at = new Cursor(messaging);
  at.one('UserMessage');
  at.foreign();
  at.end();
  return { kind: 'userMessage', userMessage: readUserMessage(user) };
}
