import { As4Error } from '../as4-error.ts';
import { DS, EC } from '../ebms/namespaces.ts';
import { splitPrefixList } from '../xml/prefix-list.ts';
import { attribute, childrenNamed, elements, is, text, type XmlElement } from '../xml/tree.ts';
import { type Algorithm, algorithm, policyError, quoted } from './algorithms.ts';
import { decodeBase64 } from './base64.ts';
import type { VerifiedReference } from './verify.ts';

/** As Santuario's secure validation has it: more is an attack on our time, not a message. */
const MAX_REFERENCES = 30;
const MAX_TRANSFORMS = 5;
/** Whoever lists every prefix in scope lists a dozen. */
const MAX_PREFIXES = 64;
const MANIFEST = `${DS}Manifest`;

/** A ds:Signature as written, with every algorithm resolved; nothing about it is verified yet. */
export interface SignatureParts {
  readonly signedInfo: XmlElement;
  /** Inclusive prefixes for the canonical form of SignedInfo itself. */
  readonly prefixes: readonly string[];
  readonly method: Algorithm<'signature'>;
  readonly value: Buffer;
  readonly keyInfo: XmlElement;
  /** In document order; digests not computed yet, so the type says Verified of none. */
  readonly references: readonly DeclaredReference[];
}

/** What will become a {@link VerifiedReference} once its digest has been compared. */
export interface DeclaredReference extends VerifiedReference {
  /** Inclusive prefixes of its exclusive C14N; empty for an attachment. */
  readonly prefixes: readonly string[];
}

/**
 * Reads the one ds:Signature of the one wsse:Security: SignedInfo, SignatureValue, KeyInfo, nothing else.
 * @throws As4Error EBMS:0103 when there is no signature, or its form or algorithms are not allowed;
 *   EBMS:0101 when SignatureValue or a DigestValue is no base64 of the right length
 */
export function readSignature(security: XmlElement): SignatureParts {
  const signatures = childrenNamed(security, DS, 'Signature');
  if (signatures.length === 0)
    throw policyError('The message is not signed: wsse:Security holds no ds:Signature', 'unsigned');
  if (signatures.length > 1)
    throw policyError('More than one ds:Signature; exactly one is accepted', 'several-signatures');
  const [signedInfo, signatureValue, keyInfo, ...rest] = elements(signatures[0]!);
  if (
    signedInfo === undefined ||
    !is(signedInfo, DS, 'SignedInfo') ||
    signatureValue === undefined ||
    !is(signatureValue, DS, 'SignatureValue') ||
    keyInfo === undefined ||
    !is(keyInfo, DS, 'KeyInfo') ||
    rest.length > 0
  )
    throw policyError(
      'ds:Signature must hold exactly SignedInfo, SignatureValue and KeyInfo (no ds:Object, no ds:Manifest)',
      'bad-signature-structure',
    );
  const value = decodeBase64(text(signatureValue));
  if (value === null)
    throw new As4Error('EBMS:0101', 'The SignatureValue is not base64', { reason: 'bad-signature-value' });
  return { ...readSignedInfo(signedInfo), signedInfo, value, keyInfo };
}

function readSignedInfo(signedInfo: XmlElement): Pick<SignatureParts, 'prefixes' | 'method' | 'references'> {
  const [c14n, method, ...references] = elements(signedInfo);
  if (c14n === undefined || !is(c14n, DS, 'CanonicalizationMethod'))
    throw policyError('ds:SignedInfo must begin with one CanonicalizationMethod', 'bad-signature-structure');
  algorithm('canonicalization', attribute(c14n, 'Algorithm'));
  if (method === undefined || !is(method, DS, 'SignatureMethod'))
    throw policyError('ds:SignedInfo must hold one SignatureMethod', 'bad-signature-structure');
  const entry = algorithm('signature', attribute(method, 'Algorithm'));
  requireEmpty(method);
  if (references.length === 0 || references.length > MAX_REFERENCES)
    throw policyError(`ds:SignedInfo must hold 1 to ${MAX_REFERENCES} References`, 'reference-count');
  const uris = new Set<string>();
  const read = references.map((reference) => {
    const one = readReference(reference);
    if (uris.has(one.uri)) throw policyError(`Two References have the URI ${quoted(one.uri)}`, 'doubled-reference');
    uris.add(one.uri);
    return one;
  });
  return { prefixes: splitPrefixList(prefixListOf(c14n)), method: entry, references: read };
}

