/**
 * What kind of thing went wrong, so that results of different products can be compared:
 * a receipt where a refusal is due, a refusal where a receipt is due, a refusal with another code, …
 */
export type FailureKind =
  | 'accepted'
  | 'refused'
  | 'other-code'
  | 'other-status'
  | 'no-signal'
  | 'unsigned'
  | 'form'
  | 'receipt'
  | 'changed'
  | 'folder'
  | 'unanswered'
  | 'suite';

/** The receiver did not do what a case asserts; the message says what it did instead. */
export class Failure extends Error {
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string) {
    super(message);
    this.name = 'Failure';
    this.kind = kind;
  }
}
