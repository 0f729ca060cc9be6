import type { PayloadLook } from './interchange-start.ts';

/** What a rule can ask for of the business document. */
export const PAYLOAD_KINDS = ['xml', 'edifact', 'x12', 'pdf', 'binary', 'text'] as const;

export type PayloadKind = (typeof PAYLOAD_KINDS)[number];

/**
 * The kind of a business document, by its own first octets: a sender's `@mimeType` is only a word.
 * @param wrapped how it stands in the SBD: as XML, in a TextContent or in a BinaryContent
 */
export function payloadKind(wrapped: 'xml' | 'text' | 'binary', look: PayloadLook): PayloadKind {
  return wrapped === 'xml' ? 'xml' : (look ?? wrapped);
}
