import { type Certificate, EXTENSION, readCertificate } from './certificate.ts';
import { PkiError } from './errors.ts';
import { inFile, pemBlocks } from './files.ts';
import { COMMON_NAME, type DistinguishedName, formatDn, ORGANIZATIONAL_UNIT, sameDn, valuesOf } from './names.ts';
import { SIGNATURE_HASHES } from './signature-algorithms.ts';

/** A CA that may issue access-point certificates, and the self-signed root that vouches for it. */
export interface Issuer {
  readonly certificate: Certificate;
  readonly root: Certificate;
}

/** Critical extensions whose meaning the rules honour; any other makes a certificate unusable (RFC 5280 §4.2). */
export const KNOWN_CRITICAL: ReadonlySet<string> = new Set([
  EXTENSION.basicConstraints,
  EXTENSION.keyUsage,
  EXTENSION.extKeyUsage,
  EXTENSION.certificatePolicies,
]);

/** Who issued a certificate, by its names alone, of those that may; undefined when none of them did. */
export function issuerOf(certificate: Certificate, issuers: readonly Issuer[]): Issuer | undefined {
  return issuers.find((issuer) => certificate.x509.checkIssued(issuer.certificate.x509));
}

/** True when `issuer` issued `certificate`: names, key identifiers and the signature. */
export function isIssuedBy(certificate: Certificate['x509'], issuer: Certificate): boolean {
  return certificate.checkIssued(issuer.x509) && isSignedBy(certificate, issuer);
}

/** The signature alone. A key that does not fit the algorithm counts as a wrong signature. */
export function isSignedBy(certificate: Certificate['x509'], issuer: Certificate): boolean {
  try {
    return certificate.verify(issuer.publicKey);
  } catch {
    return false;
  }
}

/**
 * Reads the bundle of access-point CAs and roots, PEM. Self-signed certificates are roots, all others issuing CAs; each of
 * these must be signed by a root of the bundle. Dates are not judged here: `TrustStore.judge` does, each time anew.
 * Throws PkiError.
 */
export function readIssuers(pem: Buffer, file: string, environment: 'test' | 'production'): Issuer[] {
  const bundle = pemBlocks(pem.toString('latin1'), 'CERTIFICATE').map((der) => readCa(der, file));
  const roots = bundle.filter((ca) => sameDn(ca.subject, ca.issuer) && isSignedBy(ca.x509, ca));
  const cas = bundle.filter((ca) => !roots.includes(ca));
  if (cas.length === 0) {
    throw new PkiError('bad-trust-file', `${file} holds no issuing CA: put the access-point CA and its root into it`);
  }
  if (environment === 'production') bundle.forEach(refuseTestCa);
  return cas.map((certificate) => ({ certificate, root: rootOf(certificate, roots, file) }));
}

function readCa(der: Buffer, file: string): Certificate {
  const ca = inFile(file, () => readCertificate(der));
  const complain = (why: string) => {
    throw new PkiError('bad-trust-file', `${file}: ${formatDn(ca.subject)} ${why}`);
  };
  if (!ca.ca) complain('is not a CA (basicConstraints): only CAs and roots belong into this file');
  // It stands under the same root and in the same downloads, but an SMP may not send as an access point.
  if (valuesOf(ca.subject, COMMON_NAME).some((name) => /SERVICE METADATA PUBLISHER/i.test(name))) {
    complain('issues certificates of SMPs, not of access points: remove it from the file');
  }
  if (ca.keyUsage !== null && !ca.keyUsage.has('keyCertSign')) complain('may not sign certificates (keyUsage)');
  if (!SIGNATURE_HASHES.has(ca.signatureAlgorithm)) complain('is signed with an algorithm that is too weak');
  if (ca.rsaBits !== null && ca.rsaBits < 2048) complain('has an RSA key below 2048 bits');
  const unknown = ca.criticalExtensions.find((oid) => !KNOWN_CRITICAL.has(oid));
  if (unknown !== undefined) complain(`has the critical extension ${unknown}, which is not known here`);
  return ca;
}

function rootOf(ca: Certificate, roots: readonly Certificate[], file: string): Certificate {
  const root = roots.find((candidate) => isIssuedBy(ca.x509, candidate));
  if (root === undefined) {
    const names = `${formatDn(ca.subject)}, issued by ${formatDn(ca.issuer)}`;
    throw new PkiError('issuer-without-root', `${file} has no root that signed ${names}: add that root to the file`);
  }
  if (root.pathLength === 0) {
    throw new PkiError(
      'bad-trust-file',
      `${file}: ${formatDn(root.subject)} allows no CA below it (pathLenConstraint 0)`,
    );
  }
  return root;
}

function refuseTestCa(ca: Certificate): void {
  if (!isTestName(ca.subject)) return;
  const what = `${formatDn(ca.subject)} is a test CA, and environment is "production"`;
  throw new PkiError('test-issuer-in-production', `${what}: trust the production CA, or set environment = "test"`);
}

/**
 * Our own certificate in production: one of a test CA may have a key that everybody has.
 * Throws PkiError `test-identity-in-production`.
 */
export function refuseTestIdentity({ subject, issuer }: Certificate, environment: 'test' | 'production'): void {
  if (environment !== 'production' || !isTestName(issuer)) return;
  const what = `${formatDn(subject)} is issued by a test CA (${formatDn(issuer)}), and environment is "production"`;
  throw new PkiError('test-identity-in-production', `${what}: name our production certificate in [identity]`);
}

/** Peppol's test CAs say TEST in CN and OU, and ours do. */
function isTestName(name: DistinguishedName): boolean {
  return [...valuesOf(name, COMMON_NAME), ...valuesOf(name, ORGANIZATIONAL_UNIT)].some((v) => /\bTEST\b/i.test(v));
}
