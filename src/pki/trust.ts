import type { Certificate } from './certificate.ts';

/** Why a certificate is refused; stable, for metrics and tests. */
export type RefusalReason =
  | 'malformed'
  | 'self-signed'
  | 'unknown-issuer'
  | 'issued-by-root'
  | 'bad-issuer-signature'
  | 'weak-signature'
  | 'expired'
  | 'not-yet-valid'
  | 'issuer-not-valid'
  | 'issuer-revoked'
  | 'ca-certificate'
  | 'key-usage'
  | 'extended-key-usage'
  | 'critical-extension'
  | 'weak-key'
  | 'common-name'
  | 'seat-id'
  | 'revoked';

/** What the trust store says of a certificate. `text` is for the sender's operator; nothing internal is in it. */
export type TrustVerdict =
  | {
      readonly status: 'trusted';
      readonly certificate: Certificate;
      /** The leaf, its issuing CA, and the root above it when one is configured. */
      readonly chain: readonly Certificate[];
      readonly warnings: readonly string[];
    }
  | { readonly status: 'refused'; readonly reason: RefusalReason; readonly text: string }
  /** Revocation cannot be decided under `hard`: 503 without a signal, so that the sender tries again. */
  | { readonly status: 'unknown'; readonly reason: 'revocation-unknown'; readonly text: string };

export interface TrustOptions {
  /** PEM bundle: the access-point CAs, and the self-signed roots above them. */
  readonly issuers: string;
  /** CRL files, PEM or DER. */
  readonly crls: readonly string[];
  readonly revocation: 'hard' | 'soft' | 'off';
  /** `production` refuses a bundle that holds test CAs. */
  readonly environment: 'test' | 'production';
  /** Epoch milliseconds; for `degraded`. */
  readonly now: () => number;
}
