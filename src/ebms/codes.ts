import type { EbmsCode } from '../as4-error.ts';

/** What the attributes of an eb:Error say for one code (Core §6.7, AS4 §3.1). */
export interface EbmsCodeEntry {
  readonly shortDescription: string;
  readonly severity: 'failure' | 'warning';
  readonly category: 'Content' | 'Unpackaging' | 'Processing' | 'Communication';
  readonly origin: 'ebMS' | 'security';
}

/** The one table of error codes: nothing else in this project says what a code means. */
export const EBMS_CODES: Readonly<Record<EbmsCode, EbmsCodeEntry>> = {
  'EBMS:0001': { shortDescription: 'ValueNotRecognized', severity: 'failure', category: 'Content', origin: 'ebMS' },
  'EBMS:0003': { shortDescription: 'ValueInconsistent', severity: 'failure', category: 'Content', origin: 'ebMS' },
  'EBMS:0004': { shortDescription: 'Other', severity: 'failure', category: 'Content', origin: 'ebMS' },
  'EBMS:0007': { shortDescription: 'MimeInconsistency', severity: 'failure', category: 'Unpackaging', origin: 'ebMS' },
  'EBMS:0008': {
    shortDescription: 'FeatureNotSupported',
    severity: 'failure',
    category: 'Unpackaging',
    origin: 'ebMS',
  },
  'EBMS:0009': { shortDescription: 'InvalidHeader', severity: 'failure', category: 'Unpackaging', origin: 'ebMS' },
  'EBMS:0010': {
    shortDescription: 'ProcessingModeMismatch',
    severity: 'failure',
    category: 'Processing',
    origin: 'ebMS',
  },
  'EBMS:0011': { shortDescription: 'ExternalPayloadError', severity: 'failure', category: 'Content', origin: 'ebMS' },
  'EBMS:0101': {
    shortDescription: 'FailedAuthentication',
    severity: 'failure',
    category: 'Processing',
    origin: 'security',
  },
  'EBMS:0102': {
    shortDescription: 'FailedDecryption',
    severity: 'failure',
    category: 'Processing',
    origin: 'security',
  },
  'EBMS:0103': {
    shortDescription: 'PolicyNoncompliance',
    severity: 'failure',
    category: 'Processing',
    origin: 'security',
  },
  'EBMS:0303': {
    shortDescription: 'DecompressionFailure',
    severity: 'failure',
    category: 'Communication',
    origin: 'ebMS',
  },
};
