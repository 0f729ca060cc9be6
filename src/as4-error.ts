/** ebMS error codes this receiver can answer with (facts: ebMS 3.0 Core §6.7, AS4 §3.6). Details of each: `ebms/codes.ts`. */
export type EbmsCode =
  | 'EBMS:0001'
  | 'EBMS:0003'
  | 'EBMS:0004'
  | 'EBMS:0007'
  | 'EBMS:0008'
  | 'EBMS:0009'
  | 'EBMS:0010'
  | 'EBMS:0011'
  | 'EBMS:0101'
  | 'EBMS:0102'
  | 'EBMS:0103'
  | 'EBMS:0303';

export interface As4ErrorOptions {
  /** eb:ErrorDetail, an xsd:token; Peppol's `PEPPOL:NOT_SERVICED` goes here. */
  readonly detail?: string;
  /** HTTP status of the answer that carries the signal; 200 unless architecture §5 says otherwise. */
  readonly status?: number;
  /** A stable slug for metrics and the log, e.g. `digest-mismatch`. Never sent. */
  readonly reason?: string;
  /** What really happened; for the log only, never sent. */
  readonly cause?: unknown;
}

/**
 * A refusal that is the sender's to mend: becomes a signed eb:Error (architecture §5).
 * `message` is eb:Description, sent as it is: words that the sender's operator can act on, nothing internal.
 */
export class As4Error extends Error {
  override readonly name = 'As4Error';
  readonly code: EbmsCode;
  readonly detail: string | undefined;
  readonly status: number;
  readonly reason: string;

  constructor(code: EbmsCode, description: string, options: As4ErrorOptions = {}) {
    super(description, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.detail = options.detail;
    this.status = options.status ?? 200;
    this.reason = options.reason ?? code.toLowerCase().replace(':', '-');
  }
}

/**
 * An answer without any signal: either the request never was AS4 (400, 415, 413 by length, 408), or the fault is ours and the
 * sender must try again (503) or tell us (500). Senders take every ebMS error as final, so these carry plain text only.
 */
export class TransportRefusal extends Error {
  override readonly name = 'TransportRefusal';
  readonly status: 400 | 408 | 413 | 415 | 500 | 503;
  readonly reason: string;
  /** Seconds for Retry-After with 503; undefined: what the configuration says. */
  readonly retryAfter: number | undefined;

  constructor(
    status: TransportRefusal['status'],
    text: string,
    options: { readonly reason: string; readonly retryAfter?: number; readonly cause?: unknown },
  ) {
    super(text, options.cause === undefined ? undefined : { cause: options.cause });
    this.status = status;
    this.reason = options.reason;
    this.retryAfter = options.retryAfter;
  }
}
