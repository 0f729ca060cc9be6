/** Stable reasons for which XML is refused. */
export type XmlErrorCode =
  | 'not-utf8'
  | 'unknown-encoding'
  | 'bad-encoding'
  | 'malformed'
  | 'doctype'
  | 'processing-instruction'
  | 'too-deep'
  | 'too-large'
  | 'too-many-attributes'
  | 'too-many-namespaces'
  | 'too-many-references'
  | 'too-many-sections'
  | 'too-many-elements'
  | 'duplicate-id';

/** XML that is not taken. `message` is a sentence about the document's form that may be shown to its sender. */
export class XmlError extends Error {
  override readonly name = 'XmlError';
  readonly code: XmlErrorCode;

  constructor(code: XmlErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
