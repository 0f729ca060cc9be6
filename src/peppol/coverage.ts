import { As4Error } from '../as4-error.ts';
import { quote } from '../ebms/quote.ts';
import type { PartInfo, UserMessage } from '../ebms/user-message.ts';
import { describePart, type PartDescription } from './part-properties.ts';

/** A payload that is signed and encrypted under the name that its PartInfo gives it. */
export interface CoveredPart extends PartDescription {
  /** `cid:` URI, spelled alike in PartInfo, signature and encryption. */
  readonly href: string;
  readonly partInfo: PartInfo;
}

/**
 * Every PartInfo must be among the signed references and encrypted, and nothing else may be (AS4 §5.1.4–5.1.8, architecture §2.5).
 * Names are compared exactly: two spellings of one Content-ID could be resolved to two parts by two programs.
 *
 * @param attachments signed `cid:` URIs
 * @param encryptedCids `cid:` URIs of the EncryptedData elements
 * @returns the parts in PartInfo order
 * @throws {As4Error} EBMS:0103
 */
export function checkCoverage(
  message: UserMessage,
  attachments: ReadonlyMap<string, unknown>,
  encryptedCids: ReadonlySet<string>,
): CoveredPart[] {
  const named = new Set(message.payloadInfo.map(({ href }) => href));
  for (const href of named) {
    if (!attachments.has(href)) throw noncompliant(`the payload ${quote(href)} is not signed`, 'part-not-signed');
    if (!encryptedCids.has(href))
      throw noncompliant(`the payload ${quote(href)} is not encrypted`, 'part-not-encrypted');
  }
  for (const href of attachments.keys()) {
    if (!named.has(href)) throw noncompliant(`${quote(href)} is signed, but no eb:PartInfo names it`, 'part-not-named');
  }
  for (const href of encryptedCids) {
    if (!named.has(href))
      throw noncompliant(`${quote(href)} is encrypted, but no eb:PartInfo names it`, 'part-not-named');
  }
  return message.payloadInfo.map((partInfo) => ({ href: partInfo.href, partInfo, ...describePart(partInfo) }));
}

function noncompliant(what: string, reason: string): As4Error {
  return new As4Error('EBMS:0103', what, { reason });
}
