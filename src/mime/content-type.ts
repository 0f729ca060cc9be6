import { parse } from 'content-type';

export interface ContentType {
  /** `type/subtype` in lower case. */
  readonly type: string;
  /** Names in lower case, values as written, without quotes. Of a parameter that is there twice the first holds. */
  readonly parameters: Readonly<Record<string, string>>;
}

const mediaType = /^[!#$%&'*+.^_`|~0-9a-z-]+\/[!#$%&'*+.^_`|~0-9a-z-]+$/;

/**
 * Reads a Content-Type as real senders write it: folded (JavaMail), with runs of blanks, a blank around `=`, a charset after the
 * boundary, `boundary` and `type` with or without quotes.
 * @returns null when there is none or it does not begin with a media type (RFC 9110 §8.3.1)
 */
export function parseContentType(header: string | undefined): ContentType | null {
  if (header === undefined) return null;
  // A fold is blank space (RFC 5322 §2.2.3); any other line break has no business here and fails the test of the type or stays in a value.
  const { type, parameters } = parse(header.includes('\n') ? header.replace(/\r?\n[ \t]+/g, ' ') : header);
  return mediaType.test(type) ? { type, parameters } : null;
}
