import { describe, expect, test } from 'vitest';
import { DerReader, TAG } from './der.ts';
import { PkiError } from './errors.ts';

const reader = new DerReader('bad-certificate', 'The thing');
const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');

test('values that stand one after the other are read with their bytes', () => {
  const values = reader.all(hex('0101ff 3003020105'));
  expect(values.map(({ tag, whole }) => [tag, whole.toString('hex')])).toEqual([
    [TAG.boolean, '0101ff'],
    [TAG.sequence, '3003020105'],
  ]);
  expect(reader.inside(values[1], TAG.sequence)[0]?.content).toEqual(hex('05'));
});

test('a length of 128 and more has its own octets', () => {
  const long = Buffer.concat([hex('04820100'), Buffer.alloc(256, 1)]);
  expect(reader.content(reader.one(long), TAG.octetString)).toHaveLength(256);
});

describe('is not DER', () => {
  test.each([
    ['a length beyond the end', '0402ff'],
    ['no length', '04'],
    ['an indefinite length', '3080 0000'],
    ['a long form for a short length', '048101ff'],
    ['a length with a leading zero', `04820080${'00'.repeat(128)}`],
    ['a length of five octets', '04850000000001ff'],
    ['length octets cut short', '0482'],
    ['a tag number above 30', '1f0100'],
    ['two values where one belongs', '0500 0500'],
    ['nothing where one value belongs', ''],
  ])('%s', (_, bytes) => {
    expect(() => reader.one(hex(bytes))).toThrow(PkiError);
    expect(() => reader.one(hex(bytes))).toThrow('The thing is not valid DER');
  });
});

test('a value of another type is refused', () => {
  expect(() => reader.inside(reader.one(hex('0500')), TAG.sequence)).toThrow('is not built as X.509 says');
  expect(() => reader.content(undefined, TAG.oid)).toThrow('is not built as X.509 says');
});

test.each([
  ['0603550403', '2.5.4.3'],
  ['06062a864886f70d', '1.2.840.113549'],
  ['060a0992268993f22c640101', '0.9.2342.19200300.100.1.1'],
  ['0603883703', '2.999.3'],
  ['060127', '0.39'],
])('the object identifier %s is %s', (bytes, dotted) => {
  expect(reader.oid(reader.one(hex(bytes)))).toBe(dotted);
});

test.each(['0600', '060188', '060355 0483'.replace(' ', '')])('%s is no object identifier', (bytes) => {
  expect(() => reader.oid(reader.one(hex(bytes)))).toThrow(PkiError);
});

test('an object identifier of more than 64 octets is refused', () => {
  expect(() => reader.oid(reader.one(hex(`0641${'01'.repeat(65)}`)))).toThrow('invalid object identifier');
});