function readReference(reference: XmlElement): DeclaredReference {
  if (!is(reference, DS, 'Reference'))
    throw policyError('ds:SignedInfo may hold nothing but References', 'bad-signature-structure');
  if (attribute(reference, 'Type') === MANIFEST) throw policyError('A ds:Manifest is not allowed', 'manifest');
  const uri = attribute(reference, 'URI') ?? '';
  const kind = kindOf(uri);
  const [transforms, digestMethod, digestValue, ...rest] = elements(reference);
  if (transforms === undefined || !is(transforms, DS, 'Transforms'))
    throw policyError(`The Reference ${quoted(uri)} has no Transforms`, 'no-transforms');
  const transform = readTransform(transforms, uri, kind);
  if (
    digestMethod === undefined ||
    !is(digestMethod, DS, 'DigestMethod') ||
    digestValue === undefined ||
    !is(digestValue, DS, 'DigestValue') ||
    rest.length > 0
  )
    throw policyError(
      `The Reference ${quoted(uri)} must hold Transforms, DigestMethod and DigestValue`,
      'bad-signature-structure',
    );
  requireEmpty(digestMethod);
  const method = attribute(digestMethod, 'Algorithm');
  const { bytes } = algorithm('digest', method);
  const digest = decodeBase64(text(digestValue));
  if (digest === null || digest.length !== bytes)
    throw new As4Error(
      'EBMS:0101',
      `The DigestValue of the Reference ${quoted(uri)} is not the base64 of ${bytes} octets`,
      { reason: 'bad-digest-value' },
    );
  return {
    kind,
    uri,
    transforms: [transform],
    digestMethod: method!,
    digestValue: digest.toString('base64'),
    digest,
    prefixes: splitPrefixList(transform.prefixList),
  };
}

/** `#id` or `cid:`; the whole document, XPointers and anything that would have to be fetched are refused. */
function kindOf(uri: string): DeclaredReference['kind'] {
  if (/^#[^#()]+$/.test(uri)) return 'same-document';
  if (/^cid:./i.test(uri)) return 'attachment';
  throw policyError(
    uri === ''
      ? 'A Reference to the whole document (URI="") is not allowed; the signature must be detached'
      : `The Reference URI ${quoted(uri)} is neither "#id" nor "cid:"`,
    'reference-uri-not-allowed',
  );
}

/** Exactly one transform: exclusive C14N for elements, Attachment-Content for parts (AS4 §5.1.5). */
function readTransform(
  transforms: XmlElement,
  uri: string,
  kind: DeclaredReference['kind'],
): DeclaredReference['transforms'][number] {
  const list = elements(transforms);
  if (list.length > MAX_TRANSFORMS || list.length === 0)
    throw policyError(`The Reference ${quoted(uri)} has ${list.length} transforms`, 'transform-count');
  let prefixList: string | null = null;
  for (const transform of list) {
    if (!is(transform, DS, 'Transform'))
      throw policyError('ds:Transforms may hold nothing but Transform', 'bad-signature-structure');
    const entry = algorithm(
      kind === 'attachment' ? 'attachment transform' : 'same-document transform',
      attribute(transform, 'Algorithm'),
    );
    if (entry.inclusivePrefixes) prefixList = prefixListOf(transform);
    else if (elements(transform).length > 0)
      throw policyError(`The transform of ${quoted(uri)} must be empty`, 'bad-signature-structure');
  }
  if (list.length !== 1)
    throw policyError(`The Reference ${quoted(uri)} must have exactly one transform`, 'transform-count');
  return { algorithm: attribute(list[0]!, 'Algorithm')!, prefixList };
}

/** `ec:InclusiveNamespaces/@PrefixList` as written; null when there is no such child. Any other child is refused. */
function prefixListOf(el: XmlElement): string | null {
  const [inclusive, ...rest] = elements(el);
  if (inclusive === undefined) return null;
  if (rest.length > 0 || !is(inclusive, EC, 'InclusiveNamespaces'))
    throw policyError('Exclusive C14N takes nothing but one InclusiveNamespaces', 'bad-signature-structure');
  requireEmpty(inclusive);
  const list = attribute(inclusive, 'PrefixList') ?? '';
  if (splitPrefixList(list).length > MAX_PREFIXES)
    throw policyError(`A PrefixList names more than ${MAX_PREFIXES} prefixes`, 'too-many-prefixes');
  return list;
}

/** What is canonicalised before the signature is checked must not be a place to put things. */
function requireEmpty(el: XmlElement): void {
  if (elements(el).length > 0) throw policyError(`${quoted(el.local)} may hold no elements`, 'bad-signature-structure');
}
