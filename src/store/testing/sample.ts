import { createHash } from 'node:crypto';
import type { NewMessage } from '../types.ts';

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
    keys: [{ layer: 'sbdh', scope: '9915:sender', key: `instance ${messageId}` }],
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
