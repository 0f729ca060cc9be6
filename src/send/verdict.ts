import type { Attempt } from './send.ts';

/** What a run of `quittance send` has come to; for programs, and stable. */
export type VerdictCode =
  | 'receipted'
  | 'refused'
  /** A receipt for the message, and an error for the same bytes again: a sender that lost the receipt could not tell that it has arrived. */
  | 'repeat-refused'
  | 'no-receipt'
  | 'unproven'
  | 'answers-differ';

export interface Verdict {
  readonly code: VerdictCode;
  /** What went wrong, for a person; null when every answer is a receipt that holds and all are the same bytes. */
  readonly complaint: string | null;
}

/** Judges all answers to the same bytes; the first that is wrong decides. */
export function judgeAttempts(attempts: readonly Attempt[], identical: boolean): Verdict {
  for (const [index, attempt] of attempts.entries()) {
    const wrong = judgeAttempt(attempt, index);
    if (wrong !== null) return wrong;
  }
  if (identical) return { code: 'receipted', complaint: null };
  return { code: 'answers-differ', complaint: 'The answers to the same bytes differ.' };
}

function judgeAttempt({ error, receipt, verified, fault, status }: Attempt, index: number): Verdict | null {
  if (error !== null) {
    const said = `with ${error.code}: ${error.description}${error.detail ? ` (${error.detail})` : ''}`;
    const doubt = verified ? '' : ` (The error itself proves nothing: ${fault ?? 'its signature does not hold'}.)`;
    if (index === 0) return { code: 'refused', complaint: `The receiver refused the message ${said}${doubt}` };
    return {
      code: 'repeat-refused',
      complaint:
        `The receiver gave a receipt for the message, but refused its repeat (answer ${index + 1}) ${said}${doubt}\n` +
        'The message has arrived. A sender that loses the receipt and sends again is told of a failure instead.',
    };
  }
  if (!receipt) {
    const again = status === 503 ? '; it asks to try again later, with the same --message-id' : '';
    return { code: 'no-receipt', complaint: `The receiver answered HTTP ${status} without a receipt${again}.` };
  }
  if (verified) return null;
  return { code: 'unproven', complaint: `The receipt does not hold: ${fault ?? 'its signature does not hold'}.` };
}
