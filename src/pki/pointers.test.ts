import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { certDer } from '../../certs/read.ts';
import { readCertificate } from './certificate.ts';
import { readCrlUrls, readOcspUrls } from './pointers.ts';
import { certificateOf, makeSmallPki, threeKeys } from './testing/small-pki.ts';

test('a certificate says where the list of its issuer is', () => {
  expect(readCertificate(certDer('sender'))).toMatchObject({
    crlUrls: ['http://crl.quittance.test/ap-ca.crl'],
    ocspUrls: [],
  });
  const { leaf } = makeSmallPki('pointers', { keys: threeKeys(), ocspUrl: 'http://ocsp.test/', crlUrl: 'ldap://x/' });
  expect(certificateOf(leaf)).toMatchObject({ crlUrls: [], ocspUrls: ['http://ocsp.test/'] });
});

test('extensions that cannot be read give no address, and no fault', () => {
  for (const bytes of [
    Buffer.alloc(0),
    Buffer.from('hello'),
    Buffer.from('3003020101', 'hex'),
    Buffer.from('3000', 'hex'),
  ]) {
    expect(readCrlUrls(bytes)).toEqual([]);
    expect(readOcspUrls(bytes)).toEqual([]);
  }
});

test('a list for some reasons only, or of another issuer, is none to fetch', () => {
  // One DistributionPoint: [0]{[0]{[6] "http://a/"}}, then with [1] reasons added.
  const whole = Buffer.from(`3011300fa00da00b8609${Buffer.from('http://a/').toString('hex')}`, 'hex');
  expect(readCrlUrls(whole)).toEqual(['http://a/']);
  const partial = Buffer.from(`30153013a00da00b8609${Buffer.from('http://a/').toString('hex')}81020106`, 'hex');
  expect(readCrlUrls(partial)).toEqual([]);
});

const real = new URL('../../../shared/samples/real/phase4-2026.as4out', import.meta.url).pathname;
test.skipIf(!existsSync(real))('a real Peppol certificate names where its CA publishes', () => {
  const token = /BinarySecurityToken[^>]*>([A-Za-z0-9+/=\s]+)</.exec(readFileSync(join(real), 'latin1'))?.[1] ?? '';
  const certificate = readCertificate(Buffer.from(token, 'base64'));
  expect([...certificate.crlUrls, ...certificate.ocspUrls].map((url) => new URL(url).host)).toEqual([
    'pki-crl.symauth.com',
    'pki-ocsp.symauth.com',
  ]);
});
