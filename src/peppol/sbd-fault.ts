import { As4Error } from '../as4-error.ts';

/** A business envelope that is refused: EBMS:0004, the words in ErrorDetail as well, where senders' tools look for them. */
export function sbdFault(what: string, reason = 'sbd-invalid', cause?: unknown): As4Error {
  return new As4Error('EBMS:0004', `The payload is not a valid Peppol business message: ${what}`, {
    detail: what,
    reason,
    cause,
  });
}
