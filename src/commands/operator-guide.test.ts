import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { variableName } from '../config/environment.ts';
import { configKeys } from '../config/keys.ts';
import { PACKAGE_ROOT } from '../config/load.ts';
import { ServicedList } from '../peppol/serviced.ts';

const GUIDE = readFileSync(join(PACKAGE_ROOT, 'docs/operator.md'), 'utf8');

test('every key and every variable that the guide names exists', () => {
  const keys = configKeys();
  const sections = new Set(keys.map((k) => k.section));
  const named = [...GUIDE.matchAll(/`([a-z]+)\.([a-zA-Z0-9]+)[ `]/g)]
    .filter(([, section]) => sections.has(section!))
    .map(([, s, k]) => `${s}.${k}`);
  expect(named.length).toBeGreaterThan(15);
  expect(keys.map((k) => k.dotted)).toEqual(expect.arrayContaining(named));
  const variables = [...GUIDE.matchAll(/QUITTANCE_[A-Z_]+/g)].map(([v]) => v);
  expect(variables.length).toBeGreaterThan(0);
  expect(keys.map(variableName)).toEqual(expect.arrayContaining(variables));
});

test('every command and option that the guide shows exists', () => {
  const shown = [
    ...GUIDE.matchAll(
      /quittance ((?:serve|init|check|messages|purge|send|review|redeliver|ack|audit|backup)(?: (?:show|list|approve|reject|confirm|export|verify))?)((?: [^\n`#]*)?)/g,
    ),
  ];
  expect(shown.length).toBeGreaterThan(10);
  const helps = new Map<string, string>();
  for (const [, command, rest] of shown) {
    const help = helps.get(command!) ?? helpOf(command!);
    helps.set(command!, help);
    expect(help).toContain(`Usage: quittance ${command!.split(' ')[0]}`);
    for (const [option] of rest!.matchAll(/--[a-z-]+/g)) expect(`${help} --help`).toContain(option);
  }
});

test('the serviced list that the guide shows is one that is read, and lets the example through', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'quittance-guide-'));
  const file = join(directory, 'serviced.toml');
  writeFileSync(file, GUIDE.match(/```toml\n(\[\[serviced\]\][\s\S]*?)```/)![1]!);
  const list = await ServicedList.load(file);
  const identifier = (scheme: string, value: string) => ({ scheme, value });
  const participant = identifier('iso6523-actorid-upis', '0088:7300010000001');
  const type = identifier(
    'busdox-docid-qns',
    'urn:oasis:names:specification:ubl:schema:xsd:Invoice-2::Invoice##x::2.1',
  );
  const process = identifier('cenbii-procid-ubl', 'urn:fdc:peppol.eu:2017:poacc:billing:01:1.0');
  expect(list.isServiced(participant, type, process)).toBe(true);
  expect(list.isServiced(identifier('iso6523-actorid-upis', '0088:1'), type, process)).toBe(false);
  list.close();
  rmSync(directory, { recursive: true });
});

function helpOf(command: string): string {
  return execFileSync(process.execPath, [join(PACKAGE_ROOT, 'dist/cli.js'), ...command.split(' '), '--help'], {
    encoding: 'utf8',
  });
}
