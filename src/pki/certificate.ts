import { hash, type KeyObject, X509Certificate } from 'node:crypto';
import { type Der, DerReader, TAG } from './der.ts';
import { PkiError } from './errors.ts';
import { COMMON_NAME, type DistinguishedName, readDn, valuesOf } from './names.ts';
import { readCrlUrls, readOcspUrls } from './pointers.ts';

/** Bits of keyUsage by the names of RFC 5280 §4.2.1.3, in bit order. */
export const KEY_USAGES = [
  'digitalSignature',
  'nonRepudiation',
  'keyEncipherment',
  'dataEncipherment',
  'keyAgreement',
  'keyCertSign',
  'cRLSign',
  'encipherOnly',
  'decipherOnly',
] as const;
export type KeyUsage = (typeof KEY_USAGES)[number];

/** OIDs of the certificate extensions that this receiver reads. */
export const EXTENSION = {
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  basicConstraints: '2.5.29.19',
  cRLDistributionPoints: '2.5.29.31',
  authorityInfoAccess: '1.3.6.1.5.5.7.1.1',
  certificatePolicies: '2.5.29.32',
  extKeyUsage: '2.5.29.37',
} as const;

/** An X.509 certificate with what the rules need, decoded once. */
export interface Certificate {
  readonly der: Buffer;
  readonly x509: X509Certificate;
  /** SHA-256 over `der`, lower-case hex. */
  readonly fingerprint: string;
  readonly subject: DistinguishedName;
  readonly issuer: DistinguishedName;
  /** Lower-case hex without leading zeros. */
  readonly serial: string;
  /** The subject's CN; null unless there is exactly one. */
  readonly commonName: string | null;
  /** Epoch milliseconds; both ends belong to the validity. */
  readonly notBefore: number;
  readonly notAfter: number;
  readonly publicKey: KeyObject;
  /** Modulus length of an RSA key; null for another kind of key. */
  readonly rsaBits: number | null;
  readonly subjectKeyId: Buffer | null;
  /** null: no keyUsage extension. */
  readonly keyUsage: ReadonlySet<KeyUsage> | null;
  /** OIDs of extKeyUsage; null: no such extension. */
  readonly extKeyUsage: readonly string[] | null;
  /** basicConstraints cA; false when the extension is absent. */
  readonly ca: boolean;
  readonly pathLength: number | null;
  /** OIDs of the extensions marked critical. */
  readonly criticalExtensions: readonly string[];
  /** OID of the algorithm that the issuer signed with. */
  readonly signatureAlgorithm: string;
  /** Where its issuer says that its CRL and its OCSP responder are: http(s) URLs. */
  readonly crlUrls: readonly string[];
  readonly ocspUrls: readonly string[];
}

/** A real access-point certificate has 1.5 KB. */
const MAX_BYTES = 16 * 1024;
const reader = new DerReader('bad-certificate', 'The certificate');

/** Decodes one certificate, DER. Throws PkiError `bad-certificate`. */
export function readCertificate(der: Uint8Array): Certificate {
  return describeCertificate(parseX509(der));
}

/**
 * First half of `readCertificate`: as much as is needed to look for the issuer, so that a stranger's certificate costs
 * no more than that. Throws PkiError `bad-certificate`.
 */
export function parseX509(der: Uint8Array): X509Certificate {
  if (der.length > MAX_BYTES)
    throw new PkiError('bad-certificate', `The certificate is larger than ${MAX_BYTES} bytes`);
  let x509: X509Certificate;
  try {
    x509 = new X509Certificate(der);
  } catch (cause) {
    throw new PkiError('bad-certificate', `The certificate cannot be read`, cause);
  }
  // OpenSSL also takes PEM, BER and trailing bytes; then the octets that came are not the certificate that is judged.
  if (!x509.raw.equals(der))
    throw new PkiError('bad-certificate', `The certificate is not exactly one DER certificate`);
  return x509;
}

