import { BEHAVIOUR_MUTANTS } from './bad-behaviour.ts';
import { ERROR_MUTANTS, RECEIPT_MUTANTS } from './bent-answers.ts';
import type { Mutant } from './mutant.ts';

/** Receivers with one fault each. */
export const MUTANTS: readonly Mutant[] = [...RECEIPT_MUTANTS, ...ERROR_MUTANTS, ...BEHAVIOUR_MUTANTS];
