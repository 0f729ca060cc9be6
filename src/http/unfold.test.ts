import { describe, expect, it } from 'vitest';
import { unfoldContentType } from './unfold.ts';

function unfold(...lines: string[]): string | null {
  const mended = unfoldContentType(Buffer.from(`POST /as4 HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\nbody`, 'latin1'));
  return mended === null ? null : mended.toString('latin1');
}

describe('a folded Content-Type', () => {
  it('comes to lie on one line, and everything else stays as it is', () => {
    expect(
      unfold(
        'Host:  x',
        'Content-type: multipart/related;',
        '\tboundary="b"; ',
        '  type=a',
        'X: \xe9',
        'Content-Length: 4',
      ),
    ).toBe(
      'POST /as4 HTTP/1.1\r\nHost:  x\r\nContent-type: multipart/related; boundary="b"; type=a\r\nX: \xe9\r\nContent-Length: 4\r\n\r\nbody',
    );
  });

  it('may begin after the colon', () => {
    expect(unfold('Content-Type:', ' a/b')).toContain('Content-Type: a/b\r\n\r\nbody');
  });

  it.each([
    [
      'whose continuation would be a field of its own without its blank',
      ['Content-Type: a/b;', ' Transfer-Encoding: chunked'],
    ],
    ['whose continuation would be one with a blank before the colon', ['Content-Type: a/b;', '\tContent-Length : 4']],
    ['with an empty continuation', ['Content-Type: a/b;', ' ']],
    ['beside another folded field', ['Content-Type: a/b;', ' c=d', 'X: y', ' z']],
  ])('%s is left alone', (_, lines) => {
    expect(unfold(...lines)).toBeNull();
  });
});

it.each([
  ['Transfer-Encoding', ['Transfer-Encoding:', ' chunked']],
  ['Content-Length', ['Content-Length: 4', ' 2']],
  ['any other field', ['X: y', ' z']],
  ['the first line', [' Content-Type: a/b', 'Host: x']],
])('a fold of %s is left alone', (_, lines) => {
  expect(unfold(...lines)).toBeNull();
});

it('a head that is not folded, or not complete, is left alone', () => {
  expect(unfold('Content-Type: a/b')).toBeNull();
  expect(unfoldContentType(Buffer.from('POST / HTTP/1.1\r\nContent-Type: a;\r\n b=c\r\n'))).toBeNull();
});
