import { As4Error } from '../as4-error.ts';

/**
 * Every algorithm that is accepted, in either direction, with all that the code below needs to know about it (Peppol AS4 profile,
 * eDelivery AS4 §1.4.5). What is not here is refused; nothing below switches on a URI.
 */
const TABLE = {
  canonicalization: {
    'http://www.w3.org/2001/10/xml-exc-c14n#': { inclusivePrefixes: true },
  },
  signature: {
    'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256': { hash: 'sha256', keyType: 'rsa' },
  },
  digest: {
    'http://www.w3.org/2001/04/xmlenc#sha256': { hash: 'sha256', bytes: 32 },
  },
  'same-document transform': {
    'http://www.w3.org/2001/10/xml-exc-c14n#': { inclusivePrefixes: true },
  },
  'attachment transform': {
    'http://docs.oasis-open.org/wss/oasis-wss-SwAProfile-1.1#Attachment-Content-Signature-Transform': {
      inclusivePrefixes: false,
    },
  },
  'ciphertext transform': {
    'http://docs.oasis-open.org/wss/oasis-wss-SwAProfile-1.1#Attachment-Ciphertext-Transform': {},
  },
  'key transport': {
    'http://www.w3.org/2009/xmlenc11#rsa-oaep': { name: 'RSA-OAEP' },
  },
  'key transport digest': {
    'http://www.w3.org/2001/04/xmlenc#sha256': { hash: 'SHA-256' },
  },
  'mask generation': {
    // Node sets digest and MGF1 hash together: the pair is what it can do and what the profile wants.
    'http://www.w3.org/2009/xmlenc11#mgf1sha256': { hash: 'SHA-256' },
  },
  'data encryption': {
    'http://www.w3.org/2009/xmlenc11#aes128-gcm': { cipher: 'aes-128-gcm', keyBytes: 16, ivBytes: 12, tagBytes: 16 },
  },
} as const;

type Table = typeof TABLE;
/** What an algorithm is used for; also the words for it in a refusal. */
export type AlgorithmUse = keyof Table;
export type Algorithm<Use extends AlgorithmUse> = Use extends AlgorithmUse ? Table[Use][keyof Table[Use]] : never;

/** The URI that we write ourselves; each use has exactly one. */
export function ownAlgorithm<Use extends AlgorithmUse>(use: Use): keyof Table[Use] & string {
  return Object.keys(TABLE[use])[0] as keyof Table[Use] & string;
}

/**
 * The entry of the table.
 * @throws As4Error EBMS:0103 when the URI is missing or not in the table for this use
 */
export function algorithm<Use extends AlgorithmUse>(use: Use, uri: string | undefined): Algorithm<Use> {
  const entries: Readonly<Record<string, unknown>> = TABLE[use];
  if (uri !== undefined && Object.hasOwn(entries, uri)) return entries[uri] as Algorithm<Use>;
  const allowed = Object.keys(entries).join(', ');
  throw policyError(
    uri === undefined
      ? `The ${use} algorithm is missing; expected ${allowed}`
      : `The ${use} algorithm ${quoted(uri)} is not allowed; expected ${allowed}`,
    'algorithm-not-allowed',
  );
}

/** EBMS:0103 PolicyNoncompliance: the message is understood, but not secured the way the P-Mode says. */
export function policyError(description: string, reason: string): As4Error {
  return new As4Error('EBMS:0103', description, { reason });
}

/** A sender's value inside a sentence that goes back: short, and without control characters. */
export function quoted(value: string): string {
  // A surrogate pair must not be cut in half.
  const short = value.length > 160 ? `${value.slice(0, 160).replace(/[\ud800-\udbff]$/, '')}…` : value;
  return `"${short.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ')}"`;
}
