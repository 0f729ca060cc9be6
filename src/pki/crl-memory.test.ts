import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { certFile } from '../../certs/read.ts';
import { rememberingReader } from './crl-memory.ts';

test('a list is decoded again only when its octets have changed, and a broken one never becomes the old one', () => {
  const read = rememberingReader();
  const [first, second] = ['ap-ca.crl', 'root.crl'].map((name) => readFileSync(certFile(name))) as [Buffer, Buffer];
  const crl = read(first, 'x.crl');
  expect(read(Buffer.from(first), 'x.crl')).toBe(crl);
  expect(read(first, 'y.crl')).not.toBe(crl);
  expect(() => read(first.subarray(0, 100), 'x.crl')).toThrow(/x\.crl/);
  expect(read(second, 'x.crl').revoked.size).toBe(0);
});
