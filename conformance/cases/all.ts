import type { Case } from '../case.ts';
import { ANSWER_FORM_CASES } from './answer-form.ts';
import { DOCUMENT_CASES, PING_CASES } from './documents.ts';
import { DUPLICATE_CASES } from './duplicates.ts';
import { AT_ONCE_CASES } from './duplicates-at-once.ts';
import { REBUILT_CASES } from './duplicates-rebuilt.ts';
import { EDELIVERY_CASES } from './edelivery.ts';
import { LOST_RECEIPT_CASES } from './lost-receipts.ts';
import { AUTHENTICATION_CASES, DECRYPTION_CASES } from './negative-authentication.ts';
import { HEADER_CASES } from './negative-header.ts';
import { HTTP_CASES } from './negative-http.ts';
import { PACKAGE_CASES } from './negative-package.ts';
import { ALGORITHM_CASES, COVERAGE_CASES } from './negative-policy.ts';
import { XML_CASES } from './negative-xml.ts';
import { PMODE_CASES, TOKEN_CASES } from './pmode.ts';
import { SBDH_CASES } from './sbdh.ts';
import { SERVICED_CASES } from './serviced.ts';
import { SIGNAL_CASES } from './signals.ts';
import { ENVELOPE_CASES, VALUE_CASES } from './tolerance-envelope.ts';
import { ENCRYPTION_CASES, MIME_CASES } from './tolerance-package.ts';

/** Every case, by the chapter of the reports. */
export const CHAPTERS: readonly (readonly [string, readonly Case[]])[] = [
  ['EU eDelivery AS4 conformance tests', [...EDELIVERY_CASES, ...LOST_RECEIPT_CASES]],
  ['Peppol: P-Mode', PMODE_CASES],
  ['Peppol: naming the signing key', TOKEN_CASES],
  ['Peppol: business envelope', SBDH_CASES],
  ['Peppol: who is serviced', SERVICED_CASES],
  ['Documents and compression', DOCUMENT_CASES],
  ['Pings', PING_CASES],
  ['Duplicates', [...DUPLICATE_CASES, ...REBUILT_CASES, ...AT_ONCE_CASES]],
  ['Refused: HTTP and MIME', [...HTTP_CASES, ...PACKAGE_CASES]],
  ['Refused: XML', XML_CASES],
  ['Refused: header', HEADER_CASES],
  ['Refused: coverage', COVERAGE_CASES],
  ['Refused: algorithms', ALGORITHM_CASES],
  ['Refused: authentication', AUTHENTICATION_CASES],
  ['Refused: decryption', DECRYPTION_CASES],
  ['Signals posted to the receiver', SIGNAL_CASES],
  ['Tolerance: envelope', ENVELOPE_CASES],
  ['Tolerance: values', VALUE_CASES],
  ['Tolerance: encryption', ENCRYPTION_CASES],
  ['Tolerance: package', MIME_CASES],
  ['Form of the answers', ANSWER_FORM_CASES],
];

export const CASES: readonly Case[] = CHAPTERS.flatMap(([, cases]) => cases);
