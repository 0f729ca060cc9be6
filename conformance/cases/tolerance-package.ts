import type { Case } from '../case.ts';
import { freshSlip, type MessageSpec } from '../message.ts';
import { accept } from './rows.ts';

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

/** How keys and ciphers may be named. */
export const ENCRYPTION_CASES: readonly Case[] = chapter('ENC', [
  ...(
    [
      ['issuer-serial', 'issuer and serial number'],
      ['key-id', 'subject key identifier'],
      ['thumbprint', 'thumbprint'],
      ['x509-certificate', 'X509Data with the certificate'],
      ['x509-issuer-serial', 'X509Data with issuer and serial number'],
      ['x509-key-id', 'X509Data with the key identifier'],
    ] as const
  ).map(
    ([keyForm, words]): Row => [
      'eD §1.4.2.6',
      `The recipient is named by ${words}.`,
      { encryption: { keyForm }, security: ['encryptedKey', 'encryptedData', 'signerToken', 'signature'] },
      keyForm.startsWith('x509') ? 'reading' : undefined,
    ],
  ),
  ['SwA §5.5', 'EncryptedData in another order.', () => ({ more: [freshSlip()], encryption: { order: [1, 0] } })],
  ['XMLENC §3.5', 'EncryptedData without KeyInfo.', { encryption: { keyInfo: false } }],
  ['XMLENC §3.5', 'EncryptedKey without ReferenceList.', { encryption: { referenceList: false } }],
  [
    'XMLENC §3.5',
    'An EncryptedKey for each part.',
    () => ({ more: [freshSlip()], encryption: { keyPer: 'payload', order: [1, 0] } }),
  ],
  [
    'XMLENC §3.5',
    'An EncryptedKey for each part, named by its ReferenceList only.',
    () => ({
      more: [freshSlip()],
      encryption: { keyPer: 'payload', keyInfo: false },
    }),
  ],
]);

const MIME = 'RFC 2046, RFC 2387';

/** The package as other products write it. */
export const MIME_CASES: readonly Case[] = chapter('MIME', [
  [MIME, 'Parameters type, boundary, start.', { mime: { parameters: ['type', 'boundary', 'start'] } }],
  [
    MIME,
    'Parameters boundary, charset, start-info, start, type.',
    {
      mime: { parameters: ['boundary', 'charset', 'start-info', 'start', 'type'] },
    },
  ],
  [
    MIME,
    'Parameters without quotes.',
    {
      mime: { quotes: 'needed', boundary: 'MIMEBoundary_5f0e1d', parameters: ['boundary', 'type'] },
    },
  ],
  [MIME, 'Runs of blanks between the parameters (JavaMail).', { mime: { separator: ' ;  \t ' } }],
  ['RFC 2387 §3.2', 'No start: the first part is the root.', { mime: { parameters: ['type', 'boundary'] } }],
  ['Core §5.1.1', 'start without angle brackets.', { mime: { start: 'envelope@sender.example' } }],
  [MIME, 'A root part without Content-ID (as4).', { mime: { rootContentId: null } }],
  [
    MIME,
    'Preamble and epilogue (n42).',
    {
      mime: { preamble: 'This is a multipart message.\r\n--not the boundary', epilogue: 'The end.\r\n' },
    },
  ],
  [MIME, 'Part headers in lower case, backwards.', { mime: { headerCase: 'lower', reverseHeaders: true } }],
  [
    'Core §5.1.2.1',
    'Part headers in upper case, unknown ones among them.',
    {
      mime: { headerCase: 'upper', extraHeaders: ['X-Origin: warehouse', 'Content-Description: an AS4 part'] },
    },
  ],
  [
    'RFC 5322 §2.2.3',
    'Folded part headers.',
    {
      payload: {
        contentId: 'folded@sender.example',
        headers: [
          'Content-Type: application/octet-stream;\r\n\tname="payload"',
          'Content-ID:\r\n <folded@sender.example>',
          'Content-Transfer-Encoding: binary',
        ],
      },
    },
  ],
  [
    'RFC 2045 §6.8',
    'The payload part in base64 (n42): the digest is over the decoded content.',
    { payload: { transferEncoding: 'base64' } },
  ],
  ['RFC 2045 §6.8', 'The envelope in base64.', { mime: { rootTransferEncoding: 'BASE64' } }],
  [
    'RFC 2045 §6.1',
    'No Content-Transfer-Encoding.',
    { payload: { transferEncoding: null }, mime: { rootTransferEncoding: null } },
  ],
  [
    'RFC 2045 §6.2',
    'Content-Transfer-Encoding 8bit and 7bit.',
    { payload: { transferEncoding: '8bit' }, mime: { rootTransferEncoding: '7bit' } },
  ],
  [
    'RFC 2392',
    'Content-ID without angle brackets.',
    {
      payload: {
        contentId: 'bare@sender.example',
        headers: ['Content-Type: application/octet-stream', 'Content-ID: bare@sender.example'],
      },
    },
  ],
  ['RFC 2392', 'Content-ID with a plus sign: it is no blank.', { payload: { contentId: 'in+voice@sender.example' } }],
  [
    'RFC 2392',
    'Content-ID that is percent-encoded in its URI.',
    { payload: { contentId: 'in voice#1%@sender.example' } },
  ],
  [
    'Core §5.1.5',
    'A part that no PartInfo names is thrown away.',
    () => ({
      more: [{ content: Buffer.from('stray'), named: false, signed: false, encrypted: false }],
    }),
    'reading',
  ],
  [
    'PAS4 §4.10',
    'Content-Disposition, from a product that cannot leave it out.',
    { mime: { extraHeaders: ['Content-Disposition: attachment; filename="payload.xml"'] } },
    'reading',
  ],
]);
