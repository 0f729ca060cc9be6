import { createHash } from 'node:crypto';
import type { InterchangeKey, Interchanges, NewMessage } from '../types.ts';

export const day = 24 * 3_600_000;
/** The moment at which the samples arrive. */
export const noon = Date.UTC(2026, 10, 30, 12);

export const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/** A message as the journey hands it over: 10 KB of payload, all else derived from its id. */
export function sampleMessage(messageId: string, changes: Partial<NewMessage> = {}): NewMessage {
  return {
    sender: 'POP000001',
    messageId,
    purpose: 'deliver',
    ebTimestamp: noon - 1000,
    ebTimestampText: '2026-11-30T11:59:59.000Z',
    receivedAt: noon,
    window: 90 * day,
    policyVersion: '1',
    referenceSet: sha256(`references ${messageId}`),
    contentDigest: sha256(`content ${messageId}`),
    payloads: [
      {
        href: 'cid:payload@sender',
        mimeType: 'application/xml',
        characterSet: null,
        compressed: true,
        properties: [{ name: 'MimeType', type: null, value: 'application/xml' }],
        sha256: sha256(`payload ${messageId}`),
        bytes: 10_240,
        data: Buffer.alloc(10_240, messageId),
      },
    ],
    routing: {
      service: 'urn:fdc:peppol.eu:2017:poacc:billing:01:1.0',
      serviceType: 'cenbii-procid-ubl',
      action: 'busdox-docid-qns::urn:oasis:names:specification:ubl:schema:xsd:Invoice-2::Invoice##x::2.1',
      conversationId: 'conversation',
      originalSender: { scheme: 'iso6523-actorid-upis', value: '9915:sender' },
      finalRecipient: { scheme: 'iso6523-actorid-upis', value: '9915:receiver' },
      documentType: { scheme: 'busdox-docid-qns', value: 'urn:oasis:names:specification:ubl:schema:xsd:Invoice-2' },
      process: { scheme: 'cenbii-procid-ubl', value: 'urn:fdc:peppol.eu:2017:poacc:billing:01:1.0' },
      instanceIdentifier: `instance ${messageId}`,
      sbdhCreationDateAndTime: '2026-11-30T11:59:58Z',
      countryC1: 'DE',
      messageProperties: [{ name: 'originalSender', type: 'iso6523-actorid-upis', value: '9915:sender' }],
    },
    rule: 'default',
    conflict: 'reject',
    outsideWindow: 'deliver',
    staleTimestamp: 'review',
    interchanges: {
      keys: [instanceKey(messageId, { ...(changes.sender !== undefined && { sender: changes.sender }) })],
      onConflict: 'review',
      replacePending: false,
    },
    warnings: [],
    signer: { fingerprint: sha256('leaf').toString('hex'), chain: [Buffer.from('leaf'), Buffer.from('issuer')] },
    envelope: Buffer.alloc(9000, `<envelope ${messageId}>`),
    receipt: {
      status: 200,
      contentType: 'application/soap+xml; charset=UTF-8',
      body: Buffer.alloc(6000, `<receipt ${messageId}>`),
    },
    requestDigest: sha256(`request ${messageId}`),
    remoteAddress: '192.0.2.1',
    rebuilt: 'own-receipt',
    ...changes,
  };
}

/** The SBDH key of a sample; its content is that of the sample with this id. */
export function instanceKey(
  instance: string,
  { sender = 'POP000001', content = `content ${instance}` } = {},
): InterchangeKey {
  return {
    ...{ layer: 'sbdh', scope: `${sender} 9915:sender`, key: `instance ${instance}`, contentDigest: sha256(content) },
    ...{ dateTime: null, label: `SBDH instance ${instance}` },
  };
}

/** An EDIFACT interchange. */
export function interchange(reference: string, content: string, dateTime = '261130:1159'): InterchangeKey {
  const key = `4012345000009:14+4098765000004:14+${reference}`;
  const label = `interchange ${reference}`;
  return { layer: 'edifact', scope: 'POP000001 9915:sender', key, contentDigest: sha256(content), dateTime, label };
}

/** What a message carries in the second layer: its own SBDH instance, as a gateway draws it anew each time, and interchanges. */
export function carrying(
  messageId: string,
  interchanges: readonly InterchangeKey[],
  rules: Partial<Interchanges> = {},
): Pick<NewMessage, 'interchanges'> {
  const keys = [instanceKey(messageId), ...interchanges];
  return { interchanges: { keys, onConflict: 'review', replacePending: false, ...rules } };
}

/** The same message with headers built anew: other references, other receipt, the same content. */
export function rebuiltMessage(messageId: string, copy: string, changes: Partial<NewMessage> = {}): NewMessage {
  return sampleMessage(messageId, {
    referenceSet: sha256(`references ${messageId} ${copy}`),
    requestDigest: sha256(`request ${messageId} ${copy}`),
    envelope: Buffer.from(`<envelope ${messageId} ${copy}>`),
    receipt: {
      status: 200,
      contentType: 'application/soap+xml; charset=UTF-8',
      body: Buffer.from(`<receipt ${copy}>`),
    },
    ...changes,
  });
}

/** The same id with other content. */
export function otherMessage(messageId: string, copy: string, changes: Partial<NewMessage> = {}): NewMessage {
  return rebuiltMessage(messageId, copy, { contentDigest: sha256(`content ${messageId} ${copy}`), ...changes });
}
