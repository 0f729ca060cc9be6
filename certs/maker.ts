/** Makes certificates and CRLs out of node-forge, for `make.ts` and for tests that need one with a special fault. TEST ONLY. */
import { createHash, generateKeyPairSync } from 'node:crypto';
import forge from 'node-forge';

const { asn1, pki } = forge;
const { Class, Type } = asn1;

/** An RSA key pair of forge. */
export interface Keys {
  readonly publicKey: forge.pki.rsa.PublicKey;
  readonly privateKey: forge.pki.rsa.PrivateKey;
}

/** A certificate and its key, also as PEM texts. */
export interface Made {
  readonly certificate: forge.pki.Certificate;
  readonly keys: Keys;
  readonly pem: string;
  /** PKCS#8. */
  readonly keyPem: string;
}

/** Node makes the key (forge's own prime search takes seconds). */
export function newKeys(bits: number): Keys {
  const pem = generateKeyPairSync('rsa', { modulusLength: bits }).privateKey.export({ type: 'pkcs8', format: 'pem' });
  const privateKey = pki.privateKeyFromPem(String(pem));
  return { privateKey, publicKey: pki.setRsaPublicKey(privateKey.n, privateKey.e) };
}

/** 16 octets in hex that only the name decides, positive and without a leading zero, as a CA's random ones look. */
export function serialOf(name: string): string {
  return `4${createHash('sha256').update(`serial of ${name}`).digest('hex').slice(0, 31)}`;
}

export interface CertificateRequest {
  /** Decides the serial number. */
  readonly name: string;
  readonly keys: Keys;
  readonly commonNames: readonly string[];
  readonly organisation: string;
  readonly unit: string;
  /** null: signs itself. */
  readonly issuer: Made | null;
  /** Dates, such as 2020-01-01, in UTC. */
  readonly notBefore: string;
  readonly notAfter: string;
  /** In forge's form; key identifiers are added. */
  readonly extensions: readonly object[];
  readonly sha1?: boolean;
}

export function makeCertificate(request: CertificateRequest): Made {
  const { keys, issuer } = request;
  const subject = [
    { shortName: 'C', value: 'BE' },
    { shortName: 'O', value: request.organisation },
    { shortName: 'OU', value: request.unit },
    ...request.commonNames.map((value) => ({ shortName: 'CN', value })),
  ];
  const issuerKeys = issuer?.keys ?? keys;
  const certificate = pki.createCertificate();
  certificate.publicKey = keys.publicKey;
  certificate.serialNumber = serialOf(request.name);
  certificate.validity.notBefore = new Date(`${request.notBefore}T00:00:00Z`);
  certificate.validity.notAfter = new Date(`${request.notAfter}T00:00:00Z`);
  certificate.setSubject(subject);
  certificate.setIssuer(issuer?.certificate.subject.attributes ?? subject);
  certificate.setExtensions([
    ...request.extensions,
    rawExtension('2.5.29.14', octets(keyIdOf(keys.publicKey))),
    { name: 'authorityKeyIdentifier', keyIdentifier: keyIdOf(issuerKeys.publicKey) },
  ]);
  certificate.sign(issuerKeys.privateKey, request.sha1 ? forge.md.sha1.create() : forge.md.sha256.create());
  const info = pki.wrapRsaPrivateKey(pki.privateKeyToAsn1(keys.privateKey));
  return {
    certificate,
    keys,
    pem: pki.certificateToPem(certificate).replaceAll('\r', ''),
    keyPem: pki.privateKeyInfoToPem(info).replaceAll('\r', ''),
  };
}

/** basicConstraints and keyUsage of a CA; `crlUrl` is where its issuer's list is. */
export function caExtensions(pathLenConstraint: number, crlUrl?: string): object[] {
  return [
    { name: 'basicConstraints', critical: true, cA: true, pathLenConstraint },
    { name: 'keyUsage', critical: true, keyCertSign: true, cRLSign: true },
    ...(crlUrl === undefined ? [] : [rawExtension('2.5.29.31', distributionPoint(crlUrl))]),
  ];
}

/** The extensions of a real access-point certificate, with the faults that the options name. */
export function leafExtensions(o: {
  readonly keyUsage: readonly string[];
  readonly ca?: boolean;
  readonly extKeyUsage?: string;
  readonly crlUrl: string;
  readonly ocspUrl?: string;
  readonly unknownCritical?: boolean;
}): object[] {
  const unknown = { ...rawExtension('1.3.6.1.4.1.99999.1', octets('?')), critical: true };
  return [
    { name: 'basicConstraints', critical: true, cA: o.ca ?? false },
    { name: 'keyUsage', critical: true, ...Object.fromEntries(o.keyUsage.map((bit) => [bit, true])) },
    { name: 'extKeyUsage', critical: true, [o.extKeyUsage ?? 'clientAuth']: true },
    rawExtension('2.5.29.31', distributionPoint(o.crlUrl)),
    ...(o.ocspUrl === undefined ? [] : [rawExtension('1.3.6.1.5.5.7.1.1', ocspAccess(o.ocspUrl))]),
    ...(o.unknownCritical ? [unknown] : []),
  ];
}

/** The extensions of an OCSP responder's certificate; OCSP itself is not asked about it (id-pkix-ocsp-nocheck). */
export function responderExtensions(): object[] {
  return [
    { name: 'basicConstraints', critical: true, cA: false },
    { name: 'keyUsage', critical: true, digitalSignature: true },
    rawExtension('2.5.29.37', sequence([oid('1.3.6.1.5.5.7.3.9')])),
    rawExtension('1.3.6.1.5.5.7.48.1.5', universal(Type.NULL, '')),
  ];
}

