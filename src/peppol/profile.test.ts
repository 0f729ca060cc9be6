import { describe, expect, it } from 'vitest';
import { EB } from '../ebms/namespaces.ts';
import type { PartInfo, UserMessage } from '../ebms/user-message.ts';
import { checkProfile } from './profile.ts';

const AP = 'urn:fdc:peppol.eu:2017:identifiers:ap';
const AGREEMENT = 'urn:fdc:peppol.eu:2017:agreements:tia:ap_provider';
const part: PartInfo = {
  href: 'cid:a',
  partProperties: [
    { name: 'MimeType', value: 'application/xml' },
    { name: 'CompressionType', value: 'application/gzip' },
  ],
};
const good: UserMessage = {
  messageInfo: { timestamp: '2026-01-01T00:00:00Z', timestampMs: 0, messageId: 'm@a' },
  partyInfo: {
    from: { partyId: { value: 'POP000001', type: AP }, role: `${EB}initiator` },
    to: { partyId: { value: 'POP000002', type: AP }, role: `${EB}responder` },
  },
  collaborationInfo: {
    agreementRef: { value: AGREEMENT },
    service: { value: 'urn:p', type: 'cenbii-procid-ubl' },
    action: 'busdox-docid-qns::urn:d',
    conversationId: '1',
  },
  messageProperties: [
    { name: 'originalSender', type: 'iso6523-actorid-upis', value: '0088:a' },
    { name: 'finalRecipient', type: 'iso6523-actorid-upis', value: '0088:b' },
    { name: 'unknown', value: 'accepted' },
  ],
  payloadInfo: [part],
};

const check = (message: UserMessage, signer = 'POP000001', own = 'POP000002') => checkProfile(message, signer, own);
const collaboration = (changes: Partial<UserMessage['collaborationInfo']>): UserMessage => ({
  ...good,
  collaborationInfo: { ...good.collaborationInfo, ...changes },
});
const party = (side: 'from' | 'to', changes: object): UserMessage => ({
  ...good,
  partyInfo: { ...good.partyInfo, [side]: { ...good.partyInfo[side], ...changes } },
});
const partProperty = (name: string, ...values: string[]): UserMessage => ({
  ...good,
  payloadInfo: [
    {
      ...part,
      partProperties: [
        ...part.partProperties.filter((p) => p.name !== name),
        ...values.map((value) => ({ name, value })),
      ],
    },
  ],
});
const properties = (name: string, ...replacements: { type?: string; value: string }[]): UserMessage => ({
  ...good,
  messageProperties: [
    ...good.messageProperties.filter((p) => p.name !== name),
    ...replacements.map((r) => ({ name, ...r })),
  ],
});
const without = (message: UserMessage, name: 'agreementRef'): UserMessage => {
  const { [name]: _, ...rest } = message.collaborationInfo;
  return { ...message, collaborationInfo: rest };
};

