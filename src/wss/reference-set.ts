import { hash } from 'node:crypto';
import type { ReferenceCopy } from '../ebms/signal.ts';

/**
 * SHA-256 over the list of references exactly as a receipt repeats it: two messages with the same set get the same receipt.
 * JSON arrays keep the encoding unambiguous; `digestValue` is normalised base64 already.
 */
export function referenceSet(references: readonly ReferenceCopy[]): Buffer {
  const list = references.map((r) => [
    r.uri,
    r.transforms.map((t) => [t.algorithm, t.prefixList]),
    r.digestMethod,
    r.digestValue,
  ]);
  return hash('sha256', JSON.stringify(list), 'buffer');
}
