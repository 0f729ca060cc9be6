import { PARTY_TYPE } from '../../fixtures/sender/messaging.ts';
import type { Case } from '../case.ts';
import { freshSlip, type MessageSpec } from '../message.ts';
import { refuse, type Spec } from './rows.ts';

const AS4 = 'AS4 §5.1.4–5.1.8';
const PROFILE = 'eD §1.4.5';
const DS = 'http://www.w3.org/2000/09/xmldsig#';
const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const SWA = 'http://docs.oasis-open.org/wss/oasis-wss-SwAProfile-1.1#';
const WSSE = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd';

function policy(id: string, source: string, asserts: string, spec: Spec, codes = '0103 0101'): Case {
  return refuse(`NEG-POL-${id}`, source, asserts, codes, spec);
}

const reference = (uri: string) =>
  `<ds:Reference URI="${uri}"><ds:Transforms><ds:Transform Algorithm="${EXCLUSIVE}"></ds:Transform></ds:Transforms>` +
  '<ds:DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"></ds:DigestMethod>' +
  `<ds:DigestValue>${Buffer.alloc(32).toString('base64')}</ds:DigestValue></ds:Reference>`;

/** A validly signed SignedInfo with further references. */
const withReference = (uri: string, count = 1): MessageSpec => ({
  editSignedInfo: (xml) => xml.replace('</ds:SignedInfo>', `${reference(uri).repeat(count)}</ds:SignedInfo>`),
});

