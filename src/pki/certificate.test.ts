import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { certDer } from '../../certs/read.ts';
import { EXTENSION, plainSerial, readCertificate } from './certificate.ts';
import { PkiError } from './errors.ts';
import { formatDn } from './names.ts';

const samples = new URL('../../../shared/samples', import.meta.url).pathname;

test('reads a leaf in the form of a real one', () => {
  const sender = readCertificate(certDer('sender'));
  const openssl = new X509Certificate(sender.der);
  expect(formatDn(sender.subject)).toBe('CN=POP000001,OU=PEPPOL TEST AP,O=Quittance Test Organisation,C=BE');
  expect(sender.commonName).toBe('POP000001');
  expect(sender.fingerprint).toBe(openssl.fingerprint256.replaceAll(':', '').toLowerCase());
  expect(sender.serial).toBe(openssl.serialNumber.toLowerCase());
  expect(new Date(sender.notBefore).toISOString()).toBe('2020-01-01T00:00:00.000Z');
  expect(new Date(sender.notAfter).toISOString()).toBe('2047-01-01T00:00:00.000Z');
  expect(sender.keyUsage).toEqual(new Set(['digitalSignature', 'keyEncipherment', 'dataEncipherment']));
  expect(sender.extKeyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
  expect(sender.criticalExtensions).toEqual([EXTENSION.basicConstraints, EXTENSION.keyUsage, EXTENSION.extKeyUsage]);
  expect(sender.subjectKeyId).toHaveLength(20);
  expect(sender).toMatchObject({
    ca: false,
    pathLength: null,
    rsaBits: 2048,
    signatureAlgorithm: '1.2.840.113549.1.1.11',
  });
});

test('reads the other form of keyUsage', () => {
  expect(readCertificate(certDer('receiver')).keyUsage).toEqual(
    new Set(['digitalSignature', 'keyEncipherment', 'keyAgreement']),
  );
});

test('reads a CA with its path length', () => {
  expect(readCertificate(certDer('ap-ca'))).toMatchObject({ ca: true, pathLength: 0 });
  expect(readCertificate(certDer('root'))).toMatchObject({ ca: true, pathLength: 1 });
  expect(readCertificate(certDer('ap-ca')).keyUsage).toEqual(new Set(['keyCertSign', 'cRLSign']));
});

test('two CNs are no common name', () => {
  expect(readCertificate(certDer('two-cn')).commonName).toBeNull();
});

test('a serial number has no leading zeros, and zero stays', () => {
  expect([plainSerial('00AB'), plainSerial('0A'), plainSerial('00')]).toEqual(['ab', 'a', '0']);
});

describe('is not a certificate', () => {
  const der = certDer('sender');
  test.each([
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('certificate')],
    ['a certificate cut short', der.subarray(0, -1)],
    ['a certificate with something behind it', Buffer.concat([der, Buffer.from([0])])],
    ['PEM where DER belongs', Buffer.from(new X509Certificate(der).toString())],
    ['more than 16 KiB', Buffer.concat([der, Buffer.alloc(16 * 1024)])],
  ])('%s', (_, bytes) => {
    expect(() => readCertificate(bytes)).toThrow(PkiError);
  });

  test('one that names an extension twice (RFC 5280 §4.2)', () => {
    // extKeyUsage becomes a second keyUsage: 2.5.29.37 -> 2.5.29.15.
    const doubled = Buffer.from(der);
    doubled[doubled.indexOf(Buffer.from('0603551d25', 'hex')) + 4] = 0x0f;
    expect(() => readCertificate(doubled)).toThrow('the extension 2.5.29.15 twice');
  });
});

test('a damaged certificate is read or refused with PkiError, and nothing else is thrown', () => {
  const der = certDer('sender');
  let refused = 0;
  const change = fc.record({ at: fc.nat(der.length - 1), octet: fc.nat(255) });
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
      const damaged = Buffer.from(der);
      for (const { at, octet } of changes) damaged[at] = octet;
      try {
        readCertificate(damaged);
      } catch (fault) {
        expect(fault).toBeInstanceOf(PkiError);
        refused++;
      }
    }),
    { numRuns: 500 },
  );
  expect(refused).toBeGreaterThan(10);
});

describe.skipIf(!existsSync(samples))(
  `real messages${existsSync(samples) ? '' : ': skipped, ../shared is not here'}`,
  () => {
    const tokens = (file: string) =>
      [...readFileSync(`${samples}/${file}`, 'latin1').matchAll(/BinarySecurityToken[^>]*>([^<]+)</g)].map((match) =>
        readCertificate(Buffer.from((match[1] as string).replace(/&#13;|&#xD;|\s/gi, ''), 'base64')),
      );

    test.each([
      ['real/phase4-2026.as4out', 'POP000306', 'keyAgreement'],
      ['real/phase4-2021.as4in', 'POP000260', 'keyAgreement'],
      ['receipts/helger.as4in', 'POP000306', 'keyAgreement'],
      ['receipts/governikus.as4in', 'POP000260', 'keyAgreement'],
    ] as const)('%s: the signer is a seat with critical clientAuth', (file, seat, bit) => {
      const signer = tokens(file).find(
        (certificate) => certificate.commonName === seat && certificate.keyUsage?.has(bit),
      );
      expect(signer?.keyUsage).toEqual(new Set(['digitalSignature', 'keyEncipherment', bit]));
      expect(signer?.criticalExtensions.toSorted()).toEqual(
        [EXTENSION.basicConstraints, EXTENSION.keyUsage, EXTENSION.extKeyUsage].toSorted(),
      );
      expect(signer?.extKeyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
      expect(signer).toMatchObject({ ca: false, rsaBits: 2048 });
    });

    test('a G3 leaf has the other form of keyUsage', () => {
      const g3 = tokens('real/phase4-2026.as4out').find((c) => formatDn(c.issuer).includes('TEST CA - G3'));
      expect(g3?.keyUsage).toEqual(new Set(['digitalSignature', 'keyEncipherment', 'dataEncipherment']));
      expect(g3?.subjectKeyId?.toString('hex')).toBe('bc3fa1f6d1fe8bedf829f703e9de90ca4da00685');
    });
  },
);
