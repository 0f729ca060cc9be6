import { createHash } from 'node:crypto';
import type { Config } from '../config/schema.ts';
import type { Identifier } from '../peppol/routing.ts';
import type { PayloadKind } from './payload-kind.ts';
import { CONDITION_KEYS, type Condition, type ConditionKey } from './policy-condition.ts';

/** The values that are one of a few words, with those words. */
export const VALUE_WORDS = {
  outsideWindow: ['deliver', 'review'],
  staleTimestamp: ['review', 'deliver', 'refuse'],
  onConflict: ['reject', 'hold'],
  interchangeKey: ['reference+sender', 'reference', 'reference+sender+content'],
  onInterchangeConflict: ['review', 'allow', 'suppress'],
  afterPowerLoss: ['deliver', 'review'],
} as const;

type Words = { readonly [K in keyof typeof VALUE_WORDS]: (typeof VALUE_WORDS)[K][number] };

/** What a rule gives for a message. */
export interface RuleValues extends Words {
  /** How long a key is remembered, in ms. */
  readonly window: number;
  /** Whether a later interchange takes the place of one that was not handed over yet. */
  readonly replacePending: boolean;
}

/** In the order in which they are shown. */
export const VALUE_KEYS = [
  'window',
  'outsideWindow',
  'staleTimestamp',
  'onConflict',
  'interchangeKey',
  'onInterchangeConflict',
  'replacePending',
  'afterPowerLoss',
] as const satisfies readonly (keyof RuleValues)[];

/** What rules can ask about a message. Null is what it does not have: a ping has neither participants nor a payload. */
export interface PolicyFacts {
  /** Subject CN of the signer. */
  readonly senderAp: string;
  readonly originalSender: Identifier | null;
  readonly finalRecipient: Identifier | null;
  readonly process: Identifier | null;
  readonly documentType: Identifier | null;
  readonly payloadKind: PayloadKind | null;
}

export interface Rule {
  /** From 1, in the order of the file. */
  readonly index: number;
  /** Its `name`, or `rule 3` when it has none. */
  readonly name: string;
  readonly conditions: readonly Condition[];
  /** What the rule itself says. */
  readonly own: Readonly<Partial<RuleValues>>;
  /** That, completed from [duplicates]. */
  readonly values: RuleValues;
}

export interface Policy {
  /** The file, or what stands in for one. */
  readonly source: string;
  readonly rules: readonly Rule[];
  /** What holds for a message that no rule matches. */
  readonly defaults: RuleValues;
  /** First 16 hex digits of SHA-256 over the canonical form: comments, key order and spelling of durations do not count. */
  readonly version: string;
  /** Sentences for the operator on what is read but has no effect. */
  readonly notes: readonly string[];
}

export interface RuleDecision {
  /** `[duplicates]` when no rule matches. */
  readonly rule: string;
  readonly index: number | null;
  readonly values: RuleValues;
  /** What of them the rule itself says. */
  readonly own: Readonly<Partial<RuleValues>>;
  /** A sentence for each rule that was tried, in order. Made only when asked for. */
  readonly why: readonly string[];
}

/** Name of what holds when no rule matches. */
export const NO_RULE = '[duplicates]';

/** The first rule of which every condition holds gives the values. */
export function decideRule(policy: Policy, facts: PolicyFacts): RuleDecision {
  const rule = policy.rules.find((r) => r.conditions.every((c) => c.holds(facts)));
  return {
    rule: rule?.name ?? NO_RULE,
    index: rule?.index ?? null,
    values: rule?.values ?? policy.defaults,
    own: rule?.own ?? {},
    get why() {
      return explain(policy, facts, rule);
    },
  };
}

function explain(policy: Policy, facts: PolicyFacts, applies: Rule | undefined): string[] {
  const tried = policy.rules.slice(0, applies?.index ?? policy.rules.length);
  const why = tried.map((rule) => {
    const failed = rule.conditions.find((c) => !c.holds(facts));
    if (failed) return `${title(rule)} does not apply: ${failed.explain(facts)}`;
    if (rule.conditions.length === 0) return `${title(rule)} applies: it has no conditions`;
    return `${title(rule)} applies: ${rule.conditions.map((c) => c.explain(facts)).join('; ')}`;
  });
  if (applies === undefined) why.push('no rule applies, so [duplicates] of the configuration does');
  return why;
}

/** `rule 2 "invoices"`, or `rule 2`. */
export function title(rule: Pick<Rule, 'index' | 'name'>): string {
  const unnamed = `rule ${rule.index}`;
  return rule.name === unnamed ? unnamed : `${unnamed} ${JSON.stringify(rule.name)}`;
}

/** What a rule leaves out (architecture §7, [duplicates]; afterPowerLoss is a key of [delivery]). */
export function policyDefaults(config: Pick<Config, 'duplicates' | 'delivery'>): RuleValues {
  const { window, outsideWindow, staleTimestamp, onConflict, interchangeKey, onInterchangeConflict, replacePending } =
    config.duplicates;
  const { afterPowerLoss } = config.delivery;
  return {
    window,
    outsideWindow,
    staleTimestamp,
    onConflict,
    interchangeKey,
    onInterchangeConflict,
    replacePending,
    afterPowerLoss,
  };
}

/** The policy that consists of these rules; its version is a hash of what they say. */
export function makePolicy(
  source: string,
  rules: readonly Omit<Rule, 'values'>[],
  defaults: RuleValues,
  notes: readonly string[] = [],
): Policy {
  const canonical = [
    VALUE_KEYS.map((key) => [key, defaults[key]]),
    rules.map((rule) => [
      rule.name,
      conditionsOf(rule),
      VALUE_KEYS.flatMap((k) => (k in rule.own ? [[k, rule.own[k]]] : [])),
    ]),
  ];
  const version = createHash('sha256').update(JSON.stringify(canonical)).digest('hex').slice(0, 16);
  const complete = rules.map((rule) => ({ ...rule, values: Object.freeze({ ...defaults, ...rule.own }) }));
  return { source, rules: complete, defaults, version, notes };
}

function conditionsOf(rule: Pick<Rule, 'conditions'>): [ConditionKey, readonly string[]][] {
  return CONDITION_KEYS.flatMap((key) => {
    const condition = rule.conditions.find((c) => c.key === key);
    return condition === undefined ? [] : [[key, condition.patterns]];
  });
}
