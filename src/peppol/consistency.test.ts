import { describe, expect, it } from 'vitest';
import type { UserMessage } from '../ebms/user-message.ts';
import { checkConsistency } from './consistency.ts';
import type { Sbdh } from './sbdh.ts';

const message = {
  collaborationInfo: {
    service: { value: 'urn:p', type: 'cenbii-procid-ubl' },
    action: 'busdox-docid-qns::urn:x::Invoice##c::2.1',
  },
  messageProperties: [
    { name: 'originalSender', type: 'iso6523-actorid-upis', value: '0088:ABC' },
    { name: 'finalRecipient', type: 'iso6523-actorid-upis', value: '0088:DEF' },
  ],
} as unknown as UserMessage;
const header = {
  sender: { scheme: 'iso6523-actorid-upis', value: '0088:abc' },
  receiver: { scheme: 'iso6523-actorid-upis', value: '0088:def' },
  documentType: { scheme: 'busdox-docid-qns', value: 'urn:x::Invoice##c::2.1' },
  process: { scheme: 'cenbii-procid-ubl', value: 'urn:p' },
} as unknown as Sbdh;

describe('checkConsistency', () => {
  it('accepts a header that says the same, participants in another case included', () => {
    expect(checkConsistency(message, header)).toEqual([]);
  });

  const contradictions: Record<string, [Partial<Sbdh>, string]> = {
    'another sender': [{ sender: { scheme: 'iso6523-actorid-upis', value: '0088:x' } }, 'originalSender'],
    'another scheme of the sender': [
      { sender: { scheme: 'ISO6523-actorid-upis', value: '0088:abc' } },
      'originalSender',
    ],
    'another receiver': [{ receiver: { scheme: 'iso6523-actorid-upis', value: '0088:x' } }, 'finalRecipient'],
    'a document type in another case': [
      { documentType: { scheme: 'busdox-docid-qns', value: 'urn:x::invoice##c::2.1' } },
      'eb:Action',
    ],
    'another document type scheme': [{ documentType: { scheme: 'x', value: 'urn:x::Invoice##c::2.1' } }, 'eb:Action'],
    'another process': [{ process: { scheme: 'cenbii-procid-ubl', value: 'urn:P' } }, 'eb:Service'],
    'another process scheme': [{ process: { scheme: 'x', value: 'urn:p' } }, 'eb:Service'],
  };
  it.each(Object.keys(contradictions))('answers EBMS:0004 to %s and names both sides', (name) => {
    const [changes, field] = contradictions[name]!;
    expect(() => checkConsistency(message, { ...header, ...changes })).toThrowError(
      expect.objectContaining({
        code: 'EBMS:0004',
        reason: 'sbd-contradiction',
        detail: expect.stringContaining(field),
      }),
    );
  });

  it('does not let the boundary between scheme and value wander', () => {
    const documentType = { scheme: 'busdox-docid-qns::urn:x', value: 'Invoice##c::2.1' };
    expect(() => checkConsistency(message, { ...header, documentType })).toThrowError(
      expect.objectContaining({ code: 'EBMS:0004' }),
    );
  });

  it('warns about what is missing and compares the rest', () => {
    expect(checkConsistency(message, { ...header, sender: null })).toEqual([expect.stringContaining('Sender')]);
  });
});
