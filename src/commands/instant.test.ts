import { expect, test } from 'vitest';
import { parseInstant } from './instant.ts';

test.each([
  ['2026-11-30', '2026-11-30T00:00:00.000Z'],
  ['2026-11-30T10:15', '2026-11-30T10:15:00.000Z'],
  ['2026-11-30 10:15:30', '2026-11-30T10:15:30.000Z'],
  ['2026-11-30T10:15:30.5Z', '2026-11-30T10:15:30.500Z'],
  ['2026-11-30T10:15+01:00', '2026-11-30T09:15:00.000Z'],
])('%s is %s: without a zone it is UTC, wherever the machine stands', (text, iso) => {
  expect(new Date(parseInstant(text)!).toISOString()).toBe(iso);
});

test.each(['', 'yesterday', '2026-02-31', '2026-13-01', '30.11.2026', '2026-11-30T25:00', '2026'])(
  '"%s" is no moment',
  (text) => {
    expect(parseInstant(text)).toBeNull();
  },
);
