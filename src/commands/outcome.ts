import type { OperatorOutcome } from '../store/operator-types.ts';
import { CommandError } from './io.ts';

export type Done = Extract<OperatorOutcome, { readonly kind: 'done' }>;

/** What the store did. @throws CommandError with the store's own sentence when it refused */
export function doneOr(outcome: OperatorOutcome): Done {
  if (outcome.kind === 'refused') {
    const key = outcome.reason === 'limit' ? ' It is review.exceptionsPerHour.' : '';
    throw new CommandError(`${outcome.text}${key}`);
  }
  return outcome;
}

/** The same for programs; `kind` says nothing that the exit code does not. */
export function doneJson({ message, messageId, handOver, state, already, same }: Done): object {
  return { message, messageId, handOver, state, already, ...(same && { same }) };
}
