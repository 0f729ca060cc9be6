import fc from 'fast-check';
import { expect, it } from 'vitest';
import { messagingElement } from '../../fixtures/sender/messaging.ts';
import { DEFAULT_PREFIXES, write } from '../../fixtures/sender/xml.ts';
import { As4Error } from '../as4-error.ts';
import { parseXml, XmlError } from '../xml/parse.ts';
import { readMessaging } from './user-message.ts';

/** A value of the header as a sender may choose it: not empty, single blanks inside only (some are xsd:token), with all that XML must escape. */
const value = fc
  .string({
    unit: fc.constantFrom('a', 'Z', '0', ':', '/', '.', '@', ' ', '<', '&', '>', '"', "'", 'é', '漢', '😀', ']'),
    minLength: 1,
    maxLength: 40,
  })
  .map((text) => `x${text.replace(/ +/g, ' ')}y`);
const property = fc.record({ name: value, value, type: value });
const header = fc.record({
  messageId: value,
  conversationId: fc.oneof(fc.constant(''), value),
  from: fc.record({ value, type: value }).map((party) => [party]),
  fromRole: value,
  to: fc.record({ value, type: value }).map((party) => [party]),
  toRole: value,
  agreement: fc.oneof(fc.constant(null), fc.record({ value, type: value, pmode: value })),
  service: fc.record({ value, type: value }),
  action: value,
  properties: fc.uniqueArray(property, { selector: ({ name }) => name, maxLength: 4, minLength: 1 }),
});
const payloads = fc.uniqueArray(
  fc.record({
    contentId: fc.stringMatching(/^[a-z0-9]{1,12}@[a-z]{1,8}$/),
    mimeType: fc.constantFrom('application/xml', 'application/pdf'),
    properties: fc.array(
      property.map(({ name, ...rest }) => ({ ...rest, name: `p-${name}` })),
      { maxLength: 2 },
    ),
  }),
  { selector: ({ contentId }) => contentId, maxLength: 3 },
);

const facts = {
  id: 'm',
  conversationId: '',
  timestamp: '2026-11-30T09:59:58.000Z',
  from: 'POP000001',
  to: 'POP000002',
  ping: false,
};

function written(o: { readonly header: object; readonly payloads: readonly object[] }, messageId: string): string {
  const all = o.payloads.map((payload) => ({ content: Buffer.alloc(0), ...payload }));
  return write(messagingElement({ header: o.header, payloads: all }, { ...facts, messageId }), DEFAULT_PREFIXES);
}

it('reads every value as an independent writer wrote it, in its order', () => {
  fc.assert(
    fc.property(header, payloads, (values, parts) => {
      const read = readMessaging(
        parseXml(Buffer.from(written({ header: values, payloads: parts }, values.messageId))).root,
      );
      if (read.kind !== 'userMessage') throw new Error('a signal was read');
      const { messageInfo, partyInfo, collaborationInfo, messageProperties, payloadInfo } = read.userMessage;
      expect(messageInfo).toEqual({
        timestamp: facts.timestamp,
        timestampMs: Date.parse(facts.timestamp),
        messageId: values.messageId,
      });
      expect(partyInfo).toEqual({
        from: { partyId: values.from[0], role: values.fromRole },
        to: { partyId: values.to[0], role: values.toRole },
      });
      expect(collaborationInfo).toEqual({
        ...(values.agreement === null ? {} : { agreementRef: values.agreement }),
        service: values.service,
        action: values.action,
        conversationId: values.conversationId,
      });
      expect(messageProperties).toEqual(values.properties);
      expect(payloadInfo.map(({ href }) => href)).toEqual(parts.map(({ contentId }) => `cid:${contentId}`));
      for (const [i, part] of parts.entries()) {
        expect(payloadInfo[i]?.partProperties).toEqual([
          { name: 'MimeType', value: part.mimeType },
          { name: 'CompressionType', value: 'application/gzip' },
          ...part.properties,
        ]);
      }
    }),
    { numRuns: 200 },
  );
});

it('never throws anything but a refusal, whatever characters of a header are changed', () => {
  const good = written({ header: {}, payloads: [{ contentId: 'a@b' }] }, 'id@sender.example');
  const piece = fc.oneof(
    fc.string({ maxLength: 6 }),
    fc.constantFrom(
      '<x/>',
      '</eb:To>',
      '<!-- -->',
      '<![CDATA[',
      ' id="m"',
      '&#0;',
      '&lt;',
      ' xmlns:eb="urn:x"',
      '<eb:UserMessage/>',
    ),
  );
  let read = 0;
  fc.assert(
    fc.property(fc.nat(good.length), fc.integer({ min: 0, max: 60 }), piece, (at, cut, insert) => {
      const changed = good.slice(0, at) + insert + good.slice(at + cut);
      try {
        readMessaging(parseXml(Buffer.from(changed)).root);
        read += 1;
      } catch (error) {
        expect(error instanceof As4Error || error instanceof XmlError).toBe(true);
      }
    }),
    { numRuns: 1_000 },
  );
  expect(read).toBeGreaterThan(0);
});
