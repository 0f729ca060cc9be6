import { expect, it } from 'vitest';
import { findContentId, parseContentId } from './content-id.ts';

it('a Content-ID is read with and without angle brackets', () => {
  expect(parseContentId('<a@x>')).toBe('a@x');
  expect(parseContentId('a@x')).toBe('a@x');
  expect(parseContentId('<>')).toBeNull();
  expect(parseContentId(undefined)).toBeNull();
});

it('a cid is found as written before it is decoded, and never when both exist', () => {
  expect(findContentId('cid:a@x', ['b', 'a@x'])).toBe('a@x');
  expect(findContentId('CID:a%40x', ['a@x'])).toBe('a@x');
  expect(findContentId('cid:a%40x', ['a%40x'])).toBe('a%40x');
  expect(findContentId('cid:a%40x', ['a%40x', 'a@x'])).toBe('ambiguous');
  expect(findContentId('cid:a', ['a', 'a'])).toBe('ambiguous');
});

it('a plus is no blank, and what is not percent-encoding is taken as written', () => {
  expect(findContentId('cid:a+b', ['a b'])).toBeNull();
  expect(findContentId('cid:a+b', ['a+b'])).toBe('a+b');
  expect(findContentId('cid:100%', ['100%'])).toBe('100%');
  expect(findContentId('http://x', ['http://x'])).toBeNull();
});
