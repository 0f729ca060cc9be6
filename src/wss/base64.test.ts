import { expect, test } from 'vitest';
import { decodeBase64 } from './base64.ts';

test('white space may be anywhere, also carriage returns', () => {
  expect(decodeBase64(' QU\r\n\tJD \n')?.toString()).toBe('ABC');
  expect(decodeBase64('QQ = =')?.toString()).toBe('A');
});

test.each([
  ['nothing', ''],
  ['only white space', ' \n'],
  ['no text at all', null],
  ['an absent attribute', undefined],
  ['missing padding', 'QQ'],
  ['padding in the middle', 'QQ==QUJD'],
  ['too much padding', 'Q==='],
  ['bits that are not used and not zero', 'QR=='],
  ['a character outside the alphabet', 'QU*D'],
  ['the URL alphabet', 'QU-D'],
  ['another kind of white space', 'QUJD\u00a0'],
])('%s is not base64', (_, value) => {
  expect(decodeBase64(value)).toBeNull();
});
