import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { HOSTILE } from '../../fixtures/catalogue/hostile.ts';
import { PACKAGE_ROOT } from '../config/load.ts';

const page = readFileSync(join(PACKAGE_ROOT, 'docs/threat-model.md'), 'utf8');
/** A test file in backticks, and the titles in quotes after it. */
const named = [...page.matchAll(/`(src\/[^`]+\.test\.ts)`:((?:,? "[^"]+")+)/g)].flatMap(([, file, titles]) =>
  [...titles!.matchAll(/"([^"]+)"/g)].map(([, title]) => [file!, title!] as const),
);

it('each promise of the threat model names a test', () => {
  expect(named.length).toBeGreaterThan(30);
  const promises = page.slice(page.indexOf('## What we promise'), page.indexOf('## What we do not promise'));
  const rows = promises.split('\n').filter((line) => /^\| (?!promise|---)/.test(line));
  for (const row of rows) expect(row).toMatch(/`src\/[^`]+\.test\.ts`: "/);
});

it('it names every lesson of another product, every kind of hostile input, and the commands that attack', () => {
  const source = readFileSync(join(PACKAGE_ROOT, 'src/cve-lessons.test.ts'), 'utf8');
  const lessons = [...source.matchAll(/\btest\('([^']+)'/g)].map(([, title]) => title);
  expect(lessons.length).toBeGreaterThanOrEqual(14);
  for (const lesson of lessons) expect(page).toContain(`"${lesson}"`);
  const kinds = /by kind: ([^.]+)\./.exec(page)?.[1]?.split(', ');
  expect(kinds).toEqual(Object.keys(HOSTILE));
  const { scripts } = JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const commands = [...page.matchAll(/^\| `npm run ([\w:]+)/gm)].map(([, name]) => name as string);
  expect(commands).toEqual(expect.arrayContaining(['fuzz', 'bench:hostile', 'bench:oracle', 'bench:flood']));
  for (const command of commands) expect(scripts).toHaveProperty([command]);
});

it.each(named)('%s has a test "%s"', (file, title) => {
  const path = join(PACKAGE_ROOT, file);
  expect(existsSync(path)).toBe(true);
  expect(readFileSync(path, 'utf8')).toContain(title);
});
