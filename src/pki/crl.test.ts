import { readFileSync } from 'node:fs';
import * as asn1js from 'asn1js';
import * as pkijs from 'pkijs';
import { beforeAll, describe, expect, test } from 'vitest';
import { caExtensions, type Made, makeCertificate, makeCrl, newKeys, serialOf } from '../../certs/maker.ts';
import { certDer, certFile } from '../../certs/read.ts';
import { readCertificate } from './certificate.ts';
import { isCrlOf, readCrl } from './crl.ts';
import { pemBlocks } from './files.ts';

const pem = readFileSync(certFile('ap-ca.crl'));
const der = pemBlocks(pem.toString(), 'X509 CRL')[0] as Buffer;
const apCa = readCertificate(certDer('ap-ca'));
let ca: Made;

beforeAll(() => {
  ca = makeCertificate({
    name: 'crl test',
    keys: newKeys(2048),
    commonNames: ['CRL TEST CA'],
    organisation: 'Test',
    unit: 'Test',
    issuer: null,
    notBefore: '2020-01-01',
    notAfter: '2046-01-01',
    extensions: caExtensions(0),
  });
});

const dates = { thisUpdate: '2024-01-01', nextUpdate: '2046-01-01' };
const read = (o: Partial<Parameters<typeof makeCrl>[0]>) =>
  readCrl(Buffer.from(makeCrl({ ...dates, issuer: ca, revoked: [], ...o })), 'x.crl');

test.each([
  ['PEM', pem],
  ['DER', der],
])('a CRL is read as %s, and is of the CA that signed it', (_, bytes) => {
  const crl = readCrl(bytes, 'ap-ca.crl');
  expect(new Date(crl.thisUpdate).toISOString()).toBe('2024-01-01T00:00:00.000Z');
  expect(new Date(crl.nextUpdate).toISOString()).toBe('2046-01-01T00:00:00.000Z');
  expect(crl.revoked).toEqual(new Set([readCertificate(certDer('revoked')).serial]));
  expect(isCrlOf(crl, apCa)).toBe(true);
});

test('PKI.js reads and verifies the same list', async () => {
  const crl = pkijs.CertificateRevocationList.fromBER(der);
  const issuerCertificate = pkijs.Certificate.fromBER(certDer('ap-ca'));
  expect(await crl.verify({ issuerCertificate })).toBe(true);
  const serials = crl.revokedCertificates?.map((entry) =>
    Buffer.from(entry.userCertificate.valueBlock.valueHexView).toString('hex'),
  );
  expect(new Set(serials)).toEqual(readCrl(der, 'ap-ca.crl').revoked);
});

test('a CRL is not of a CA with another name, nor of one with the same name and another key', () => {
  const crl = read({});
  expect(isCrlOf(crl, readCertificate(certDer('smp-ca')))).toBe(false);
  expect(isCrlOf({ ...crl, issuer: apCa.subject }, apCa)).toBe(false);
});

test('a list changed after signing is of nobody', () => {
  const changed = Buffer.from(der);
  const at = changed.indexOf(Buffer.from(serialOf('revoked'), 'hex'));
  changed[at + 5] = (changed[at + 5] as number) ^ 1;
  expect(isCrlOf(readCrl(changed, 'x.crl'), apCa)).toBe(false);
});

test('a CA whose keyUsage lacks cRLSign signs no list', () => {
  expect(isCrlOf(readCrl(der, 'x.crl'), { ...apCa, keyUsage: new Set(['keyCertSign']) })).toBe(false);
});

test('5,000 entries are read: asn1js stops at 10,000 nodes', () => {
  const revoked = Array.from({ length: 5000 }, (_, i) => `40${i.toString(16).padStart(30, '0')}`);
  const crl = read({ revoked });
  expect(crl.revoked).toEqual(new Set(revoked));
  expect(asn1js.fromBER(crl.tbs as Uint8Array<ArrayBuffer>).offset).toBe(-1);
});

describe('is refused', () => {
  test('a CRL without nextUpdate', () => {
    expect(() => read({ nextUpdate: null })).toThrow('no nextUpdate');
  });

  test('a partitioned CRL: read as complete it would miss revocations', () => {
    expect(() => read({ partitioned: true })).toThrow('critical extension 2.5.29.28');
  });

  test('a CRL that names two signature algorithms', () => {
    const changed = Buffer.from(der);
    const inner = changed.indexOf(Buffer.from('2a864886f70d01010b', 'hex'));
    changed[inner + 8] = 0x0c;
    expect(() => readCrl(changed, 'x.crl')).toThrow('two signature algorithms');
  });

  test('a CRL signed with SHA-1', () => {
    const sha1 = Buffer.from(der.toString('hex').replaceAll('2a864886f70d01010b', '2a864886f70d010105'), 'hex');
    expect(() => readCrl(sha1, 'x.crl')).toThrow('too weak');
  });

  test.each([
    ['a certificate', certDer('ap-ca')],
    ['a CRL cut short', der.subarray(0, -1)],
    ['two CRLs in one file', Buffer.concat([pem, pem])],
    ['nothing', Buffer.alloc(0)],
  ])('%s', (_, bytes) => {
    expect(() => readCrl(bytes, 'x.crl')).toThrow(/^The CRL in x\.crl /);
  });
});
