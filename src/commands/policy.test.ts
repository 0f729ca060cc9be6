import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { configKeys } from '../config/keys.ts';
import { PACKAGE_ROOT } from '../config/load.ts';
import { VALUE_KEYS } from '../dedup/policy.ts';
import { CONDITION_KEYS } from '../dedup/policy-condition.ts';
import { DEFAULT_POLICY } from '../dedup/policy-default.ts';

const INVOICE = 'urn:oasis:names:specification:ubl:schema:xsd:Invoice-2::Invoice##x::2.1';
let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'quittance-policy-command-'));
  writeFileSync(
    join(cwd, 'rules.toml'),
    '[[rule]]\nname = "partner"\nsenderAp = "POP000009"\nwindow = "checkwindow=30D,maxsize=10Mb"\nonInterchangeConflict = "suppress"\n',
  );
  writeFileSync(join(cwd, 'broken.toml'), '[[rule]]\nwindow = "7d"\nnmae = "x"\n');
  writeFileSync(join(cwd, 'configured.toml'), '[duplicates]\npolicy = "rules.toml"\nonConflict = "hold"\n');
});
afterAll(() => rmSync(cwd, { recursive: true }));

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the program as an operator does. */
function quittance(...args: string[]): Promise<Ended> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('QUITTANCE_')));
  return new Promise((resolve) => {
    const cli = join(PACKAGE_ROOT, 'dist/cli.js');
    execFile(process.execPath, [cli, 'policy', ...args], { cwd, env }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}

test('explain says which shipped rule applies, its values with their origin, and why', async () => {
  const { code, out } = await quittance('explain', '--sender', 'POP000001', '--doctype', INVOICE);
  expect(code).toBe(0);
  expect(out.replace(/version [0-9a-f]{16}/, 'version …')).toMatchInlineSnapshot(`
    "Rule 3 "invoices and credit notes" applies.

      window                 365d                      from the rule
      outsideWindow          deliver                   from [duplicates]
      staleTimestamp         review                    from [duplicates]
      onConflict             reject                    from [duplicates]
      interchangeKey         reference+sender          from [duplicates]
      onInterchangeConflict  review                    from [duplicates]
      replacePending         false                     from [duplicates]
      afterPowerLoss         deliver                   from [delivery]

    Why:
      rule 1 "orders" does not apply: documentType busdox-docid-qns::urn:oasis:names:specification:ubl:schema:xsd:Invoice-2::Invoice##x::2.1 is not like "*:Order-2::Order##*" or 3 others
      rule 2 "despatch advices" does not apply: documentType busdox-docid-qns::urn:oasis:names:specification:ubl:schema:xsd:Invoice-2::Invoice##x::2.1 is not like "*:DespatchAdvice-2::DespatchAdvice##*" or "*:CrossIndustryDespatchAdvice*"
      rule 3 "invoices and credit notes" applies: documentType busdox-docid-qns::urn:oasis:names:specification:ubl:schema:xsd:Invoice-2::Invoice##x::2.1 is like "*:Invoice-2::Invoice##*"

    Policy: the rules that ship with quittance, version …
    "
  `);
});

test('explain --json with the rules of the configuration', async () => {
  const args = ['--config', 'configured.toml', '--json'];
  const { out, err } = await quittance('explain', '--sender', 'POP000009', ...args);
  expect(JSON.parse(out)).toMatchObject({
    rule: 'partner',
    index: 1,
    values: {
      window: { value: '30d', from: 'rule' },
      onConflict: { value: 'hold', from: '[duplicates]' },
      afterPowerLoss: { value: 'deliver', from: '[delivery]' },
    },
    why: ['rule 1 "partner" applies: senderAp POP000009 is like "POP000009"'],
    policy: { source: join(cwd, 'rules.toml'), version: expect.stringMatching(/^[0-9a-f]{16}$/) },
  });
  expect(err).toContain('maxsize=10Mb is read and not applied');
});

test('explain tells that no rule applies', async () => {
  const { out } = await quittance('explain', '--sender', 'POP1', '--policy', 'rules.toml');
  expect(out).toContain('No rule applies: [duplicates] of the configuration does.');
  expect(out).toContain('rule 1 "partner" does not apply: senderAp POP1 is not like "POP000009"');
});

test('a payload kind that does not exist is wrong usage', async () => {
  expect(await quittance('explain', '--payload-kind', 'edifcat')).toEqual({
    code: 2,
    out: '',
    err: 'payloadKind "edifcat" is unknown; did you mean edifact?\n',
  });
});

test('a broken policy is refused with all its problems', async () => {
  const { code, err } = await quittance('explain', '--policy', 'broken.toml');
  expect(code).toBe(1);
  expect(err.trimEnd().split('\n')).toEqual([
    expect.stringContaining('nmae is not a key of a rule; did you mean name?'),
    expect.stringContaining('add allowShortWindow = true.'),
  ]);
});

test('show prints the shipped rules, and nothing else on stdout', async () => {
  const { out, err } = await quittance('show');
  expect(out).toBe(DEFAULT_POLICY);
  expect(err).toMatch(/^Version [0-9a-f]{16}, the rules that ship with quittance\.\n$/);
});

test('what show prints is a policy of the same rules', async () => {
  writeFileSync(join(cwd, 'copy.toml'), (await quittance('show')).out);
  const shipped = JSON.parse((await quittance('show', '--json')).out);
  const copy = JSON.parse((await quittance('show', '--json', '--policy', 'copy.toml')).out);
  expect(copy).toEqual({ ...shipped, source: join(cwd, 'copy.toml') });
});

test('show prints the rules of the configuration, or with --shipped the others', async () => {
  expect((await quittance('show', '--config', 'configured.toml')).out).toContain('name = "partner"');
  expect((await quittance('show', '--config', 'configured.toml', '--shipped')).out).toBe(DEFAULT_POLICY);
});

test('test passes a table of cases that the rules fulfil', async () => {
  writeFileSync(
    join(cwd, 'good.toml'),
    `[[case]]\nname = "an invoice"\ndocumentType = "${INVOICE}"\nexpect = { rule = "invoices and credit notes", window = "365d" }\n` +
      '[[case]]\npayloadKind = "pdf"\n[case.expect]\nwindow = "180d"\nreplacePending = false\n',
  );
  const { code, out } = await quittance('test', 'good.toml');
  expect(out).toMatch(/^2 of 2 cases pass with the rules that ship with quittance, version [0-9a-f]{16}\.\n$/);
  expect(code).toBe(0);
});

test('test ends with 1 and shows what was expected and what is, and why', async () => {
  writeFileSync(
    join(cwd, 'bad.toml'),
    '[[case]]\nname = "the partner"\nsenderAp = "POP000009"\nexpect = { rule = "others", window = "90d", onInterchangeConflict = "suppress" }\n' +
      '[[case]]\nsenderAp = "POP1"\nexpect = { rule = "[duplicates]" }\n',
  );
  const { code, out } = await quittance('test', 'bad.toml', '--policy', 'rules.toml');
  expect(code).toBe(1);
  expect(out.replaceAll(cwd, '').replace(/version [0-9a-f]{16}/, 'version …')).toMatchInlineSnapshot(`
    "case 1 "the partner" fails:
      - rule = others
      + rule = partner
      - window = 90d
      + window = 30d
        rule 1 "partner" applies: senderAp POP000009 is like "POP000009"
    1 of 2 cases pass with /rules.toml, version ….
    "
  `);
  const json = await quittance('test', 'bad.toml', '--policy', 'rules.toml', '--json');
  expect(json.code).toBe(1);
  expect(JSON.parse(json.out)).toMatchObject({
    passed: 1,
    failed: 1,
    cases: [
      { passed: false, differences: [{ key: 'rule', expected: 'others', actual: 'partner' }, { key: 'window' }] },
      { passed: true },
    ],
  });
});

test('test refuses a table with mistakes', async () => {
  writeFileSync(
    join(cwd, 'wrong.toml'),
    '[[case]]\nsender = "x"\n[[case]]\npayloadKind = "xm"\nexpect = { windw = "90d", window = 3 }\n',
  );
  const { code, err } = await quittance('test', 'wrong.toml');
  expect(code).toBe(1);
  expect(err.replaceAll(join(cwd, 'wrong.toml'), 'wrong.toml')).toMatchInlineSnapshot(`
    "wrong.toml: case 1: sender is not a key of a case; did you mean senderAp?
    wrong.toml: case 1: it expects nothing; write for instance expect = { rule = "orders", window = "90d" }.
    wrong.toml: case 2: payloadKind "xm" is unknown; did you mean xml?
    wrong.toml: case 2: windw is not a key of expect; did you mean window?
    wrong.toml: case 2: window must be a duration such as "90d" or "checkwindow=90D", not 3.
    "
  `);
  writeFileSync(join(cwd, 'none.toml'), '');
  expect((await quittance('test', 'none.toml')).err).toContain('it has no cases; write [[case]] tables.');
  expect((await quittance('test', 'absent.toml')).err).toContain('absent.toml cannot be read');
});

test('the rules and cases that the documentation shows are right', async () => {
  const page = readFileSync(join(PACKAGE_ROOT, 'docs/policy.md'), 'utf8');
  const [rules, cases] = [...page.matchAll(/```toml\n([\s\S]*?)```/g)].map(([, toml]) => toml!);
  writeFileSync(join(cwd, 'documented.toml'), rules!);
  writeFileSync(join(cwd, 'documented-cases.toml'), cases!);
  const { out } = await quittance('test', 'documented-cases.toml', '--policy', 'documented.toml');
  expect(out).toContain('2 of 2 cases pass');
});

test('the documentation names every condition and every value, and no key that does not exist', () => {
  const page = readFileSync(join(PACKAGE_ROOT, 'docs/policy.md'), 'utf8');
  for (const name of [...CONDITION_KEYS, ...VALUE_KEYS]) expect(page).toMatch(new RegExp(`^\\|.*\`${name}\``, 'm'));
  const keys = configKeys().map((k) => k.dotted);
  const named = [...page.matchAll(/`((?:duplicates|delivery)\.\w+)`/g)].map(([, key]) => key);
  expect(named.length).toBeGreaterThan(8);
  expect(keys).toEqual(expect.arrayContaining(named));
});
