import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadConfig } from '../config/load.ts';
import { decideRule, policyDefaults, type RuleValues } from './policy.ts';
import { PolicyFile, type PolicyFileOptions, SHIPPED } from './policy-file.ts';

const DAY = 86_400_000;
let directory: string;
let defaults: RuleValues;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'quittance-policy-'));
  defaults = policyDefaults((await loadConfig({ file: null, env: {}, cwd: directory })).config);
});
afterAll(() => rmSync(directory, { recursive: true }));

const FACTS = {
  senderAp: 'POP1',
  originalSender: null,
  finalRecipient: null,
  process: null,
  documentType: null,
  payloadKind: null,
};
let files = 0;

async function open(toml: string, options: PolicyFileOptions = {}) {
  const file = join(directory, `${files++}.toml`);
  writeFileSync(file, toml);
  const policy = await PolicyFile.load(file, defaults, { pollEvery: 3_600_000, ...options });
  const write = (text: string) => {
    // As editors do it: a new file under the old name.
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
    return policy.reload();
  };
  return { file, policy, write, rule: () => decideRule(policy.policy, FACTS).rule };
}

it('takes over a changed file', async () => {
  const changes: string[] = [];
  const { policy, write, rule } = await open('[[rule]]\nname="a"', { onChange: (p) => changes.push(p.version) });
  const before = policy.policy.version;
  await write('[[rule]]\nname="b"');
  expect(rule()).toBe('b');
  expect(policy.policy.version).not.toBe(before);
  await write('# only a comment\n[[rule]]\nname="b"');
  expect(changes).toEqual([policy.policy.version]);
  policy.close();
});

it('finds out by itself that the file has changed', async () => {
  const changed = new Promise<void>((resolve) => {
    void open('[[rule]]\nname="a"', { pollEvery: 5, onChange: () => resolve() }).then(({ file }) =>
      writeFileSync(file, '[[rule]]\nname="b"\n'),
    );
  });
  await changed;
});

it('keeps the last good policy while the file is broken or gone, says since when, and recovers', async () => {
  const { file, policy, write, rule } = await open('[[rule]]\nname="a"', { now: () => 0 });
  await write('[[rule]]\nwindw="90d"\nonConflict="x"');
  expect(rule()).toBe('a');
  expect(policy.degraded()).toBe(
    `${file}: rule 1: windw is not a key of a rule; did you mean window? ${file}: rule 1: onConflict must be "reject" or "hold", not "x". ` +
      'The last good policy is in force (since 1970-01-01T00:00:00.000Z).',
  );
  rmSync(file);
  await policy.reload();
  expect(rule()).toBe('a');
  await write('[[rule]]\nname="a"');
  expect(policy.degraded()).toBeNull();
  policy.close();
});

it('does not start with a file that is broken or missing', async () => {
  await expect(open('[[rule]]\nwindow=3')).rejects.toThrow('window must be a duration');
  await expect(PolicyFile.load(join(directory, 'no.toml'), defaults)).rejects.toThrow(
    `no.toml does not exist; "quittance policy show > ${join(directory, 'no.toml')}" writes one.`,
  );
});

it('has the rules that ship where no file is named', async () => {
  const { policy } = await PolicyFile.load('', defaults);
  expect(policy.source).toBe(SHIPPED);
  expect(decideRule(policy, FACTS)).toMatchObject({ rule: 'the rest', values: { window: 180 * DAY } });
});

it('has no rules where no file is named and duplicates.window was changed', async () => {
  const { policy } = await PolicyFile.load('', { ...defaults, window: 10 * DAY });
  expect(decideRule(policy, FACTS)).toMatchObject({ rule: '[duplicates]', values: { window: 10 * DAY } });
  expect(policy.notes[0]).toContain('duplicates.window is not 90d');
});