/** What `makeCertificate` made before, out of its two PEM texts. */
export function readMade(pem: string, keyPem: string): Made {
  const certificate = pki.certificateFromPem(pem);
  const privateKey = pki.privateKeyFromPem(keyPem);
  return { certificate, keys: { privateKey, publicKey: pki.setRsaPublicKey(privateKey.n, privateKey.e) }, pem, keyPem };
}

export interface CrlRequest {
  readonly issuer: Made;
  /** Serial numbers, hex. */
  readonly revoked: readonly string[];
  readonly thisUpdate: string;
  /** null leaves it out. */
  readonly nextUpdate: string | null;
  /** Marks the CRL as partitioned: a critical issuingDistributionPoint. */
  readonly partitioned?: boolean;
}

/** A v2 CRL (RFC 5280 §5.1) as PEM; forge has none, so it is put together here. */
export function makeCrl({ issuer, revoked, thisUpdate, nextUpdate, partitioned }: CrlRequest): string {
  const algorithm = sequence([oid('1.2.840.113549.1.1.11'), universal(Type.NULL, '')]);
  const authority = sequence([tagged(0, keyIdOf(issuer.keys.publicKey))]);
  const extension = (id: string, value: forge.asn1.Asn1, critical = false) =>
    sequence([oid(id), ...(critical ? [universal(Type.BOOLEAN, '\xff')] : []), octets(derOf(value))]);
  const extensions = [
    extension('2.5.29.35', authority),
    extension('2.5.29.20', integer('01')),
    ...(partitioned ? [extension('2.5.29.28', sequence([tagged(1, '\xff')]), true)] : []),
  ];
  const entries = revoked.map((serial) => sequence([integer(serial), time('2023-06-01')]));
  const tbs = sequence([
    integer('01'),
    algorithm,
    pki.distinguishedNameToAsn1(issuer.certificate.subject),
    time(thisUpdate),
    ...(nextUpdate === null ? [] : [time(nextUpdate)]),
    ...(entries.length > 0 ? [sequence(entries)] : []),
    tagged(0, [sequence(extensions)]),
  ]);
  const digest = forge.md.sha256.create();
  digest.update(derOf(tbs));
  const signature = universal(Type.BITSTRING, `\0${issuer.keys.privateKey.sign(digest)}`);
  const base64 = forge.util.encode64(derOf(sequence([tbs, algorithm, signature])), 64).replaceAll('\r', '');
  return `-----BEGIN X509 CRL-----\n${base64.trimEnd()}\n-----END X509 CRL-----\n`;
}

/** A PKCS#12 file with one key and its chain. */
export function makePkcs12(own: Made, chain: readonly Made[], password: string, algorithm: 'aes256' | '3des'): Buffer {
  const certificates = [own, ...chain].map((made) => made.certificate);
  const pfx = forge.pkcs12.toPkcs12Asn1(own.keys.privateKey, certificates, password, { algorithm });
  return Buffer.from(derOf(pfx), 'latin1');
}

function keyIdOf(publicKey: forge.pki.rsa.PublicKey): string {
  return pki.getPublicKeyFingerprint(publicKey, { type: 'RSAPublicKey' }).getBytes();
}

/** cRLDistributionPoints with one URL (RFC 5280 §4.2.1.13); forge cannot write it. */
function distributionPoint(url: string): forge.asn1.Asn1 {
  return sequence([sequence([tagged(0, [tagged(0, [tagged(6, url)])])])]);
}

/** authorityInfoAccess with one OCSP responder (RFC 5280 §4.2.2.1). */
function ocspAccess(url: string): forge.asn1.Asn1 {
  return sequence([sequence([oid('1.3.6.1.5.5.7.48.1'), tagged(6, url)])]);
}

function rawExtension(id: string, value: forge.asn1.Asn1): { id: string; value: string } {
  return { id, value: derOf(value) };
}

function derOf(value: forge.asn1.Asn1): string {
  return asn1.toDer(value).getBytes();
}

function universal(type: forge.asn1.Type, value: string | forge.asn1.Asn1[]): forge.asn1.Asn1 {
  return asn1.create(Class.UNIVERSAL, type, Array.isArray(value), value);
}

function tagged(number: number, value: string | forge.asn1.Asn1[]): forge.asn1.Asn1 {
  return asn1.create(Class.CONTEXT_SPECIFIC, number, Array.isArray(value), value);
}

function sequence(children: forge.asn1.Asn1[]): forge.asn1.Asn1 {
  return universal(Type.SEQUENCE, children);
}

function octets(value: string): forge.asn1.Asn1 {
  return universal(Type.OCTETSTRING, value);
}

function integer(hex: string): forge.asn1.Asn1 {
  return universal(Type.INTEGER, forge.util.hexToBytes(hex));
}

function oid(dotted: string): forge.asn1.Asn1 {
  return universal(Type.OID, asn1.oidToDer(dotted).getBytes());
}

/** A day, or a moment in ISO 8601. */
function time(date: string): forge.asn1.Asn1 {
  return universal(Type.UTCTIME, asn1.dateToUtcTime(new Date(date.includes('T') ? date : `${date}T00:00:00Z`)));
}
