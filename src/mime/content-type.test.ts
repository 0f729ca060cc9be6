import { expect, it } from 'vitest';
import { parseContentType } from './content-type.ts';

const boundary = (header: string): string | undefined => parseContentType(header)?.parameters.boundary;

it.each([
  ['multipart/related; boundary="----=_Part_0_1.2"; type="application/soap+xml"', '----=_Part_0_1.2'],
  ['multipart/related; boundary=----=_Part_0_1.2; type=application/soap+xml', '----=_Part_0_1.2'],
  ['Multipart/Related;boundary=x;charset=utf-8', 'x'],
  ['multipart/related ;\t  boundary = x', 'x'],
  ['multipart/related;\r\n\tboundary="x y";\r\n  start="<a>"', 'x y'],
  ['multipart/related;\n boundary=x', 'x'],
  ['multipart/related;    type="application/soap+xml";    boundary="a;b\\"c"', 'a;b"c'],
  ['multipart/related; boundary="open', undefined],
])('the boundary of %j is %j', (header, expected) => {
  expect(parseContentType(header)?.type).toBe('multipart/related');
  expect(boundary(header)).toBe(expected);
});

it('what has no media type is null', () => {
  for (const header of [undefined, '', ';', 'multipart', 'a b/c', 'multipart/related\r\nX: y', '/x']) {
    expect(parseContentType(header)).toBeNull();
  }
});

it('parameter names cannot reach the prototype', () => {
  expect(parseContentType('a/b')?.parameters.toString).toBeUndefined();
});
