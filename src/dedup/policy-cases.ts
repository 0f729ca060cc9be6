import { decideRule, type Policy, type RuleDecision, type RuleValues, VALUE_KEYS } from './policy.ts';
import { CONDITION_KEYS, type ConditionKey } from './policy-condition.ts';
import { PolicyError } from './policy-error.ts';
import { readFacts, type WrittenFacts } from './policy-facts.ts';
import { isTables, parseToml, refuseUnknown } from './policy-toml.ts';
import { isValueKey, readValue, show, showValue } from './policy-values.ts';

/** A message, and what the operator expects of the policy for it. */
export interface PolicyCase {
  /** `case 2 "an invoice"`, or `case 2`. */
  readonly title: string;
  readonly facts: WrittenFacts;
  readonly rule: string | null;
  readonly values: Readonly<Partial<RuleValues>>;
}

export interface CaseResult {
  readonly title: string;
  readonly decision: RuleDecision;
  /** What differs; empty when the case has passed. */
  readonly differences: readonly { readonly key: string; readonly expected: string; readonly actual: string }[];
}

/**
 * Reads a table of cases:
 *
 * ```toml
 * [[case]]
 * name = "an order"
 * documentType = "urn:…:Order-2::Order##…"
 * expect = { rule = "orders", window = "90d" }
 * ```
 * @throws PolicyError with everything that is wrong
 */
export function parseCases(text: string, source: string): PolicyCase[] {
  const file = parseToml(text, source);
  const problems: string[] = [];
  refuseUnknown(Object.keys(file), ['case'], 'a table of cases', (sentence) => problems.push(`${source}: ${sentence}`));
  const tables = file.case;
  if (!isTables(tables) || tables.length === 0) {
    throw new PolicyError([...problems, `${source}: it has no cases; write [[case]] tables.`]);
  }
  const cases = tables.map((table, i) =>
    readCase(table, i + 1, (s, where) => problems.push(`${source}: ${where}: ${s}`)),
  );
  if (problems.length > 0) throw new PolicyError(problems);
  return cases;
}

function readCase(
  table: Readonly<Record<string, unknown>>,
  index: number,
  report: (sentence: string, where: string) => void,
): PolicyCase {
  const { name, expect } = table;
  const title = typeof name === 'string' ? `case ${index} ${JSON.stringify(name)}` : `case ${index}`;
  const problem = (sentence: string) => report(sentence, title);
  refuseUnknown(Object.keys(table), ['name', ...CONDITION_KEYS, 'expect'], 'a case', problem);
  const facts: Partial<Record<ConditionKey, string>> = {};
  for (const key of CONDITION_KEYS) {
    const value = table[key];
    if (typeof value === 'string') facts[key] = value;
    else if (value !== undefined) problem(`${key} must be a text in quotes, not ${show(value)}.`);
  }
  try {
    readFacts(facts);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    problem(error.message);
  }
  const values: Record<string, unknown> = {};
  let rule: string | null = null;
  if (!isTables([expect]) || Object.keys(expect as object).length === 0) {
    problem('it expects nothing; write for instance expect = { rule = "orders", window = "90d" }.');
    return { title, facts, rule, values };
  }
  const expected = expect as Readonly<Record<string, unknown>>;
  refuseUnknown(Object.keys(expected), ['rule', ...VALUE_KEYS], 'expect', problem);
  if (typeof expected.rule === 'string') rule = expected.rule;
  else if (expected.rule !== undefined)
    problem(`rule must be the name of a rule in quotes, not ${show(expected.rule)}.`);
  for (const key of Object.keys(expected).filter(isValueKey)) {
    const value = readValue(key, expected[key], { problem, note: () => {} });
    if (value !== undefined) values[key] = value;
  }
  return { title, facts, rule, values: values as Partial<RuleValues> };
}

/** Tries a case. */
export function runCase(policy: Policy, c: PolicyCase): CaseResult {
  const decision = decideRule(policy, readFacts(c.facts));
  const differences = VALUE_KEYS.flatMap((key) => {
    const expected = c.values[key];
    const actual = decision.values[key];
    if (expected === undefined || expected === actual) return [];
    return [{ key: key as string, expected: showValue(expected), actual: showValue(actual) }];
  });
  if (c.rule !== null && c.rule !== decision.rule) {
    differences.unshift({ key: 'rule', expected: c.rule, actual: decision.rule });
  }
  return { title: c.title, decision, differences };
}
