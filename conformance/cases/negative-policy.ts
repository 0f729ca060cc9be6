import type { Case } from '../case.ts';
import { freshSlip, type MessageSpec } from '../message.ts';
import { refuse, type Spec } from './rows.ts';

const AS4 = 'AS4 §5.1.4–5.1.8';

const PROFILE = 'eD §1.4.5';

const DS = 'http://www.w3.org/2000/09/xmldsig#';

const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#';

const SWA = 'http://docs.oasis-open.org/wss/oasis-wss-SwAProfile-1.1#';

const WSSE = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd';

function policy(
  id: string,
  source: string,
  asserts: string,
  spec: Spec,
  codes = '0103 0101',
  basis: Case['basis'] = 'norm',
): Case {
  return refuse(`NEG-POL-${id}`, source, asserts, codes, spec, { basis });
}

/** A rule of secure validation that other products have, too; no norm. */
function limit(id: string, asserts: string, spec: Spec): Case {
  return policy(id, 'Santuario secure validation', asserts, spec, '0103 0101', 'reading');
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
  limit('44', 'More than 30 references are refused.', withReference('cid:x', 31)),
  limit('45', 'Six transforms are refused.', {
    editSignedInfo: (xml) => xml.replace(/<ds:Transform [^>]*><\/ds:Transform>/, (transform) => transform.repeat(6)),
  }),
  policy('46', 'BSP R5403', 'A ds:Manifest is refused: its references need not be true.', {
    editEnvelope: (xml) =>
      xml.replace('</ds:Signature>', '<ds:Object><ds:Manifest></ds:Manifest></ds:Object></ds:Signature>'),
  }),
];
