import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { CASES } from './cases/all.ts';

const HERE = import.meta.dirname;
const SRC = join(HERE, '../src');

const sources = readdirSync(HERE, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) => join(entry.parentPath, entry.name))
  .filter((file) => !relative(HERE, file).startsWith('peers'));

it('imports nothing of the receiver, so that no mistake of ours can confirm itself', () => {
  const imports = sources.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*'(\.[^']*)'/g)].map(([, specifier = '']) => ({
      file: relative(HERE, file),
      target: join(file, '..', specifier),
    })),
  );
  expect(imports.length).toBeGreaterThan(50);
  expect(imports.filter(({ target }) => target.startsWith(SRC) || target.includes('/dist/'))).toEqual([]);
});

it('gives each case an id of its own', () => {
  const ids = CASES.map(({ id }) => id);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  expect(ids.length).toBeGreaterThan(120);
});

it('has every row about a receiver of the eDelivery list', () => {
  const rows = '01 04 07 08 14 17 21 22 26 29 30 31 32 33 34 35 36 37 38'.split(' ').map((n) => `AS4_CP_TA${n}`);
  const ids = new Set(CASES.map(({ id }) => id));
  const lost = [...'ABCDEFGH'].map((letter) => `AS4_CP_TA10-${letter}`);
  for (const row of [...rows, ...lost, 'AS4_4CT_TA02']) expect(ids).toContain(row);
  const notRun = CASES.filter((each) => each.notApplicable !== undefined).map(({ id }) => id);
  expect(notRun).toEqual(['AS4_CP_TA14', 'AS4_CP_TA31']);
});

it('says of a rule that is only ours that it is our reading', () => {
  const ours = CASES.filter(({ source }) => /architecture|secure validation/.test(source));
  expect(ours.length).toBeGreaterThan(5);
  expect(ours.filter(({ basis }) => basis === 'norm').map(({ id }) => id)).toEqual([]);
});
