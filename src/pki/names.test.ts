import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { certDer } from '../../certs/read.ts';
import { readCertificate } from './certificate.ts';
import { PkiError } from './errors.ts';
import { type DistinguishedName, formatDn, parseDn, sameDn } from './names.ts';

const issuer = readCertificate(certDer('sender')).issuer;
const CA = 'CN=QUITTANCE ACCESS POINT TEST CA - G1,OU=FOR TEST ONLY,O=Quittance Test PKI,C=BE';
const value = (dn: DistinguishedName, rdn = 0, at = 0) => dn.rdns[rdn]?.[at]?.value;

describe('a written name equals the name of a certificate', () => {
  test.each([
    ['RFC 2253', CA],
    ['RFC 4514 with blanks', CA.replaceAll(',', ' , ')],
    ['other case and runs of blanks', CA.toLowerCase().replace('access point', 'access   point')],
    ['RFC 1779 with OID. and semicolons', CA.replace('CN=', 'OID.2.5.4.3=').replaceAll(',', ';')],
    ['dotted OIDs', CA.replace('OU=', '2.5.4.11=').replace('C=', '2.5.4.6=')],
    ['a quoted value', CA.replace('FOR TEST ONLY', '"FOR TEST ONLY"')],
    ['a value in hex BER', CA.replace('OU=FOR TEST ONLY', `OU=#130d${Buffer.from('FOR TEST ONLY').toString('hex')}`)],
    ['the order of the certificate, as some write it', CA.split(',').reverse().join(', ')],
    ['OpenSSL', `/${CA.split(',').reverse().join('/')}`],
  ])('as %s', (_, written) => {
    expect(sameDn(parseDn(written), issuer)).toBe(true);
  });
});

describe('a written name differs from the name of a certificate', () => {
  test.each([
    ['with another value', CA.replace('G1', 'G2')],
    ['with another type for the same value', CA.replace('OU=', 'L=')],
    ['with an RDN too few', CA.replace(',C=BE', '')],
    ['with an RDN too many', `${CA},C=BE`],
    ['in a mixed order', CA.replace('OU=FOR TEST ONLY,O=Quittance Test PKI', 'O=Quittance Test PKI,OU=FOR TEST ONLY')],
    ['with two RDNs made into one', CA.replace(',O=', '+O=')],
    ['empty', ''],
  ])('%s', (_, written) => {
    expect(sameDn(parseDn(written), issuer)).toBe(false);
  });
});

test('names of two certificates must have the same order: only text gets the benefit of either', () => {
  const reversed = { ...issuer, rdns: [...issuer.rdns].reverse() };
  expect(sameDn(issuer, reversed)).toBe(false);
  expect(sameDn(issuer, { ...reversed, source: 'text' })).toBe(true);
});

describe('escapes of RFC 4514', () => {
  test.each([
    ['CN=a\\,b', 'a,b'],
    ['CN=a\\\\', 'a\\'],
    ['CN=a\\ ', 'a '],
    ['CN=a\\\\  ', 'a\\'],
    ['CN=\\#a', '#a'],
    ['CN=a\\2Cb', 'a,b'],
    ['CN=Lu\\C4\\8Di\\C4\\87', 'Lučić'],
    ['CN="a, b; c+d=\\"e\\""', 'a, b; c+d="e"'],
    ['CN=', ''],
    ['CN=a=b', 'a=b'],
    ['CN=a/b', 'a/b'],
  ])('%s is %s', (written, expected) => {
    expect(value(parseDn(written))).toBe(expected);
  });

  test('a plus sign joins attributes of one RDN, whose order does not matter', () => {
    const name = parseDn('OU=x+CN=y,O=z');
    expect(name.rdns.map((rdn) => rdn.length)).toEqual([1, 2]);
    expect(sameDn(name, parseDn('CN=y+OU=x,O=z'))).toBe(true);
  });
});

test.each(['CN', 'CN=a,', ',CN=a', 'XYZ=a', 'CN="a', 'CN="a"b', 'CN=#0c', '=a'])('%s is not a name', (written) => {
  expect(() => parseDn(written)).toThrow(PkiError);
});

test('a name of more than 4096 characters is refused before it is parsed', () => {
  expect(() => parseDn(`CN=${'a'.repeat(4096)}`)).toThrow('longer than 4096');
});

test('what is formatted parses back to the same name, whatever the values', () => {
  const attribute = fc.record({
    type: fc.constantFrom('2.5.4.3', '2.5.4.10', '2.5.4.97', '1.2.3.4'),
    value: fc.string({ unit: 'binary' }).filter((text) => text.trim() !== '' && !text.startsWith('#')),
  });
  const names = fc.array(fc.array(attribute, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(names, (rdns) => {
      const parsed = parseDn(formatDn({ source: 'der', rdns }));
      expect(parsed.rdns.map((rdn) => rdn.map(({ type }) => type))).toEqual(
        rdns.map((rdn) => rdn.map(({ type }) => type)),
      );
      expect(sameDn(parsed, { source: 'der', rdns })).toBe(true);
    }),
    { numRuns: 500 },
  );
});
