import { hash, type KeyObject, X509Certificate } from 'node:crypto';
import * as asn1js from 'asn1js';
import { childrenOf, decodeDer, oidOf } from './asn1.ts';
import { PkiError } from './errors.ts';
import { COMMON_NAME, type DistinguishedName, readDn, valuesOf } from './names.ts';

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
}

/** A real access-point certificate has 1.5 KB. */
const MAX_BYTES = 16 * 1024;
const WHAT = 'The certificate';

/** Decodes one certificate, DER. Throws PkiError `bad-certificate`. */
export function readCertificate(der: Uint8Array): Certificate {
  return describeCertificate(parseX509(der));
}

/**
 * First half of `readCertificate`: as much as is needed to look for the issuer, so that a stranger's certificate costs
 * no more than that. Throws PkiError `bad-certificate`.
 */
export function parseX509(der: Uint8Array): X509Certificate {
  if (der.length > MAX_BYTES) throw new PkiError('bad-certificate', `${WHAT} is larger than ${MAX_BYTES} bytes`);
  let x509: X509Certificate;
  try {
    x509 = new X509Certificate(der);
  } catch (cause) {
    throw new PkiError('bad-certificate', `${WHAT} cannot be read`, cause);
  }
  // OpenSSL also takes PEM, BER and trailing bytes; then the octets that came are not the certificate that is judged.
  if (!x509.raw.equals(der)) throw new PkiError('bad-certificate', `${WHAT} is not exactly one DER certificate`);
  return x509;
}

/** Second half of `readCertificate`. Throws PkiError `bad-certificate` or `bad-name`. */
export function describeCertificate(x509: X509Certificate): Certificate {
  const der = x509.raw;
  const [tbs] = childrenOf(decodeDer(der, 'bad-certificate', WHAT), 'bad-certificate', WHAT);
  const fields = childrenOf(tbs, 'bad-certificate', WHAT);
  // [0] version is there in every v3 certificate; a v1 certificate has no extensions and fails the rules later.
  const at = fields[0]?.idBlock.tagClass === 3 ? 1 : 0;
  const extensions = readExtensions(
    fields.find((f, i) => i > at && f.idBlock.tagClass === 3 && f.idBlock.tagNumber === 3),
  );
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
    signatureAlgorithm: oidOf(childrenOf(fields[at + 1], 'bad-certificate', WHAT)[0], 'bad-certificate', WHAT),
  };
}

/** A serial number as `Certificate.serial` has it, from hex of any case and length. */
export function plainSerial(hex: string): string {
  return hex.toLowerCase().replace(/^0+(?=.)/, '');
}

/** One extension of a certificate or CRL; `value` is the DER inside the OCTET STRING. */
export interface Extension {
  readonly critical: boolean;
  readonly value: Uint8Array;
}

/** Extensions by OID out of the explicitly tagged field. Throws when one occurs twice (RFC 5280 §4.2). */
export function readExtensions(tagged: asn1js.AsnType | undefined): ReadonlyMap<string, Extension> {
  const found = new Map<string, Extension>();
  if (tagged === undefined) return found;
  const [list] = tagged instanceof asn1js.Constructed ? tagged.valueBlock.value : [];
  for (const node of childrenOf(list, 'bad-certificate', WHAT)) {
    const parts = childrenOf(node, 'bad-certificate', WHAT);
    const oid = oidOf(parts[0], 'bad-certificate', WHAT);
    const critical = parts[1] instanceof asn1js.Boolean && parts[1].valueBlock.value;
    const wrapped = parts.at(-1);
    if (!(wrapped instanceof asn1js.OctetString) || found.has(oid)) {
      throw new PkiError('bad-certificate', `${WHAT} has the extension ${oid} twice, or without a value`);
    }
    found.set(oid, { critical, value: wrapped.valueBlock.valueHexView });
  }
  return found;
}

function decode(value: Uint8Array | undefined): asn1js.AsnType | null {
  return value === undefined ? null : decodeDer(value, 'bad-certificate', `${WHAT}'s extension`);
}

function readBasicConstraints(value: Uint8Array | undefined): { ca: boolean; pathLength: number | null } {
  const node = decode(value);
  if (node === null) return { ca: false, pathLength: null };
  const parts = childrenOf(node, 'bad-certificate', WHAT);
  const pathLength = parts.find((part) => part instanceof asn1js.Integer);
  return {
    ca: parts[0] instanceof asn1js.Boolean && parts[0].valueBlock.value,
    pathLength: pathLength instanceof asn1js.Integer ? pathLength.valueBlock.valueDec : null,
  };
}

function readKeyUsage(value: Uint8Array | undefined): ReadonlySet<KeyUsage> | null {
  const node = decode(value);
  if (node === null) return null;
  if (!(node instanceof asn1js.BitString)) throw new PkiError('bad-certificate', `${WHAT} has an unreadable keyUsage`);
  const octets = node.valueBlock.valueHexView;
  return new Set(KEY_USAGES.filter((_, bit) => (((octets[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1) === 1));
}

function readOids(value: Uint8Array | undefined): readonly string[] | null {
  const node = decode(value);
  if (node === null) return null;
  return childrenOf(node, 'bad-certificate', WHAT).map((oid) => oidOf(oid, 'bad-certificate', WHAT));
}

function readOctets(value: Uint8Array | undefined): Buffer | null {
  const node = decode(value);
  if (node === null) return null;
  if (!(node instanceof asn1js.OctetString))
    throw new PkiError('bad-certificate', `${WHAT} has an unreadable key identifier`);
  return Buffer.from(node.valueBlock.valueHexView);
}

function keyOf(x509: X509Certificate): KeyObject {
  try {
    return x509.publicKey;
  } catch (cause) {
    throw new PkiError('bad-certificate', `${WHAT} has a public key of an unknown kind`, cause);
  }
}
