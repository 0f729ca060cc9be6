import type { Case } from '../case.ts';
import { freshSlip, type MessageSpec } from '../message.ts';
import { accept } from './rows.ts';

const NAMES = 'XML Names; SOAP 1.2 §5.2';

const C14N = 'XML-EXC-C14N §3';

const WSS = 'WSS 1.1.1 §5';

const SECURE = ['soap', 'eb', 'wsse', 'wsu', 'ds', 'xenc', 'ec'] as const;

/** Source, what is asserted, the message; `reading` marks what no norm demands of a receiver. */
type Row = readonly [string, string, MessageSpec | (() => MessageSpec), ('reading' | undefined)?];

/** Numbers the rows of a chapter. */
function chapter(prefix: string, rows: readonly Row[]): Case[] {
  return rows.map(([source, asserts, spec, basis], index) =>
    accept(
      `TOL-${prefix}-${String(index + 1).padStart(2, '0')}`,
      source,
      asserts,
      spec,
      basis === undefined ? {} : { basis },
    ),
  );
}

/** The envelope as other products write it. */
export const ENVELOPE_CASES: readonly Case[] = chapter('ENV', [
  [
    NAMES,
    'Prefixes S12 and eb (phase4): sorted by code point, S12 comes first.',
    { prefixes: { soap: 'S12', eb: 'eb' } },
  ],
  [
    NAMES,
    'Prefixes env and eb3, Security before Messaging (Oxalis).',
    {
      prefixes: { soap: 'env', eb: 'eb3' },
      headerOrder: ['security', 'messaging'],
    },
  ],
  [
    NAMES,
    'Prefixes soap and ns2, all declared at the Envelope (JAXB).',
    { prefixes: { soap: 'soap', eb: 'ns2' }, declared: SECURE },
  ],
  [
    NAMES,
    'Prefix soapenv, xmldsig and xmlenc as default namespaces (Axis2, .NET).',
    {
      prefixes: { soap: 'soapenv', ds: '', xenc: '' },
    },
  ],
  [NAMES, 'ebMS as default namespace.', { prefixes: { soap: 'S', eb: '' } }],
  [
    C14N,
    'Prefixes that sort otherwise by locale.',
    {
      prefixes: { soap: 'Z', eb: 'a', wsu: 'B' },
      declared: SECURE,
      signature: { messagingPrefixes: 'B Z a', bodyPrefixes: 'a B' },
    },
  ],
  [
    WSS,
    'BinarySecurityToken after the Signature.',
    {
      security: ['receiverToken', 'encryptedKey', 'encryptedData', 'signature', 'signerToken'],
    },
  ],
  [
    WSS,
    'Signature before what was encrypted.',
    {
      security: ['signerToken', 'signature', 'encryptedData', 'encryptedKey', 'receiverToken'],
    },
    'reading',
  ],
  [
    C14N,
    'PrefixList with everything in scope (WSS4J).',
    {
      declared: SECURE,
      signature: {
        signedInfoPrefixes: 'S12 eb ec wsse wsu xenc',
        messagingPrefixes: 'S12 ds wsse',
        bodyPrefixes: 'S12 ds eb wsse wsu',
      },
    },
  ],
  [
    C14N,
    'Empty PrefixList; the receipt repeats it.',
    {
      signature: { signedInfoPrefixes: '', messagingPrefixes: '', bodyPrefixes: '' },
    },
  ],
  [C14N, 'No InclusiveNamespaces at all.', { declared: SECURE }],
  [C14N, 'PrefixList of SignedInfo only (n42).', { signature: { signedInfoPrefixes: 'S12' } }],
  [
    C14N,
    'PrefixList with a prefix that nobody declares.',
    { signature: { messagingPrefixes: 'xs S12', bodyPrefixes: 'nowhere' } },
  ],
  ['XMLDSig §4.2', '&#xD; in base64 (Java on Windows).', { base64: 'carriage-returns' }],
  ['XMLDSig §4.2', 'Lines in base64.', { base64: 'lines' }],
  ['eD §1.4.2.2', 'A UTF-8 byte order mark before the envelope.', { encoding: 'utf-8-bom' }],
  [
    'XML 1.0 §2.8',
    'An XML declaration.',
    { xmlDeclaration: '<?xml version="1.0" encoding="utf-8" standalone="yes"?>\n' },
  ],
  [
    'XML 1.0 §2',
    'White space, comments and CDATA in the header.',
    {
      editMessaging: (xml) =>
        xml
          .replace(/></g, '>\n  <')
          .replace('<eb:UserMessage>', '<eb:UserMessage><!-- to whom it may concern -->')
          .replace(/(<eb:ConversationId>)([^<]*)/, '$1<![CDATA[$2]]>'),
    },
  ],
  [
    'SOAP 1.2 §5.2.3',
    'A SOAP header that need not be understood.',
    {
      headerOrder: [{ raw: '<t:trace xmlns:t="urn:example:trace">abc</t:trace>' }, 'messaging', 'security'],
    },
  ],
  [
    'AS4 §5.1.8',
    'A signed wsu:Timestamp: one more reference, and the receipt repeats it.',
    {
      security: ['timestamp', 'receiverToken', 'encryptedKey', 'encryptedData', 'signerToken', 'signature'],
      signature: { order: ['timestamp', 'messaging', 'body', 'attachments'] },
    },
  ],
  [
    'AS4 §3.2; facts §2.4',
    'A wsu:Timestamp that expired long ago: a retry is byte-identical and may come late.',
    {
      security: ['timestamp', 'receiverToken', 'encryptedKey', 'encryptedData', 'signerToken', 'signature'],
      signature: { order: ['messaging', 'body', 'timestamp', 'attachments'] },
      wsuTimestamp: { created: '2026-11-01T08:00:00Z', expires: '2026-11-01T08:05:00Z' },
    },
    'reading',
  ],
  [
    'XMLDSig §4.4.3',
    'References in another order.',
    () => ({
      more: [freshSlip()],
      signature: { order: ['attachments', 'body', 'messaging'] },
    }),
  ],
  ['AS4 §5.1.4', 'eb:Messaging/@id instead of wsu:Id.', { messagingId: 'id' }],
]);