/** Second half of `readCertificate`. Throws PkiError `bad-certificate` or `bad-name`. */
export function describeCertificate(x509: X509Certificate): Certificate {
  const der = x509.raw;
  const [tbs] = reader.inside(reader.one(der), TAG.sequence);
  const fields = reader.inside(tbs, TAG.sequence);
  // A v1 certificate begins without [0] version; it has no extensions and so fails the rules for CAs and leaves.
  const at = fields[0]?.tag === 0xa0 ? 1 : 0;
  const extensions = readExtensions(fields.find((field) => field.tag === 0xa3));
  const subject = readDn(fields[at + 4]);
  const commonNames = valuesOf(subject, COMMON_NAME);
  const constraints = extensions.get(EXTENSION.basicConstraints);
  const { ca, pathLength } = readBasicConstraints(constraints?.value);
  const publicKey = keyOf(x509);
  return {
    der,
    x509,
    fingerprint: hash('sha256', der, 'hex'),
    subject,
    issuer: readDn(fields[at + 2]),
    serial: plainSerial(x509.serialNumber),
    commonName: commonNames.length === 1 ? (commonNames[0] as string) : null,
    notBefore: Date.parse(x509.validFrom),
    notAfter: Date.parse(x509.validTo),
    publicKey,
    rsaBits: publicKey.asymmetricKeyType === 'rsa' ? (publicKey.asymmetricKeyDetails?.modulusLength ?? 0) : null,
    subjectKeyId: readOctets(extensions.get(EXTENSION.subjectKeyIdentifier)?.value),
    keyUsage: readKeyUsage(extensions.get(EXTENSION.keyUsage)?.value),
    extKeyUsage: readOids(extensions.get(EXTENSION.extKeyUsage)?.value),
    ca,
    pathLength,
    criticalExtensions: [...extensions].filter(([, e]) => e.critical).map(([oid]) => oid),
    signatureAlgorithm: reader.oid(reader.inside(fields[at + 1], TAG.sequence)[0]),
    crlUrls: readCrlUrls(extensions.get(EXTENSION.cRLDistributionPoints)?.value),
    ocspUrls: readOcspUrls(extensions.get(EXTENSION.authorityInfoAccess)?.value),
  };
}

/** A serial number as `Certificate.serial` has it, from hex of any case and length. */
export function plainSerial(hex: string): string {
  return hex.toLowerCase().replace(/^0+(?=.)/, '');
}

interface Extension {
  readonly critical: boolean;
  /** The DER inside the OCTET STRING. */
  readonly value: Buffer;
}

/** Extensions by OID. One that occurs twice makes the certificate unreadable (RFC 5280 §4.2). */
function readExtensions(tagged: Der | undefined): ReadonlyMap<string, Extension> {
  const found = new Map<string, Extension>();
  if (tagged === undefined) return found;
  for (const extension of reader.inside(reader.one(tagged.content), TAG.sequence)) {
    const parts = reader.inside(extension, TAG.sequence);
    const oid = reader.oid(parts[0]);
    if (found.has(oid)) throw reader.fail(`has the extension ${oid} twice`);
    const critical = parts.length === 3 && reader.boolean(parts[1]);
    found.set(oid, { critical, value: reader.content(parts.at(-1), TAG.octetString) });
  }
  return found;
}

function readBasicConstraints(value: Buffer | undefined): { ca: boolean; pathLength: number | null } {
  if (value === undefined) return { ca: false, pathLength: null };
  const parts = reader.inside(reader.one(value), TAG.sequence);
  const pathLength = parts.find((part) => part.tag === TAG.integer)?.content;
  return {
    ca: parts[0]?.tag === TAG.boolean && reader.boolean(parts[0]),
    pathLength: pathLength === undefined ? null : Number.parseInt(pathLength.toString('hex'), 16),
  };
}

function readKeyUsage(value: Buffer | undefined): ReadonlySet<KeyUsage> | null {
  if (value === undefined) return null;
  const octets = reader.content(reader.one(value), TAG.bitString).subarray(1); // the first counts unused bits
  return new Set(KEY_USAGES.filter((_, bit) => (((octets[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1) === 1));
}

function readOids(value: Buffer | undefined): readonly string[] | null {
  return value === undefined ? null : reader.inside(reader.one(value), TAG.sequence).map((oid) => reader.oid(oid));
}

function readOctets(value: Buffer | undefined): Buffer | null {
  return value === undefined ? null : reader.content(reader.one(value), TAG.octetString);
}

function keyOf(x509: X509Certificate): KeyObject {
  try {
    return x509.publicKey;
  } catch (cause) {
    throw new PkiError('bad-certificate', `The certificate has a public key of an unknown kind`, cause);
  }
}
