/** What can be wrong with keys, certificates, CRLs and names; closed, so that callers can switch on it. */
export type PkiErrorCode =
  | 'bad-certificate'
  | 'bad-name'
  | 'bad-crl'
  | 'bad-trust-file'
  | 'issuer-without-root'
  | 'test-issuer-in-production'
  | 'test-identity-in-production'
  | 'bad-key'
  | 'bad-password'
  | 'key-mismatch'
  | 'bad-identity'
  | 'unreadable-file'
  | 'not-fetched'
  | 'not-kept'
  | 'bad-ocsp';

/** A fault in our own files, or in a certificate or name that someone sent. `message` says what to do about it. */
export class PkiError extends Error {
  override readonly name = 'PkiError';
  readonly code: PkiErrorCode;

  constructor(code: PkiErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}
