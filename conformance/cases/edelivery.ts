import { gzipSync } from 'node:zlib';
import type { Case } from '../case.ts';
import { fourCorners, freshSlip, type MessageSpec } from '../message.ts';
import type { Target } from '../target/target.ts';
import { compressedAs } from './compressed-as.ts';
import { accept, notApplicable, refuse } from './rows.ts';
import { postedReceipt } from './signals.ts';

const TAD = (row: string) => `eD TAD 1.2 ${row}`;
const PLAIN = { compress: false } as const;

/** The assertions about a receiver of the EU eDelivery AS4 conformance tests; AS4_CP_TA10 has a file of its own. */
export const EDELIVERY_CASES: readonly Case[] = [
  accept(
    'AS4_CP_TA01',
    TAD('TA01'),
    'One-Way/Push: the HTTP response has status 2xx and the non-repudiation receipt.',
    {
      document: 'invoice',
    },
  ),
  accept('AS4_CP_TA04', TAD('TA04'), 'An uncompressed payload is receipted and delivered.', { payload: PLAIN }),
  accept(
    'AS4_CP_TA07',
    TAD('TA07'),
    'A message with several payloads is receipted, and all of them are delivered.',
    () => ({
      more: [freshSlip(), freshSlip()],
    }),
  ),
  refuse('AS4_CP_TA08', TAD('TA08'), 'A payload behind a hyperlink gets a synchronous ebMS error.', '', {
    editMessaging: (xml) => xml.replace(/href="cid:[^"]*"/, 'href="http://127.0.0.1:1/payload.xml"'),
  }),
  notApplicable(
    'AS4_CP_TA14',
    TAD('TA14'),
    'Two-Way: the receipt is synchronous, with status 2xx.',
    'Peppol forbids Two-Way (PAS4 §4.1)',
  ),
  accept('AS4_CP_TA17', TAD('TA17'), 'A ping gets a receipt, and the consumer nothing.', ping),
  accept('AS4_CP_TA21', TAD('TA21'), 'SOAP with attachments is accepted.', {
    mime: { packaging: 'multipart' },
    document: 'creditNote',
  }),
  {
    id: 'AS4_CP_TA22',
    source: TAD('TA22'),
    asserts: 'Simple SOAP is handled: a ping without MIME gets a receipt, a posted receipt gets no error.',
    basis: 'norm',
    async run(trial) {
      await trial.accepted(trial.make(ping(trial.target)));
      const reply = await trial.send(trial.make(postedReceipt()));
      if (reply.status < 200 || reply.status > 299 || 'signal' in reply.read) {
        trial.fail(
          'other-status',
          `a posted receipt was answered with HTTP ${reply.status} and ${reply.body.length} octets`,
        );
      }
    },
  },
  refuse('AS4_CP_TA26', TAD('TA26, preferred'), 'Without part property MimeType: a synchronous ebMS error.', '', {
    payload: { mimeType: null },
  }),
  refuse('AS4_CP_TA29', TAD('TA29, preferred'), 'CharacterSet "!utf*": a synchronous ebMS error.', '', {
    payload: { characterSet: '!utf*' },
  }),
  refuse('AS4_CP_TA30', TAD('TA30'), 'Damaged gzip: EBMS:0303 DecompressionFailure.', '0303', () =>
    compressedAs(damaged),
  ),
  notApplicable(
    'AS4_CP_TA31',
    TAD('TA31, preferred'),
    'Damaged gzip: the consumer is notified.',
    'the notification of the consumer cannot be seen over HTTP; the error signal is TA30',
  ),
  accept('AS4_CP_TA32', TAD('TA32'), 'One compressed payload is delivered decompressed.', {
    document: 'despatchAdvice',
  }),
  accept('AS4_CP_TA33', TAD('TA33'), 'Several compressed payloads are delivered decompressed.', () => ({
    document: 'invoice',
    more: [freshSlip()],
  })),
  accept('AS4_CP_TA34', TAD('TA34'), 'Compressed, then signed: a receipt with the digests of the compressed octets.', {
    document: 'orderResponse',
  }),
  refuse('AS4_CP_TA35', TAD('TA35'), 'Signed, then compressed: an error.', '', {
    payload: { compress: false, compressionType: 'application/gzip', encryptedMimeType: 'application/gzip' },
    editPlain: (octets) => gzipSync(octets),
  }),
  accept('AS4_CP_TA36', TAD('TA36'), 'Compressed, then encrypted: a receipt.'),
  refuse('AS4_CP_TA37', TAD('TA37'), 'Encrypted, then compressed: an error.', '', {
    editCipher: (octets) => gzipSync(octets),
  }),
  accept('AS4_CP_TA38', TAD('TA38'), 'All payloads compressed, signed and encrypted: a receipt.', () => ({
    document: 'creditNote',
    more: [freshSlip()],
  })),
  accept(
    'AS4_4CT_TA02',
    TAD('4CT_TA02, permitted'),
    'trackingIdentifier: a receipt; Peppol forbids the property (PAS4 §4), so the backend is warned.',
    ({ participants }) => ({
      header: {
        properties: [
          { name: 'originalSender', type: 'iso6523-actorid-upis', value: participants.sender },
          { name: 'finalRecipient', type: 'iso6523-actorid-upis', value: participants.receiver },
          { name: 'trackingIdentifier', value: 'zt-4711' },
        ],
      },
    }),
    { warning: true },
  ),
];

/** With the properties of a business message, so that it is right whether or not a product wants them in a ping. */
function ping({ participants }: Target): MessageSpec {
  return { document: null, header: { properties: fourCorners(participants.sender, participants.receiver) } };
}

/** The checksum at the end is not that of the document, of which nothing else is wrong. */
function damaged(content: Buffer): Buffer {
  const octets = gzipSync(content);
  octets[octets.length - 6] = (octets[octets.length - 6] ?? 0) ^ 1;
  return octets;
}
