import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
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

it.each(named)('%s has a test "%s"', (file, title) => {
  const path = join(PACKAGE_ROOT, file);
  expect(existsSync(path)).toBe(true);
  expect(readFileSync(path, 'utf8')).toContain(title);
});
