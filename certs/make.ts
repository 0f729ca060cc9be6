/**
 * Makes the test PKI anew: `npx tsx certs/make.ts`. Keys are new each time, serial numbers and names stay.
 * TEST ONLY: the private keys are public.
 */
import { createHash, generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import forge from 'node-forge';
import {
  CAS,
  type CaRow,
  CRL_VALIDITY,
  CRLS,
  LEAF_VALIDITY,
  LEAVES,
  type LeafRow,
  PASSWORD,
  PKCS12,
} from './inventory.ts';

const { asn1, pki } = forge;
const { Class, Type } = asn1;

interface Made {
  readonly certificate: forge.pki.Certificate;
  readonly key: forge.pki.rsa.PrivateKey;
}
type Keys = { readonly publicKey: forge.pki.rsa.PublicKey; readonly privateKey: forge.pki.rsa.PrivateKey };

const made = new Map<string, Made>();

function write(file: string, content: string | Buffer): void {
  writeFileSync(join(import.meta.dirname, file), content);
}

function lookUp(name: string): Made {
  const found = made.get(name);
  if (found === undefined) throw new Error(`${name} is used before it is made`);
  return found;
}

/** Node makes the key (forge's own prime search takes seconds). */
function newKeys(bits: number): Keys {
  const pem = generateKeyPairSync('rsa', { modulusLength: bits }).privateKey.export({ type: 'pkcs8', format: 'pem' });
  const privateKey = pki.privateKeyFromPem(String(pem));
  return { privateKey, publicKey: pki.setRsaPublicKey(privateKey.n, privateKey.e) };
}

/** 16 octets that only the name decides, positive and without a leading zero, as a CA's random ones look. */
function serialOf(name: string): string {
  return `4${createHash('sha256').update(`serial of ${name}`).digest('hex').slice(0, 31)}`;
}

function subjectOf(commonNames: readonly string[], organisation: string, unit: string): forge.pki.CertificateField[] {
  return [
    { shortName: 'C', value: 'BE' },
    { shortName: 'O', value: organisation },
    { shortName: 'OU', value: unit },
    ...commonNames.map((value) => ({ shortName: 'CN', value })),
  ];
}

function keyIdOf(publicKey: forge.pki.rsa.PublicKey): string {
  return pki.getPublicKeyFingerprint(publicKey, { type: 'RSAPublicKey' }).getBytes();
}

/** cRLDistributionPoints with one URL (RFC 5280 §4.2.1.13); forge cannot write it. */
function distributionPoint(url: string): string {
  const tagged = (n: number, constructed: boolean, value: string | forge.asn1.Asn1[]) =>
    asn1.create(Class.CONTEXT_SPECIFIC, n, constructed, value);
  const point = sequence([tagged(0, true, [tagged(0, true, [tagged(6, false, url)])])]);
  return asn1.toDer(sequence([point])).getBytes();
}

function sequence(children: forge.asn1.Asn1[]): forge.asn1.Asn1 {
  return asn1.create(Class.UNIVERSAL, Type.SEQUENCE, true, children);
}

function sign(o: {
  name: string;
  keys: Keys;
  subject: forge.pki.CertificateField[];
  issuer: string;
  notBefore: string;
  notAfter: string;
  extensions: object[];
  sha1?: boolean;
}): Made {
  const self = o.issuer === o.name;
  const issuerKey = self ? o.keys.privateKey : lookUp(o.issuer).key;
  const certificate = pki.createCertificate();
  certificate.publicKey = o.keys.publicKey;
  certificate.serialNumber = serialOf(o.name);
  certificate.validity.notBefore = new Date(`${o.notBefore}T00:00:00Z`);
  certificate.validity.notAfter = new Date(`${o.notAfter}T00:00:00Z`);
  certificate.setSubject(o.subject);
  certificate.setIssuer(self ? o.subject : lookUp(o.issuer).certificate.subject.attributes);
  const issuerKeyId = keyIdOf(pki.setRsaPublicKey(issuerKey.n, issuerKey.e));
  certificate.setExtensions([
    ...o.extensions,
    { id: '2.5.29.14', value: asn1.toDer(octets(keyIdOf(o.keys.publicKey))).getBytes() },
    { name: 'authorityKeyIdentifier', keyIdentifier: issuerKeyId },
  ]);
  certificate.sign(issuerKey, o.sha1 ? forge.md.sha1.create() : forge.md.sha256.create());
  const result = { certificate, key: o.keys.privateKey };
  made.set(o.name, result);
  write(`${o.name}.crt`, pki.certificateToPem(certificate).replaceAll('\r', ''));
  const info = pki.wrapRsaPrivateKey(pki.privateKeyToAsn1(o.keys.privateKey));
  write(`${o.name}.key`, pki.privateKeyInfoToPem(info).replaceAll('\r', ''));
  return result;
}

function octets(value: string): forge.asn1.Asn1 {
  return asn1.create(Class.UNIVERSAL, Type.OCTETSTRING, false, value);
}

function flags(names: readonly string[]): Record<string, true> {
  return Object.fromEntries(names.map((name) => [name, true]));
}

function makeCa(row: CaRow): void {
  const root = row.issuer === row.name;
  sign({
    name: row.name,
    keys: newKeys(3072),
    subject: subjectOf([row.commonName], 'Quittance Test PKI', 'FOR TEST ONLY'),
    issuer: row.issuer,
    notBefore: row.notBefore,
    notAfter: row.notAfter,
    extensions: [
      { name: 'basicConstraints', critical: true, cA: true, pathLenConstraint: root ? 1 : 0 },
      { name: 'keyUsage', critical: true, keyCertSign: true, cRLSign: true },
    ],
  });
}

function makeLeaf(row: LeafRow): void {
  const old = row.sameKeyAs === undefined ? undefined : lookUp(row.sameKeyAs).key;
  const keys = old ? { privateKey: old, publicKey: pki.setRsaPublicKey(old.n, old.e) } : newKeys(row.bits ?? 2048);
  const unknown = { id: '1.3.6.1.4.1.99999.1', critical: true, value: asn1.toDer(octets('?')).getBytes() };
  sign({
    name: row.name,
    keys,
    subject: subjectOf(row.commonNames, 'Quittance Test Organisation', row.unit ?? 'PEPPOL TEST AP'),
    issuer: row.issuer,
    notBefore: row.notBefore ?? LEAF_VALIDITY.notBefore,
    notAfter: row.notAfter ?? LEAF_VALIDITY.notAfter,
    sha1: row.sha1 ?? false,
    extensions: [
      { name: 'basicConstraints', critical: true, cA: row.ca ?? false },
      { name: 'keyUsage', critical: true, ...flags(row.keyUsage) },
      { name: 'extKeyUsage', critical: true, [row.extKeyUsage ?? 'clientAuth']: true },
      { id: '2.5.29.31', value: distributionPoint(`http://crl.quittance.test/${row.issuer}.crl`) },
      ...(row.unknownCritical ? [unknown] : []),
    ],
  });
}

/** A v2 CRL (RFC 5280 §5.1); forge has none, so it is put together here. */
function makeCrl(ca: string, revoked: readonly string[]): void {
  const issuer = lookUp(ca);
  const time = (date: string) =>
    asn1.create(Class.UNIVERSAL, Type.UTCTIME, false, asn1.dateToUtcTime(new Date(`${date}T00:00:00Z`)));
  const integer = (hex: string) => asn1.create(Class.UNIVERSAL, Type.INTEGER, false, forge.util.hexToBytes(hex));
  const oid = (dotted: string) => asn1.create(Class.UNIVERSAL, Type.OID, false, asn1.oidToDer(dotted).getBytes());
  const algorithm = sequence([oid('1.2.840.113549.1.1.11'), asn1.create(Class.UNIVERSAL, Type.NULL, false, '')]);
  const issuerKeyId = keyIdOf(pki.setRsaPublicKey(issuer.key.n, issuer.key.e));
  const authority = sequence([asn1.create(Class.CONTEXT_SPECIFIC, 0, false, issuerKeyId)]);
  const extension = (id: string, value: forge.asn1.Asn1) => sequence([oid(id), octets(asn1.toDer(value).getBytes())]);
  const entries = revoked.map((name) => sequence([integer(serialOf(name)), time('2023-06-01')]));
  const tbs = sequence([
    integer('01'),
    algorithm,
    pki.distinguishedNameToAsn1({
      attributes: issuer.certificate.subject.attributes,
    } as forge.pki.Certificate['subject']),
    time(CRL_VALIDITY.thisUpdate),
    time(CRL_VALIDITY.nextUpdate),
    ...(entries.length > 0 ? [sequence(entries)] : []),
    asn1.create(Class.CONTEXT_SPECIFIC, 0, true, [
      sequence([extension('2.5.29.35', authority), extension('2.5.29.20', integer('01'))]),
    ]),
  ]);
  const digest = forge.md.sha256.create();
  digest.update(asn1.toDer(tbs).getBytes());
  const signature = asn1.create(Class.UNIVERSAL, Type.BITSTRING, false, `\0${issuer.key.sign(digest)}`);
  const der = asn1.toDer(sequence([tbs, algorithm, signature])).getBytes();
  const lines = forge.util.encode64(der, 64).replaceAll('\r', '');
  write(`${ca}.crl`, `-----BEGIN X509 CRL-----\n${lines.trimEnd()}\n-----END X509 CRL-----\n`);
}

function makePkcs12(name: string, algorithm: 'aes256' | '3des'): void {
  const { key, certificate } = lookUp(name);
  const chain = [certificate, lookUp('ap-ca').certificate];
  const options = { algorithm, friendlyName: name };
  const der = asn1.toDer(forge.pkcs12.toPkcs12Asn1(key, chain, PASSWORD, options)).getBytes();
  write(`${name}.p12`, Buffer.from(der, 'binary'));
}

const pemOf = (name: string) => pki.certificateToPem(lookUp(name).certificate).replaceAll('\r', '');

for (const row of CAS) makeCa(row);
for (const row of LEAVES) makeLeaf(row);
for (const { ca, revoked } of CRLS) makeCrl(ca, revoked);
for (const { name, algorithm } of PKCS12) makePkcs12(name, algorithm);
write('trust.pem', pemOf('ap-ca') + pemOf('root'));
