export type MimeErrorCode =
  | 'bad-boundary'
  | 'bad-header'
  | 'bad-base64'
  | 'bare-line-feed'
  | 'duplicate-content-id'
  | 'headers-too-large'
  | 'no-parts'
  | 'preamble-too-large'
  | 'too-many-parts'
  | 'truncated'
  | 'unsupported-transfer-encoding';

/** The body is not the multipart it says it is. `message` may be sent: it tells the sender's operator what is wrong. */
export class MimeError extends Error {
  override readonly name = 'MimeError';
  readonly code: MimeErrorCode;

  constructor(code: MimeErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