/** Values that may be written in more than one way. */
export const VALUE_CASES: readonly Case[] = [
  ...chapter('VAL', [
    [
      'Core §5.2.2.1',
      'eb:Timestamp with seven fraction digits (.NET).',
      () => ({ header: { timestamp: now().replace('Z', '1234Z') } }),
    ],
    ['Core §5.2.2.1', 'eb:Timestamp with an offset.', () => ({ header: { timestamp: inOffset() } })],
    [
      'Core §5.2.2.1',
      'eb:Timestamp without time zone: UTC.',
      () => ({ header: { timestamp: now().replace(/\..*/, '') } }),
    ],
    ['Core §5.2.1', 'mustUnderstand="1".', { header: { mustUnderstand: '1' } }],
    [
      'Core §5.2.2.1',
      'A MessageId without @ and with odd characters.',
      () => ({
        header: { messageId: `{c0ffee}/ä ☕:${Math.random()}` },
      }),
    ],
    [
      'eD §1.4.2.2',
      'A message property of the sender’s own.',
      {
        editMessaging: (xml) =>
          xml.replace(
            '</eb:MessageProperties>',
            '<eb:Property name="batch" type="urn:x">12</eb:Property></eb:MessageProperties>',
          ),
      },
    ],
    [
      'Core §5.2.2.13',
      'PartInfo with Schema and Description.',
      {
        editMessaging: (xml) =>
          xml.replace(
            /(<eb:PartInfo[^>]*>)/,
            '$1<eb:Schema location="http://schema.example/order.xsd" version="2"></eb:Schema><eb:Description xml:lang="nl">Bestelling</eb:Description>',
          ),
      },
    ],
  ]),
  accept('TOL-VAL-20', 'eD §1.5.3', 'Another access point that is trusted may send.', { as: 'sender2' }),
  accept('TOL-VAL-21', 'eD §1.5.3', 'The sender may have a renewed certificate and key.', { as: 'bad:sender-renewed' }),
];

function now(): string {
  return new Date().toISOString();
}

/** This moment, as clocks two hours east of us write it. */
function inOffset(): string {
  return new Date(Date.now() + 7_200_000).toISOString().replace('Z', '+02:00');
}
