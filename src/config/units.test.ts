import { expect, test } from 'vitest';
import { parseDuration } from './duration.ts';
import { nearest } from './nearest.ts';
import { parseSize } from './size.ts';

test.each([
  ['500ms', 500],
  ['30s', 30_000],
  ['5m', 300_000],
  ['12h', 43_200_000],
  ['90d', 7_776_000_000],
  ['1.5h', 5_400_000],
  [' 30 s ', 30_000],
  ['0s', 0],
])('a duration of %j is %d milliseconds', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each(['', '30', 's', '-1s', '1w', '1d12h', '30S', '1e3s', '99999999999999d'])('%j is no duration', (text) => {
  expect(parseDuration(text)).toBeNull();
});

test.each([
  ['110MB', 110_000_000],
  ['256KiB', 262_144],
  ['1MiB', 1_048_576],
  ['1GB', 1e9],
  ['1.5 GiB', 1_610_612_736],
  ['512B', 512],
  ['1kB', 1000],
])('a size of %j is %d bytes', (text, bytes) => {
  expect(parseSize(text)).toBe(bytes);
});

test.each(['', '110', 'MB', '-1MB', '1 M', '1XB', '0x10B', '99999999TB'])('%j is no size', (text) => {
  expect(parseSize(text)).toBeNull();
});

test('the nearest name is found through a swapped, a missing and a wrong letter, and none when nothing is near', () => {
  const known = ['http.port', 'http.path', 'http.host', 'store.url'];
  expect(nearest('http.prot', known)).toBe('http.port');
  expect(nearest('http.pat', known)).toBe('http.path');
  expect(nearest('HTTP.Host', known)).toBe('http.host');
  expect(nearest('colour', known)).toBeNull();
});
