import { type Pattern, patternOf } from '../peppol/pattern.ts';
import type { Identifier } from '../peppol/routing.ts';
import type { PolicyFacts } from './policy.ts';

/** What a rule can ask about, in the order in which it is shown. */
export const CONDITION_KEYS = [
  'senderAp',
  'originalSender',
  'finalRecipient',
  'process',
  'documentType',
  'payloadKind',
] as const satisfies readonly (keyof PolicyFacts)[];

export type ConditionKey = (typeof CONDITION_KEYS)[number];

/** One question of a rule: is this fact like one of these patterns? */
export interface Condition {
  readonly key: ConditionKey;
  /** As written; participants in lower case, which is how they are compared. */
  readonly patterns: readonly string[];
  holds(facts: PolicyFacts): boolean;
  /** `documentType x is like "y"` or `… is not like …`. */
  explain(facts: PolicyFacts): string;
}

/** Peppol participants differ in more than case (PFUOI policy 1); everything else is compared exactly. */
const CASE_BLIND: ReadonlySet<ConditionKey> = new Set(['originalSender', 'finalRecipient']);

/**
 * @param patterns at least one; `*` stands for any characters, none included. An identifier is compared as `scheme::value` and as the
 *   value alone.
 */
export function condition(key: ConditionKey, patterns: readonly string[]): Condition {
  const caseBlind = CASE_BLIND.has(key);
  const written = caseBlind ? patterns.map((p) => p.toLowerCase()) : patterns;
  const compiled = written.map((text): { text: string; pattern: Pattern } => ({ text, pattern: patternOf(text) }));
  const like = (facts: PolicyFacts) => {
    const forms = formsOf(facts[key], caseBlind);
    return compiled.find(({ pattern }) => forms.some((form) => pattern.matches(form)))?.text;
  };
  return {
    key,
    patterns: written,
    holds: (facts) => like(facts) !== undefined,
    explain(facts) {
      const found = like(facts);
      const fact = showFact(facts[key]);
      if (found !== undefined) return `${key} ${fact} is like ${JSON.stringify(found)}`;
      const [first, ...others] = written.map((p) => JSON.stringify(p));
      const more = others.length === 0 ? '' : ` or ${others.length === 1 ? others[0] : `${others.length} others`}`;
      if (isAbsent(facts[key])) return `the message has no ${key}, which must be like ${first}${more}`;
      return `${key} ${fact} is not like ${first}${more}`;
    },
  };
}

function isAbsent(fact: Identifier | string | null): fact is null | '' {
  return fact === null || fact === '';
}

function formsOf(fact: Identifier | string | null, caseBlind: boolean): string[] {
  if (isAbsent(fact)) return [];
  if (typeof fact === 'string') return [fact];
  const { scheme, value } = fact;
  const forms = scheme === '' ? [value] : [`${scheme}::${value}`, value];
  return caseBlind ? forms.map((form) => form.toLowerCase()) : forms;
}

function showFact(fact: Identifier | string | null): string {
  if (fact === null) return '';
  if (typeof fact === 'string') return fact;
  return fact.scheme === '' ? fact.value : `${fact.scheme}::${fact.value}`;
}
