import { verify } from 'node:crypto';
import { type Certificate, readCertificate } from './certificate.ts';
import { type Der, DerReader, TAG } from './der.ts';
import { PkiError } from './errors.ts';
import { isIssuedBy, KNOWN_CRITICAL } from './issuers.ts';
import { readDn, sameDn } from './names.ts';
import { CERT_ID_HASH, keyHash, type OcspQuestion } from './ocsp-question.ts';
import { SIGNATURE_HASHES } from './signature-algorithms.ts';
import { readTime } from './time.ts';

export interface OcspAnswer {
  readonly status: 'good' | 'revoked' | 'unknown';
  /** Epoch milliseconds until which (not including) it may be used. */
  readonly until: number;
}

export interface OcspContext {
  readonly question: OcspQuestion;
  /** The CA that issued the certificate in question. */
  readonly issuer: Certificate;
  /** Epoch milliseconds. */
  readonly at: number;
  /** Whether the CA's own list has this certificate of a responder. */
  readonly isRevoked: (responder: Certificate) => boolean;
}

const reader = new DerReader('bad-ocsp', 'The OCSP response');
const ENUMERATED = 0x0a;
const BASIC = '1.3.6.1.5.5.7.48.1.1';
const OCSP_SIGNING = '1.3.6.1.5.5.7.3.9';
/** A responder's clock may be ahead by this. */
const SKEW_MS = 300_000;
/** How old an answer without nextUpdate may be: the responder has newer ones all the time (RFC 6960 §4.2.2.1). */
const WITHOUT_NEXT_UPDATE_MS = 600_000;
const MAX_CERTIFICATES = 4;
const STATUSES: ReadonlyMap<number, OcspAnswer['status']> = new Map([
  [0x80, 'good'],
  [0xa1, 'revoked'],
  [0x82, 'unknown'],
]);
/** OCSPResponseStatus of RFC 6960 §4.2.1; 4 is not used. */
const REFUSALS = ['successful', 'malformedRequest', 'internalError', 'tryLater', '4', 'sigRequired', 'unauthorized'];

/**
 * Judges an OCSP response, DER (RFC 6960 §3.2): signed by the CA or by a responder that the CA delegated to, about exactly
 * the certificate in question, within its dates. Throws PkiError `bad-ocsp`, which says what is wrong.
 */
export function judgeOcspResponse(der: Buffer, context: OcspContext): OcspAnswer {
  const [tbs, algorithm, signature, certificates] = reader.inside(reader.one(basicResponse(der)), TAG.sequence);
  if (tbs === undefined) throw reader.fail('is empty');
  const fields = reader.inside(tbs, TAG.sequence);
  if (fields[0]?.tag === 0xa0) fields.shift(); // version
  const [responderId, producedAt, responses, extensions] = fields;
  refuseCritical(extensions);
  const hash = SIGNATURE_HASHES.get(reader.oid(reader.inside(algorithm, TAG.sequence)[0]));
  if (hash === undefined) throw reader.fail('is signed with an algorithm that is too weak or not known');
  const responder = findResponder(responderId, certificates, context);
  const bits = reader.content(signature, TAG.bitString).subarray(1);
  if (!isSigned(hash, tbs.whole, responder, bits)) throw reader.fail('has a wrong signature');
  // Only now is anything in it worth reading.
  if (readTime(reader, producedAt) > context.at + SKEW_MS) throw reader.fail('was produced in the future');
  const single = reader
    .inside(responses, TAG.sequence)
    .map((response) => reader.inside(response, TAG.sequence))
    .find(([certId]) => isAbout(certId, context.question));
  if (single === undefined) throw reader.fail('is about another certificate');
  return readSingle(single, context.at);
}

/** Content of the BasicOCSPResponse inside the envelope. */
function basicResponse(der: Buffer): Buffer {
  const [status, tagged] = reader.inside(reader.one(der), TAG.sequence);
  const code = reader.content(status, ENUMERATED)[0] ?? 0;
  if (code !== 0) throw reader.fail(`is a refusal: ${REFUSALS[code] ?? code}`);
  const [bytes] = reader.inside(tagged, 0xa0);
  const [type, response] = reader.inside(bytes, TAG.sequence);
  if (reader.oid(type) !== BASIC) throw reader.fail('is of an unknown type');
  return reader.content(response, TAG.octetString);
}

