import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { loadConfig } from '../config/load.ts';
import { decideRule, type Policy, policyDefaults, type RuleValues, title, VALUE_KEYS } from '../dedup/policy.ts';
import { parseCases, runCase } from '../dedup/policy-cases.ts';
import { DEFAULT_POLICY } from '../dedup/policy-default.ts';
import { readFacts, type WrittenFacts } from '../dedup/policy-facts.ts';
import { PolicyFile } from '../dedup/policy-file.ts';
import { showValue } from '../dedup/policy-values.ts';
import { CommandError, type ExitCode, type Io } from './io.ts';

export interface PolicyOptions {
  readonly config: string | null;
  readonly json: boolean;
  /** Rules that are not in force yet; null is what the configuration names. */
  readonly policy: string | null;
}

export interface PolicyExplainOptions extends PolicyOptions {
  readonly facts: WrittenFacts;
}

/** Says which rule applies to a message, why, and where each value comes from. */
export async function explainPolicy(o: PolicyExplainOptions, io: Io): Promise<ExitCode> {
  const policy = await loadPolicy(o, io);
  const decision = decideRule(policy, factsOf(o.facts));
  const rule = decision.index === null ? undefined : policy.rules[decision.index - 1];
  const from = (key: keyof RuleValues) =>
    rule && key in rule.own ? 'rule' : key === 'afterPowerLoss' ? '[delivery]' : '[duplicates]';
  if (o.json) {
    const values = Object.fromEntries(
      VALUE_KEYS.map((k) => [k, { value: written(k, decision.values), from: from(k) }]),
    );
    const { rule: name, index, why } = decision;
    io.out(JSON.stringify({ rule: name, index, values, why, policy: describe(policy) }));
    return 0;
  }
  io.out(rule ? `${capital(title(rule))} applies.` : 'No rule applies: [duplicates] of the configuration does.');
  io.out('');
  for (const key of VALUE_KEYS) {
    io.out(
      `  ${key.padEnd(22)} ${showValue(decision.values[key]).padEnd(25)} from ${from(key) === 'rule' ? 'the rule' : from(key)}`,
    );
  }
  io.out('');
  io.out('Why:');
  for (const sentence of decision.why) io.out(`  ${sentence}`);
  io.out('');
  io.out(`Policy: ${policy.source}, version ${policy.version}`);
  return 0;
}

/** Tries a table of cases; exit code 1 when one of them fails. */
export async function testPolicy(o: PolicyOptions & { readonly file: string }, io: Io): Promise<ExitCode> {
  const policy = await loadPolicy(o, io);
  const file = resolve(io.cwd, o.file);
  const results = parseCases(await read(file), file).map((c) => runCase(policy, c));
  const failed = results.filter(({ differences }) => differences.length > 0);
  if (o.json) {
    const cases = results.map(({ title: name, decision, differences }) => ({
      case: name,
      passed: differences.length === 0,
      rule: decision.rule,
      differences,
      why: decision.why,
    }));
    io.out(
      JSON.stringify({
        passed: results.length - failed.length,
        failed: failed.length,
        cases,
        policy: describe(policy),
      }),
    );
    return failed.length > 0 ? 1 : 0;
  }
  for (const { title: name, differences, decision } of failed) {
    io.out(`${name} fails:`);
    for (const { key, expected, actual } of differences) {
      io.out(`  - ${key} = ${expected}`);
      io.out(`  + ${key} = ${actual}`);
    }
    for (const sentence of decision.why) io.out(`    ${sentence}`);
  }
  io.out(
    `${results.length - failed.length} of ${results.length} cases pass with ${policy.source}, version ${policy.version}.`,
  );
  return failed.length > 0 ? 1 : 0;
}

/** Prints the rules as a file: those in force, or the shipped ones. Whatever else there is to say goes to stderr. */
export async function showPolicy(o: PolicyOptions & { readonly shipped: boolean }, io: Io): Promise<ExitCode> {
  const { config } = await loadConfig({ file: o.config, env: io.env, cwd: io.cwd });
  const file = o.shipped ? '' : fileOf(o, config.duplicates.policy, io);
  const toml = file === '' ? DEFAULT_POLICY : await read(file);
  const policy = await loadPolicy(o.shipped ? { ...o, policy: '' } : o, io);
  if (o.json) io.out(JSON.stringify({ ...describe(policy), toml }));
  else {
    io.out(toml.trimEnd());
    io.err(`Version ${policy.version}, ${policy.source}.`);
  }
  return 0;
}

async function loadPolicy(o: PolicyOptions, io: Io): Promise<Policy> {
  const { config } = await loadConfig({ file: o.config, env: io.env, cwd: io.cwd });
  const file = await PolicyFile.load(fileOf(o, config.duplicates.policy, io), policyDefaults(config));
  file.close();
  for (const note of file.policy.notes) io.err(note);
  return file.policy;
}

function fileOf(o: PolicyOptions, configured: string, io: Io): string {
  if (o.policy === null) return configured;
  return o.policy === '' ? '' : resolve(io.cwd, o.policy);
}

function factsOf(facts: WrittenFacts): ReturnType<typeof readFacts> {
  try {
    return readFacts(facts);
  } catch (error) {
    if (error instanceof RangeError) throw new CommandError(error.message, 2, error);
    throw error;
  }
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new CommandError(`${file} cannot be read: ${(cause as Error).message}.`, 1, cause);
  }
}

function describe(policy: Policy): { source: string; version: string; rules: string[]; notes: readonly string[] } {
  return {
    source: policy.source,
    version: policy.version,
    rules: policy.rules.map((r) => r.name),
    notes: policy.notes,
  };
}

/** Windows as durations, the rest as it is. */
function written(key: keyof RuleValues, values: RuleValues): string | boolean {
  const value = values[key];
  return typeof value === 'number' ? showValue(value) : value;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
