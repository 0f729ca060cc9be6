import type { Certificate } from './certificate.ts';
import { type Issuer, KNOWN_CRITICAL } from './issuers.ts';
import { SIGNATURE_HASHES } from './signature-algorithms.ts';

/** Why a certificate is refused; stable, for metrics and tests. */
export type RefusalReason =
  | 'malformed'
  | 'self-signed'
  | 'unknown-issuer'
  | 'issued-by-root'
  | 'bad-issuer-signature'
  | 'issuer-revoked'
  | 'revoked'
  | LeafFault;

type LeafFault =
  | 'weak-signature'
  | 'not-yet-valid'
  | 'expired'
  | 'issuer-not-valid'
  | 'ca-certificate'
  | 'critical-extension'
  | 'key-usage'
  | 'extended-key-usage'
  | 'weak-key'
  | 'common-name'
  | 'seat-id';

interface Rule {
  readonly reason: LeafFault;
  readonly text: string;
  readonly broken: (leaf: Certificate, issuer: Issuer, at: number) => boolean;
}

const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
const ANY_PURPOSE = '2.5.29.37.0';
/** Peppol seat id, the CN of every access-point certificate (peppol-commons REGEX_SEAT_ID). */
const SEAT_ID = /^P[A-Z]{2}\d{6}$/;

function isValid(certificate: Certificate, at: number): boolean {
  return certificate.notBefore <= at && at <= certificate.notAfter;
}

/**
 * What a leaf that a trusted CA signed must still satisfy, in the order in which a breach is told. Validity periods need
 * not nest: real leaves predate their CA.
 */
export const LEAF_RULES: readonly Rule[] = [
  {
    reason: 'weak-signature',
    text: 'The certificate is signed with an algorithm that is too weak or not known',
    broken: (leaf) => !SIGNATURE_HASHES.has(leaf.signatureAlgorithm),
  },
  {
    reason: 'not-yet-valid',
    text: 'The certificate is not valid yet',
    broken: (leaf, _, at) => !(leaf.notBefore <= at),
  },
  {
    reason: 'expired',
    text: 'The certificate has expired',
    broken: (leaf, _, at) => !(at <= leaf.notAfter),
  },
  {
    reason: 'issuer-not-valid',
    text: 'The CA that issued the certificate, or its root, is not valid at this time',
    broken: (_, issuer, at) => !isValid(issuer.certificate, at) || !isValid(issuer.root, at),
  },
  {
    reason: 'ca-certificate',
    text: 'The certificate is a CA certificate',
    broken: (leaf) => leaf.ca,
  },
  {
    reason: 'critical-extension',
    text: 'The certificate has a critical extension that is not known here',
    broken: (leaf) => leaf.criticalExtensions.some((oid) => !KNOWN_CRITICAL.has(oid)),
  },
  {
    reason: 'key-usage',
    text: 'The certificate may not sign: its keyUsage lacks digitalSignature',
    broken: (leaf) => leaf.keyUsage?.has('digitalSignature') !== true,
  },
  {
    // Peppol's leaves carry a critical extKeyUsage clientAuth. One for another purpose was not issued to an access point.
    reason: 'extended-key-usage',
    text: 'The certificate is for another purpose: its extKeyUsage lacks clientAuth',
    broken: ({ extKeyUsage }) =>
      extKeyUsage !== null && !extKeyUsage.includes(CLIENT_AUTH) && !extKeyUsage.includes(ANY_PURPOSE),
  },
  {
    reason: 'weak-key',
    text: 'The key of the certificate is not RSA of at least 2048 bits',
    broken: (leaf) => leaf.rsaBits === null || leaf.rsaBits < 2048,
  },
  {
    reason: 'common-name',
    text: 'The subject of the certificate does not have exactly one CN',
    broken: (leaf) => leaf.commonName === null,
  },
  {
    reason: 'seat-id',
    text: 'The CN of the certificate is not a Peppol seat id',
    broken: (leaf) => !SEAT_ID.test(leaf.commonName ?? ''),
  },
];
