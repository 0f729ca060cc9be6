import { expect, test } from 'vitest';
import type { ReferenceCopy } from '../ebms/signal.ts';
import { referenceSet } from './reference-set.ts';

const ONE: ReferenceCopy = {
  uri: '#a',
  transforms: [{ algorithm: 'c14n', prefixList: null }],
  digestMethod: 'sha256',
  digestValue: 'AAAA',
};
const hex = (...references: ReferenceCopy[]) => referenceSet(references).toString('hex');

test('the same list gives the same set, an object with further fields too', () => {
  const verified: ReferenceCopy & { kind: string } = { ...ONE, kind: 'attachment' };
  expect(hex(ONE)).toBe(hex(verified));
  expect(referenceSet([ONE])).toHaveLength(32);
});

test.each<[string, ReferenceCopy[]]>([
  ['another URI', [{ ...ONE, uri: '#b' }]],
  ['another transform', [{ ...ONE, transforms: [{ algorithm: 'swa', prefixList: null }] }]],
  ['an empty PrefixList where there was none', [{ ...ONE, transforms: [{ algorithm: 'c14n', prefixList: '' }] }]],
  ['one transform more', [{ ...ONE, transforms: [...ONE.transforms, ...ONE.transforms] }]],
  ['another digest method', [{ ...ONE, digestMethod: 'sha512' }]],
  ['another digest', [{ ...ONE, digestValue: 'AAAB' }]],
  ['one reference more', [ONE, { ...ONE, uri: '#b' }]],
  ['values that only look alike when they are joined', [{ ...ONE, digestMethod: 'sha256AA', digestValue: 'AA' }]],
])('a list with %s is another set', (_, references) => {
  expect(hex(...references)).not.toBe(hex(ONE));
});

test('order matters, because the receipt keeps it', () => {
  const two = { ...ONE, uri: '#b' };
  expect(hex(ONE, two)).not.toBe(hex(two, ONE));
});
