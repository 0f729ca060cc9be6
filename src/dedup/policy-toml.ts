import { parse, TomlError } from 'smol-toml';
import { nearest } from '../config/nearest.ts';
import { PAYLOAD_KINDS } from './payload-kind.ts';
import { makePolicy, type Policy, type Rule, type RuleValues, title, VALUE_KEYS } from './policy.ts';
import { CONDITION_KEYS, type Condition, type ConditionKey, condition } from './policy-condition.ts';
import { PolicyError } from './policy-error.ts';
import { isValueKey, type Remarks, readValue, SHORT_WINDOW, show } from './policy-values.ts';

const RULE_KEYS = ['name', ...CONDITION_KEYS, ...VALUE_KEYS, 'allowShortWindow'];

type Table = Readonly<Record<string, unknown>>;

/**
 * Reads a policy: `[[rule]]` tables in order, each with conditions and values.
 * @param source the file's path, for the sentences
 * @throws PolicyError with everything that is wrong
 */
export function parsePolicy(text: string, source: string, defaults: RuleValues): Policy {
  const file = parseToml(text, source);
  const problems: string[] = [];
  const notes: string[] = [];
  refuseUnknown(Object.keys(file), ['rule'], 'a policy', (sentence) => problems.push(`${source}: ${sentence}`));
  const tables = file.rule ?? [];
  if (!isTables(tables)) throw new PolicyError([...problems, `${source}: rules are written as [[rule]] tables.`]);
  // A file that an editor has truncated and not yet written must not look like one without rules.
  if (tables.length === 0 && problems.length === 0) problems.push(`${source}: it has no rules; write [[rule]] tables.`);
  const rules = tables.map((table, i) => readRule(table, i + 1, source, problems, notes));
  const names = new Set<string>();
  for (const { name, index } of rules) {
    if (names.has(name)) problems.push(`${source}: two rules are named ${JSON.stringify(name)}; rename rule ${index}.`);
    names.add(name);
  }
  const catchAll = rules.find((rule) => rule.conditions.length === 0);
  for (const rule of catchAll ? rules.slice(catchAll.index) : []) {
    notes.push(`${source}: ${title(rule)} never applies: ${title(catchAll!)} before it has no conditions.`);
  }
  if (problems.length > 0) throw new PolicyError(problems);
  return makePolicy(source, rules, defaults, notes);
}

/** @throws PolicyError that names line and column */
export function parseToml(text: string, source: string): Table {
  try {
    return parse(text.replace(/^\uFEFF/, ''));
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const what = cause.message.split('\n')[0]!.replace(/^Invalid TOML document: /, '');
    throw new PolicyError([`${source}, line ${cause.line}, column ${cause.column}: not valid TOML: ${what}.`], cause);
  }
}

export function isTables(value: unknown): value is Table[] {
  return (
    Array.isArray(value) &&
    value.every((v) => typeof v === 'object' && v !== null && !Array.isArray(v) && !(v instanceof Date))
  );
}

/** A sentence for each key that is not known, with the nearest one that is. */
export function refuseUnknown(
  keys: readonly string[],
  known: readonly string[],
  of: string,
  problem: (sentence: string) => void,
): void {
  for (const key of keys.filter((k) => !known.includes(k))) {
    const near = nearest(key, known);
    problem(`${key} is not a key of ${of}${near ? `; did you mean ${near}?` : `, which has ${known.join(', ')}.`}`);
  }
}

function readRule(
  table: Table,
  index: number,
  source: string,
  problems: string[],
  notes: string[],
): Omit<Rule, 'values'> {
  const given = table.name;
  const name = typeof given === 'string' && given !== '' ? given : `rule ${index}`;
  const where = `${source}: ${title({ index, name })}: `;
  const remarks: Remarks = {
    problem: (sentence) => problems.push(where + sentence),
    note: (sentence) => notes.push(where + sentence),
  };
  if (given !== undefined && name !== given) remarks.problem('name must be a text that is not empty.');
  refuseUnknown(Object.keys(table), RULE_KEYS, 'a rule', remarks.problem);
  const conditions = CONDITION_KEYS.flatMap((key) => readCondition(key, table[key], remarks) ?? []);
  const own: Record<string, unknown> = {};
  for (const key of Object.keys(table).filter(isValueKey)) {
    const value = readValue(key, table[key], remarks);
    if (value !== undefined) own[key] = value;
  }
  checkShortWindow(own as Partial<RuleValues>, table.allowShortWindow, remarks);
  return { index, name, conditions, own: own as Partial<RuleValues> };
}

function readCondition(key: ConditionKey, value: unknown, r: Remarks): Condition | null {
  if (value === undefined) return null;
  const patterns: unknown[] = Array.isArray(value) ? value : [value];
  if (patterns.length === 0 || !patterns.every((p) => typeof p === 'string' && p !== '')) {
    r.problem(`${key} must be a pattern in quotes or a list of such, not ${show(value)}.`);
    return null;
  }
  const texts = patterns as string[];
  if (key === 'payloadKind') {
    const unknown = texts.filter((text) => text !== '*' && !(PAYLOAD_KINDS as readonly string[]).includes(text));
    for (const text of unknown) {
      const near = nearest(text, PAYLOAD_KINDS);
      const hint = near ? `did you mean ${near}?` : `there are ${PAYLOAD_KINDS.join(', ')}.`;
      r.problem(`payloadKind ${JSON.stringify(text)} is unknown; ${hint}`);
    }
  }
  // Asks nothing, also of a message that has no such fact.
  return texts.includes('*') ? null : condition(key, texts);
}

function checkShortWindow({ window }: Partial<RuleValues>, allow: unknown, r: Remarks): void {
  if (allow !== undefined && typeof allow !== 'boolean') {
    r.problem(`allowShortWindow must be true or false, not ${show(allow)}.`);
  }
  if (window !== undefined && window < SHORT_WINDOW && allow !== true) {
    r.problem(
      'its window is shorter than 30 days, so a document that is sent again by hand may be delivered twice; if that is meant, add allowShortWindow = true.',
    );
  }
}