/** Not signed, not encrypted, or not all of it. */
export const COVERAGE_CASES: readonly Case[] = [
  policy('01', AS4, 'A message without wsse:Security is refused.', { headerOrder: ['messaging'] }),
  policy('02', AS4, 'A message without signature is refused.', {
    security: ['receiverToken', 'encryptedKey', 'encryptedData', 'signerToken'],
  }),
  policy(
    '03',
    AS4,
    'Two wsse:Security are refused.',
    {
      editEnvelope: (xml) =>
        xml.replace(
          '</S12:Header>',
          `<wsse:Security xmlns:wsse="${WSSE}" S12:role="urn:other"></wsse:Security></S12:Header>`,
        ),
    },
    '0103 0101 0009',
  ),
  policy('04', AS4, 'Two signatures are refused.', {
    editEnvelope: (xml) =>
      xml.replace(
        '</wsse:Security>',
        `${/<ds:Signature .*<\/ds:Signature>/s.exec(xml)?.[0].replace(/ Id="[^"]*"/, '')}</wsse:Security>`,
      ),
  }),
  policy('05', AS4, 'eb:Messaging must be signed.', { signature: { order: ['body', 'attachments'] } }),
  policy('06', AS4, 'The SOAP Body must be signed.', { signature: { order: ['messaging', 'attachments'] } }),
  policy('07', AS4, 'The payload must be signed.', { payload: { signed: false } }),
  policy('08', AS4, 'The second payload must be signed, too.', () => ({ more: [{ ...freshSlip(), signed: false }] })),
  policy('09', AS4, 'The payload must be encrypted.', { payload: { encrypted: false } }, '0103 0102'),
  policy(
    '10',
    AS4,
    'The second payload must be encrypted, too.',
    () => ({
      more: [{ ...freshSlip(), encrypted: false }],
    }),
    '0103 0102',
  ),
  policy(
    '11',
    AS4,
    'A signed part that no PartInfo names is refused: it would be receipted and not delivered.',
    () => ({
      more: [{ ...freshSlip(), named: false, encrypted: false }],
    }),
    '0103 0007',
  ),
  policy(
    '12',
    AS4,
    'An encrypted part that no PartInfo names is refused.',
    () => ({
      more: [{ ...freshSlip(), named: false, signed: false }],
    }),
    '0103 0007',
  ),
  policy(
    '13',
    'XMLENC §3.4',
    'Two EncryptedData for one part are refused.',
    {
      editEnvelope: (xml) =>
        xml.replace(/<xenc:EncryptedData .*?<\/xenc:EncryptedData>/s, (data) => data + data.replace(/ Id="[^"]*"/, '')),
    },
    '0103 0102',
  ),
  policy('14', 'RFC 2392; AS4 §5.1.5', 'One spelling of a cid in PartInfo and another in the signature are refused.', {
    payload: { contentId: 'a@sender.example', signedUri: 'cid:%61@sender.example' },
  }),
];

const ALGORITHMS: readonly (readonly [string, MessageSpec, string?])[] = [
  ['RSA with SHA-1', { signature: { method: `${DS}rsa-sha1` } }],
  ['RSA with SHA-512', { signature: { method: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512' } }],
  [
    'an HMAC keyed with the certificate',
    { signature: { method: 'http://www.w3.org/2001/04/xmldsig-more#hmac-sha256' } },
  ],
  ['no signature algorithm', { signature: { method: 'none' } }],
  ['SHA-1 digests', { signature: { digest: `${DS}sha1` } }],
  ['SHA-512 digests', { signature: { digest: 'http://www.w3.org/2001/04/xmlenc#sha512' } }],
  ['inclusive C14N', { signature: { canonicalization: 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315' } }],
  ['exclusive C14N with comments', { signature: { canonicalization: `${EXCLUSIVE}WithComments` } }],
  ['the enveloped-signature transform', { signature: { transform: `${DS}enveloped-signature` } }],
  ['an XSLT transform', { signature: { transform: 'http://www.w3.org/TR/1999/REC-xslt-19991116' } }],
  ['an XPath transform', { signature: { transform: 'http://www.w3.org/TR/1999/REC-xpath-19991116' } }],
  [
    'the Attachment-Complete transform',
    { signature: { attachmentTransform: `${SWA}Attachment-Complete-Signature-Transform` } },
  ],
  ['AES-256-GCM', { encryption: { data: 'http://www.w3.org/2009/xmlenc11#aes256-gcm' } }, '0103 0102'],
  ['AES-128-CBC', { encryption: { data: 'http://www.w3.org/2001/04/xmlenc#aes128-cbc' } }, '0103 0102'],
  [
    'RSA 1.5 key transport',
    { encryption: { keyTransport: 'http://www.w3.org/2001/04/xmlenc#rsa-1_5', oaepDigest: null, mask: null } },
    '0103 0102',
  ],
  [
    'rsa-oaep-mgf1p',
    { encryption: { keyTransport: 'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p', mask: null } },
    '0103 0102',
  ],
  ['RSA-OAEP without DigestMethod, which means SHA-1', { encryption: { oaepDigest: null } }, '0103 0102'],
  ['RSA-OAEP without MGF, which means SHA-1', { encryption: { mask: null } }, '0103 0102'],
  ['EncryptedData of type Attachment-Complete', { encryption: { type: `${SWA}Attachment-Complete` } }, '0103 0102'],
];

/** Signed and encrypted, but not the way that the profile says. */
export const ALGORITHM_CASES: readonly Case[] = [
  ...ALGORITHMS.map(([words, spec, codes], index) =>
    policy(String(20 + index), PROFILE, `A message secured with ${words} is refused.`, spec, codes),
  ),
  policy(
    '40',
    'XMLDSig §4.4.3',
    'A signed http reference is refused and never fetched.',
    withReference('http://127.0.0.1:1/x'),
  ),
  policy(
    '41',
    'XMLDSig §4.4.3',
    'A signed file reference is refused and never fetched.',
    withReference('file:///etc/passwd'),
  ),
  policy('42', AS4, 'A signed reference to the whole document is refused.', withReference('')),
  policy('43', 'XMLDSig §4.4.3', 'A signed XPointer is refused.', withReference("#xpointer(id('Body'))")),
  policy('44', 'Santuario secure validation', 'More than 30 references are refused.', withReference('cid:x', 31)),
  policy('45', 'Santuario secure validation', 'Six transforms are refused.', {
    editSignedInfo: (xml) => xml.replace(/<ds:Transform [^>]*><\/ds:Transform>/, (transform) => transform.repeat(6)),
  }),
  policy('46', 'BSP R5403', 'A ds:Manifest is refused: its references need not be true.', {
    editEnvelope: (xml) =>
      xml.replace('</ds:Signature>', '<ds:Object><ds:Manifest></ds:Manifest></ds:Object></ds:Signature>'),
  }),
];

const CERTIFICATES = [
  ['expired', 'that has expired'],
  ['not-yet-valid', 'that is not valid yet'],
  ['revoked', 'that is revoked'],
  ['other', 'of a foreign CA'],
  ['smp', 'of an SMP, from the same root'],
  ['root-issued', 'issued by the root itself'],
  ['self-signed', 'that signed itself'],
  ['weak', 'with an RSA key of 1024 bits'],
  ['sha1', 'signed with SHA-1'],
  ['critical-extension', 'with an unknown critical extension'],
  ['no-digital-signature', 'that may not sign'],
  ['server-auth', 'for servers only'],
  ['ca-true', 'that is a CA'],
  ['two-cn', 'with two CNs'],
] as const;

function authentication(id: string, source: string, asserts: string, spec: Spec): Case {
  return refuse(`NEG-AUTH-${id}`, source, asserts, '0101', spec);
}

const other = (c: string) => (c === 'A' ? 'B' : 'A');

/** Signed by somebody else, or changed since. */
export const AUTHENTICATION_CASES: readonly Case[] = [
  ...CERTIFICATES.map(([name, words], index) =>
    authentication(String(index + 1).padStart(2, '0'), 'PAS4 §4.7', `A certificate ${words} proves nobody.`, {
      as: `bad:${name}`,
      header: { from: [{ value: 'POP000001', type: PARTY_TYPE }] },
    }),
  ),
  authentication('20', 'XMLDSig §3.2.2', 'A token of another access point is refused.', ({ sender, sender2 }) => ({
    signature: {
      signer: { certificate: (sender2 ?? sender).certificate, privateKey: sender.privateKey },
    },
    ...(sender2 === null
      ? { editEnvelope: (xml: string) => xml.replace(/(<ds:SignatureValue>.{9})(.)/s, (_, a, c) => a + other(c)) }
      : {}),
  })),
  authentication('21', 'XMLDSig §3.2.2', 'A changed SignatureValue is refused.', {
    editEnvelope: (xml) => xml.replace(/(<ds:SignatureValue>)(.)/, (_, tag, c) => tag + other(c)),
  }),
  authentication('22', 'XMLDSig §4.3', 'A SignatureValue that is no base64 is refused.', {
    editEnvelope: (xml) => xml.replace(/(<ds:SignatureValue>)./, '$1!'),
  }),
  authentication('23', 'XMLDSig §3.2.2', 'A changed DigestValue is refused.', {
    editEnvelope: (xml) => xml.replace(/(<ds:DigestValue>)(.)/, (_, tag, c) => tag + other(c)),
  }),
  authentication('24', 'XMLDSig §3.2.1', 'An eb:Messaging that was changed is refused.', {
    editEnvelope: (xml) => xml.replace('</eb:ConversationId>', 'x</eb:ConversationId>'),
  }),
  authentication('25', 'XMLDSig §3.2.1', 'A SOAP Body that was changed is refused.', {
    editEnvelope: (xml) => xml.replace('</S12:Body>', ' </S12:Body>'),
  }),
  authentication('26', 'XMLDSig §3.2.1', 'A signed wsu:Timestamp that was changed is refused.', {
    security: ['timestamp', 'receiverToken', 'encryptedKey', 'encryptedData', 'signerToken', 'signature'],
    signature: { order: ['messaging', 'body', 'timestamp', 'attachments'] },
    wsuTimestamp: { created: '2026-11-30T10:00:00Z', expires: '2099-11-30T10:05:00Z' },
    editEnvelope: (xml) => xml.replace('2099-', '2098-'),
  }),
  authentication('27', 'XMLDSig §4.4.3', 'A reference that leads nowhere is refused.', withReference('#nowhere')),
  authentication('28', 'SwA §5.4', 'A payload that was changed before it was encrypted is refused.', {
    editPlain: (octets) => Buffer.from(octets).fill(0, 30, 31).fill(1, 31, 32),
  }),
  authentication('29', 'SwA §5.4.2', 'Uncompressed XML that was changed is refused.', {
    payload: { compress: false },
    editPlain: (octets) => Buffer.from(octets.toString().replace('EUR', 'USD')),
  }),
  authentication('30', 'SwA §5.4.2', 'Uncompressed XML with a DOCTYPE in front of it is refused.', {
    payload: { compress: false },
    editPlain: (octets) => Buffer.concat([Buffer.from('<!DOCTYPE StandardBusinessDocument>'), octets]),
  }),
];

function decryption(id: string, asserts: string, spec: Spec): Case {
  return refuse(`NEG-DEC-${id}`, 'XMLENC 1.1 §5.2.4, §5.5', asserts, '0102', spec);
}

/** Cannot be decrypted. */
export const DECRYPTION_CASES: readonly Case[] = [
  decryption('01', 'A changed ciphertext is refused.', { editCipher: (octets) => Buffer.from(octets).fill(0, 20, 24) }),
  decryption('02', 'A changed tag is refused.', {
    editCipher: (octets) => Buffer.concat([octets.subarray(0, -4), Buffer.alloc(4)]),
  }),
  decryption('03', 'A ciphertext shorter than IV and tag is refused.', {
    editCipher: (octets) => octets.subarray(0, 20),
  }),
  decryption('04', 'An empty part is refused.', { editCipher: () => Buffer.alloc(0) }),
  decryption('05', 'A damaged wrapped key is refused.', {
    editEnvelope: (xml) => xml.replace(/(<xenc:CipherValue>.{40})(.)/s, (_, head, c) => head + other(c)),
  }),
  decryption('06', 'A content key of 24 octets is refused.', { encryption: { wrapped: Buffer.alloc(24, 7) } }),
  decryption('07', 'Another content key is refused.', { encryption: { wrapped: Buffer.alloc(16, 7) } }),
  decryption('08', 'A message that is encrypted for another access point is refused.', ({ sender, receiver }) => ({
    encryption: { recipient: sender.certificate },
    header: { to: [{ value: /^CN=(.*)$/m.exec(receiver.subject)?.[1] ?? '', type: PARTY_TYPE }] },
  })),
  {
    id: 'NEG-DEC-09',
    source: 'facts §1.7',
    asserts: 'A damaged key, a wrong key and a damaged tag are answered in the same words: there is no oracle.',
    basis: 'reading',
    async run(trial) {
      const specs: readonly MessageSpec[] = [
        { encryption: { wrapped: Buffer.alloc(16, 7) } },
        { encryption: { wrapped: Buffer.alloc(24, 7) } },
        { editCipher: (octets) => Buffer.concat([octets.subarray(0, -4), Buffer.alloc(4)]) },
        { editEnvelope: (xml) => xml.replace(/(<xenc:CipherValue>.{40})(.)/s, (_, head, c) => head + other(c)) },
      ];
      const words = new Set<string>();
      for (const spec of specs) {
        const message = trial.make(spec);
        const [error] = trial.error(await trial.send(message), message, { codes: [] }).errors;
        words.add(JSON.stringify([error?.code, error?.description, error?.detail]));
      }
      if (words.size > 1) trial.fail('form', `${words.size} different answers: ${[...words].join('; ').slice(0, 400)}`);
    },
  },
];
