import { expect, test } from 'vitest';
import { VerdictCache } from './verdict-cache.ts';

test('a value holds from its first moment until before its last', () => {
  const cache = new VerdictCache<string>(2);
  cache.set('a', 'x', 10, 20);
  expect([9, 10, 19, 20].map((at) => cache.get('a', at))).toEqual([undefined, 'x', 'x', undefined]);
});

test('it never holds more than its limit: the one set longest ago goes', () => {
  const cache = new VerdictCache<string>(2);
  cache.set('a', 'x', 0, 9);
  cache.set('b', 'y', 0, 9);
  cache.set('a', 'z', 0, 9);
  cache.set('c', 'w', 0, 9);
  expect(['a', 'b', 'c'].map((key) => cache.get(key, 1))).toEqual(['z', undefined, 'w']);
});
