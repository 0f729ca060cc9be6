import { EB, S12, TEST_ACTION, TEST_SERVICE, WSU } from '../ebms/namespaces.ts';
import { escapeAttribute, escapeText } from '../xml/escape.ts';

const AP = 'urn:fdc:peppol.eu:2017:identifiers:ap';

export interface OutgoingMessage {
  readonly wsuId: string;
  readonly messageId: string;
  readonly conversationId: string;
  readonly timestamp: Date;
  /** Subject CN of the sending and of the receiving access point. */
  readonly from: string;
  readonly to: string;
  /** Null for a ping. */
  readonly business: {
    readonly process: string;
    readonly documentType: string;
    readonly originalSender: string;
    readonly finalRecipient: string;
  } | null;
  readonly part: { readonly href: string; readonly compressed: boolean } | null;
}

/** eb:Messaging of a Peppol UserMessage (facts §4.2), written as its own exclusive canonical form. */
export function userMessageMessaging(m: OutgoingMessage): string {
  const party = (name: string, id: string, role: string) =>
    `<eb:${name}><eb:PartyId type="${AP}">${escapeText(id)}</eb:PartyId><eb:Role>${EB}${role}</eb:Role></eb:${name}>`;
  const property = (name: string, value: string, type?: string) =>
    `<eb:Property name="${name}"${type ? ` type="${escapeAttribute(type)}"` : ''}>${escapeText(value)}</eb:Property>`;
  const service = m.business
    ? `<eb:Service type="cenbii-procid-ubl">${escapeText(m.business.process)}</eb:Service><eb:Action>busdox-docid-qns::${escapeText(m.business.documentType)}</eb:Action>`
    : `<eb:Service>${TEST_SERVICE}</eb:Service><eb:Action>${TEST_ACTION}</eb:Action>`;
  const properties = m.business
    ? `<eb:MessageProperties>${property('originalSender', m.business.originalSender, 'iso6523-actorid-upis')}` +
      `${property('finalRecipient', m.business.finalRecipient, 'iso6523-actorid-upis')}</eb:MessageProperties>`
    : '';
  const payload = m.part
    ? `<eb:PayloadInfo><eb:PartInfo href="${escapeAttribute(m.part.href)}"><eb:PartProperties>${property('MimeType', 'application/xml')}` +
      `${m.part.compressed ? property('CompressionType', 'application/gzip') : ''}</eb:PartProperties></eb:PartInfo></eb:PayloadInfo>`
    : '';
  return (
    // Canonical order: declarations by code point of the prefix, attributes by namespace URI.
    `<eb:Messaging xmlns:S12="${S12}" xmlns:eb="${EB}" xmlns:wsu="${WSU}" wsu:Id="${escapeAttribute(m.wsuId)}" S12:mustUnderstand="true">` +
    `<eb:UserMessage><eb:MessageInfo><eb:Timestamp>${m.timestamp.toISOString()}</eb:Timestamp>` +
    `<eb:MessageId>${escapeText(m.messageId)}</eb:MessageId></eb:MessageInfo>` +
    `<eb:PartyInfo>${party('From', m.from, 'initiator')}${party('To', m.to, 'responder')}</eb:PartyInfo>` +
    '<eb:CollaborationInfo><eb:AgreementRef>urn:fdc:peppol.eu:2017:agreements:tia:ap_provider</eb:AgreementRef>' +
    `${service}<eb:ConversationId>${escapeText(m.conversationId)}</eb:ConversationId></eb:CollaborationInfo>` +
    `${properties}${payload}</eb:UserMessage></eb:Messaging>`
  );
}