describe('checkProfile', () => {
  it('accepts a message that follows the P-Mode, unknown properties and the default MPC included', () => {
    expect(check(good)).toEqual({ ping: false, warnings: [] });
    expect(check({ ...good, mpc: `${EB}defaultMPC` }).ping).toBe(false);
    expect(check(partProperty('CompressionType')).ping).toBe(false);
    expect(check(partProperty('CharacterSet', 'ISO-8859-1')).ping).toBe(false);
  });

  const refused: Record<string, [string, UserMessage]> = {
    'an unknown agreement': ['EBMS:0001', collaboration({ agreementRef: { value: 'urn:other' } })],
    'no agreement': ['EBMS:0001', without(good, 'agreementRef')],
    'a typed agreement': ['EBMS:0010', collaboration({ agreementRef: { value: AGREEMENT, type: 't' } })],
    'an agreement with pmode': ['EBMS:0010', collaboration({ agreementRef: { value: AGREEMENT, pmode: 'p' } })],
    'another type of sending party': ['EBMS:0010', party('from', { partyId: { value: 'POP000001', type: 'x' } })],
    'another type of receiving party': ['EBMS:0010', party('to', { partyId: { value: 'POP000002', type: 'x' } })],
    'another role of the sender': ['EBMS:0010', party('from', { role: `${EB}responder` })],
    'another role of the receiver': ['EBMS:0010', party('to', { role: `${EB}defaultRole` })],
    'another receiver than us': ['EBMS:0010', party('to', { partyId: { value: 'POP000003', type: AP } })],
    'a sender that is not the signer': ['EBMS:0101', party('from', { partyId: { value: 'POP000009', type: AP } })],
    'a response in a two-way exchange': [
      'EBMS:0010',
      { ...good, messageInfo: { ...good.messageInfo, refToMessageId: 'r@a' } },
    ],
    'another MPC': ['EBMS:0010', { ...good, mpc: 'urn:mpc' }],
    'an untyped Service': ['EBMS:0010', collaboration({ service: { value: 'urn:p' } })],
    'the test action with another service': ['EBMS:0003', collaboration({ action: `${EB}test` })],
    'a part without MimeType': ['EBMS:0003', partProperty('MimeType')],
    'two MimeTypes': ['EBMS:0003', partProperty('MimeType', 'a/b', 'c/d')],
    'another compression': ['EBMS:0003', partProperty('CompressionType', 'application/rar')],
    'a CharacterSet that is no name': ['EBMS:0003', partProperty('CharacterSet', '!utf*')],
    'originalSender missing': ['EBMS:0004', properties('originalSender')],
    'finalRecipient missing': ['EBMS:0004', properties('finalRecipient')],
    'originalSender untyped': ['EBMS:0004', properties('originalSender', { value: '0088:a' })],
    'finalRecipient untyped': ['EBMS:0004', properties('finalRecipient', { value: '0088:a' })],
    'originalSender twice': [
      'EBMS:0003',
      properties('originalSender', { type: 't', value: 'a' }, { type: 't', value: 'b' }),
    ],
    'no payload': ['EBMS:0004', { ...good, payloadInfo: [] }],
  };
  it.each(Object.keys(refused))('refuses %s', (name) => {
    const [code, message] = refused[name]!;
    expect(() => check(message)).toThrowError(expect.objectContaining({ code }));
  });

  it('puts words into ErrorDetail where the code is EBMS:0004', () => {
    expect(() => check(properties('originalSender'))).toThrowError(
      expect.objectContaining({ detail: 'the message property originalSender is missing' }),
    );
    expect(() => check({ ...good, payloadInfo: [] })).toThrowError(
      expect.objectContaining({ detail: expect.stringMatching(/payload/) }),
    );
  });

  it('accepts trackingIdentifier with a warning', () => {
    expect(check(properties('trackingIdentifier', { value: 't' })).warnings).toEqual([
      expect.stringContaining('trackingIdentifier'),
    ]);
  });

  describe('a ping', () => {
    const ping: UserMessage = {
      ...collaboration({ service: { value: `${EB}service` }, action: 'anything' }),
      messageProperties: [],
      payloadInfo: [],
    };

    it('is any message to the test service, and needs no payload, properties or Service/@type', () => {
      expect(check(ping)).toEqual({ ping: true, warnings: [] });
      expect(check({ ...ping, collaborationInfo: { ...ping.collaborationInfo, action: `${EB}test` } }).ping).toBe(true);
    });

    it('still has to be ours, of the signer, under the agreement, with sound parts', () => {
      expect(() => check(ping, 'POP000009')).toThrowError(expect.objectContaining({ code: 'EBMS:0101' }));
      expect(() => check(ping, 'POP000001', 'POP000009')).toThrowError(expect.objectContaining({ code: 'EBMS:0010' }));
      expect(() => check(without(ping, 'agreementRef'))).toThrowError(expect.objectContaining({ code: 'EBMS:0001' }));
      const parts = { ...ping, payloadInfo: [{ href: 'cid:a', partProperties: [] }] };
      expect(() => check(parts)).toThrowError(expect.objectContaining({ code: 'EBMS:0003' }));
    });
  });
});
