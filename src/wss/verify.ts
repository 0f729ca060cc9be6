import { hash as hashOf, verify as verifyValue } from 'node:crypto';
import { As4Error, TransportRefusal } from '../as4-error.ts';
import type { ReferenceCopy } from '../ebms/signal.ts';
import type { Certificate } from '../pki/certificate.ts';
import type { TrustStore } from '../pki/trust.ts';
import { canonicalize } from '../xml/c14n.ts';
import type { XmlDocument } from '../xml/parse.ts';
import type { XmlElement } from '../xml/tree.ts';
import { algorithm, policyError, quoted } from './algorithms.ts';
import { type EncryptionHeader, readEncryption } from './encryption-header.ts';
import { type EnvelopeParts, readEnvelope } from './envelope.ts';
import { referenceSet } from './reference-set.ts';
import { signingToken } from './security-token.ts';
import { type DeclaredReference, readSignature, type SignatureParts } from './signature.ts';

declare const verified: unique symbol;
/** An element whose digest a valid signature covers. Only {@link verifyEnvelope} makes one. */
export type VerifiedElement = XmlElement & { readonly [verified]: true };

/** A ds:Reference of a valid signature. For an attachment `digest` is what the part must still be compared with. */
export interface VerifiedReference extends ReferenceCopy {
  readonly kind: 'same-document' | 'attachment';
  /** The decoded DigestValue, 32 octets. */
  readonly digest: Buffer;
}

/** Whose signature it is; the certificate was trusted at the time that verifyEnvelope was given. */
export interface Signer {
  readonly certificate: Certificate;
  readonly chain: readonly Certificate[];
  /** CN of the subject: the access point's seat id. */
  readonly commonName: string;
  readonly warnings: readonly string[];
}

export interface VerifiedEnvelope {
  readonly messaging: VerifiedElement;
  readonly body: VerifiedElement;
  readonly signer: Signer;
  /** All of SignedInfo, in document order. */
  readonly references: readonly VerifiedReference[];
  /** See {@link referenceSet}. */
  readonly referenceSet: Buffer;
  /** The signed `cid:` references by their URI as written. */
  readonly attachments: ReadonlyMap<string, VerifiedReference>;
  /** Unsigned by nature; what it yields counts only once the signed digest over it matches. */
  readonly encryption: EncryptionHeader;
}

/**
 * Authenticates a SOAP message with one WS-Security signature (architecture §2.3): cheap checks of the structure first, then the
 * signer, then SignatureValue, and only then digests. A wsu:Timestamp is never evaluated, because a retry is byte-identical.
 * @param at epoch milliseconds for which the signer's certificate is judged
 * @throws As4Error EBMS:0009, 0101, 0103; TransportRefusal 503 when revocation cannot be decided now
 */
export function verifyEnvelope(doc: XmlDocument, trust: Pick<TrustStore, 'judge'>, at: number): VerifiedEnvelope {
  const envelope = readEnvelope(doc.root);
  const signature = readSignature(envelope.security);
  const targets = resolveTargets(signature, doc.byId);
  requireCoverage(envelope, targets);
  const signer = judgeSigner(signingToken(signature.keyInfo, envelope.security, doc.byId), trust, at);
  checkSignatureValue(signature, signer.certificate);
  checkDigests(targets);
  const references = signature.references.map(withoutPrefixes);
  return {
    messaging: envelope.messaging as VerifiedElement,
    body: envelope.body as VerifiedElement,
    signer,
    references,
    referenceSet: referenceSet(references),
    attachments: new Map(references.filter((r) => r.kind === 'attachment').map((r) => [r.uri, r])),
    encryption: readEncryption(envelope.security, doc.byId),
  };
}

/** Each same-document reference with the element that it names. */
type Targets = ReadonlyMap<XmlElement, DeclaredReference>;

function resolveTargets(signature: SignatureParts, byId: XmlDocument['byId']): Targets {
  const targets = new Map<XmlElement, DeclaredReference>();
  for (const reference of signature.references) {
    if (reference.kind !== 'same-document') continue;
    const target = byId.get(reference.uri.slice(1));
    if (target === undefined)
      throw new As4Error('EBMS:0101', `The Reference ${quoted(reference.uri)} leads to no element`, {
        reason: 'reference-unresolved',
      });
    if (targets.has(target))
      throw policyError(`Two References lead to the element of ${quoted(reference.uri)}`, 'doubled-reference');
    if (isWithin(signature.signedInfo, target))
      throw policyError(
        `The Reference ${quoted(reference.uri)} encloses the signature; it must be detached`,
        'enveloped-signature',
      );
    targets.set(target, reference);
  }
  return targets;
}

/** The very nodes that are read later must be the ones that are signed (AS4 §5.1.4, §5.1.5). */
function requireCoverage({ messaging, body }: EnvelopeParts, targets: Targets): void {
  if (!targets.has(messaging)) throw policyError('The signature does not cover eb:Messaging', 'messaging-not-signed');
  if (!targets.has(body)) throw policyError('The signature does not cover the SOAP Body', 'body-not-signed');
}

function judgeSigner(der: Buffer, trust: Pick<TrustStore, 'judge'>, at: number): Signer {
  const verdict = trust.judge(der, at);
  if (verdict.status === 'unknown') throw new TransportRefusal(503, verdict.text, { reason: verdict.reason });
  if (verdict.status === 'refused') throw new As4Error('EBMS:0101', verdict.text, { reason: verdict.reason });
  const { certificate, chain, warnings } = verdict;
  if (certificate.commonName === null)
    throw new As4Error('EBMS:0101', 'The subject of the signing certificate has no single CN', {
      reason: 'no-common-name',
    });
  return { certificate, chain, commonName: certificate.commonName, warnings };
}

function checkSignatureValue(signature: SignatureParts, { publicKey }: Certificate): void {
  const { hash, keyType } = signature.method;
  if (publicKey.asymmetricKeyType !== keyType)
    throw policyError(
      `The signing key is not of the type ${keyType} that the signature method needs`,
      'wrong-key-type',
    );
  const octets = Buffer.from(canonicalize(signature.signedInfo, signature.prefixes), 'utf8');
  if (!verifyValue(hash, octets, publicKey, signature.value))
    throw new As4Error('EBMS:0101', 'The SignatureValue does not match ds:SignedInfo and the signing certificate', {
      reason: 'signature-mismatch',
    });
}

function checkDigests(targets: Targets): void {
  for (const [target, reference] of targets) {
    const { hash } = algorithm('digest', reference.digestMethod);
    const digest = hashOf(hash, canonicalize(target, reference.prefixes), 'buffer');
    if (!digest.equals(reference.digest))
      throw new As4Error('EBMS:0101', `The digest of the signed element ${quoted(reference.uri)} does not match`, {
        reason: 'digest-mismatch',
      });
  }
}

function withoutPrefixes({ prefixes: _, ...reference }: DeclaredReference): VerifiedReference {
  return reference;
}

function isWithin(el: XmlElement, ancestor: XmlElement): boolean {
  for (let at: XmlElement | null = el; at !== null; at = at.parent) if (at === ancestor) return true;
  return false;
}