/** The CA itself, or who shows a certificate of the CA for this purpose (RFC 6960 §4.2.2.2). */
function findResponder(id: Der | undefined, certificates: Der | undefined, o: OcspContext): Certificate {
  const isNamed = namedBy(id);
  if (isNamed(o.issuer)) return o.issuer;
  const [sequence] = certificates === undefined ? [] : reader.inside(certificates, 0xa0);
  const shown = sequence === undefined ? [] : reader.inside(sequence, TAG.sequence).slice(0, MAX_CERTIFICATES);
  const delegate = shown.map(({ whole }) => readShown(whole)).find(isNamed);
  if (delegate === undefined) throw reader.fail('names a responder whose certificate is not there');
  const fault = delegationFault(delegate, o);
  if (fault !== null) throw reader.fail(`is signed by ${delegate.commonName ?? 'a responder'}, which ${fault}`);
  return delegate;
}

function namedBy(id: Der | undefined): (certificate: Certificate) => boolean {
  if (id?.tag === 0xa1) {
    const name = readDn(reader.one(id.content));
    return (certificate) => sameDn(name, certificate.subject);
  }
  const key = reader.content(reader.inside(id, 0xa2)[0], TAG.octetString);
  return (certificate) => keyHash(certificate).equals(key);
}

function readShown(der: Buffer): Certificate {
  try {
    return readCertificate(der);
  } catch (fault) {
    if (fault instanceof PkiError) throw new PkiError('bad-ocsp', `The OCSP response: ${fault.message}`, fault);
    throw fault;
  }
}

function delegationFault(delegate: Certificate, { issuer, at, isRevoked }: OcspContext): string | null {
  if (!isIssuedBy(delegate.x509, issuer)) return 'the CA of the certificate did not issue';
  if (delegate.extKeyUsage?.includes(OCSP_SIGNING) !== true) return 'may not sign OCSP responses';
  if (delegate.ca || delegate.keyUsage?.has('digitalSignature') === false) return 'may not sign OCSP responses';
  if (!SIGNATURE_HASHES.has(delegate.signatureAlgorithm)) return 'has a certificate with a weak signature';
  if (delegate.rsaBits !== null && delegate.rsaBits < 2048) return 'has a weak key';
  if (delegate.criticalExtensions.some((oid) => !KNOWN_CRITICAL.has(oid))) return 'has an unknown critical extension';
  if (at < delegate.notBefore || at > delegate.notAfter) return 'has a certificate that is not valid now';
  return isRevoked(delegate) ? 'has been revoked' : null;
}

function isSigned(hash: string, tbs: Buffer, { publicKey }: Certificate, signature: Buffer): boolean {
  try {
    return verify(hash, tbs, publicKey, signature);
  } catch {
    return false; // a key that does not fit the algorithm
  }
}

function isAbout(certId: Der | undefined, question: OcspQuestion): boolean {
  const [algorithm, name, key, serial] = reader.inside(certId, TAG.sequence);
  return (
    reader.oid(reader.inside(algorithm, TAG.sequence)[0]) === CERT_ID_HASH &&
    reader.content(name, TAG.octetString).equals(question.issuerNameHash) &&
    reader.content(key, TAG.octetString).equals(question.issuerKeyHash) &&
    reader.content(serial, TAG.integer).equals(question.serial)
  );
}

function readSingle([, certStatus, thisUpdate, ...rest]: readonly Der[], at: number): OcspAnswer {
  const status = STATUSES.get(certStatus?.tag ?? 0);
  if (status === undefined) throw reader.fail('has an unknown status');
  refuseCritical(rest.find(({ tag }) => tag === 0xa1));
  const from = readTime(reader, thisUpdate);
  const next = rest.find(({ tag }) => tag === 0xa0);
  const until = next === undefined ? from + WITHOUT_NEXT_UPDATE_MS : readTime(reader, reader.one(next.content));
  if (from > at + SKEW_MS) throw reader.fail('is not valid yet');
  if (until <= at) throw reader.fail(`ended on ${new Date(until).toISOString()}`);
  return { status, until };
}

/** Extensions in a [1] tag. */
function refuseCritical(tagged: Der | undefined): void {
  if (tagged === undefined) return;
  for (const extension of reader.inside(reader.one(tagged.content), TAG.sequence)) {
    const parts = reader.inside(extension, TAG.sequence);
    if (parts.length === 3 && reader.boolean(parts[1])) {
      throw reader.fail(`has the critical extension ${reader.oid(parts[0])}`);
    }
  }
}
