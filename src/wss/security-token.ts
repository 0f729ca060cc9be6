import { As4Error } from '../as4-error.ts';
import { DS } from '../ebms/namespaces.ts';
import type { XmlDocument } from '../xml/parse.ts';
import { attribute, elements, is, text, type XmlElement } from '../xml/tree.ts';
import { policyError } from './algorithms.ts';
import { decodeBase64 } from './base64.ts';
import { BASE64_BINARY, THUMBPRINT_SHA1, WSSE, X509_PKI_PATH, X509_SKI, X509_V3 } from './namespaces.ts';

const EXPECTED = 'Peppol wants a wsse:Reference to a BinarySecurityToken (X509v3) in the same wsse:Security header';

/**
 * The certificate that a Signature's KeyInfo names: one SecurityTokenReference with a direct reference to a BinarySecurityToken of
 * the same wsse:Security (Peppol AS4 profile; BSP R5402, R5417). Every other form is recognised only far enough to say its name.
 * @returns the token's DER octets, not judged in any way
 * @throws As4Error EBMS:0103 for any other form; EBMS:0101 when the token's value is not base64
 */
export function signingToken(keyInfo: XmlElement, security: XmlElement, byId: XmlDocument['byId']): Buffer {
  const [reference, ...rest] = securityTokenReference(keyInfo);
  if (reference === undefined || rest.length > 0 || !is(reference, WSSE, 'Reference'))
    throw policyError(`The signing key is named by ${formOf(keyInfo)}; ${EXPECTED}`, 'key-reference-not-allowed');
  const valueType = attribute(reference, 'ValueType');
  if (valueType === X509_PKI_PATH)
    throw policyError(`The signing key is an X509PKIPathv1; ${EXPECTED}`, 'key-reference-not-allowed');
  if (valueType !== undefined && valueType !== X509_V3)
    throw policyError(
      `The wsse:Reference to the signing key has another ValueType than X509v3; ${EXPECTED}`,
      'key-reference-not-allowed',
    );
  const token = referencedToken(reference, security, byId);
  if (token === null)
    throw policyError(
      `The signing key's wsse:Reference leads to no such token; ${EXPECTED}`,
      'key-reference-unresolved',
    );
  const der = decodeBase64(text(token));
  if (der === null)
    throw new As4Error('EBMS:0101', 'The BinarySecurityToken of the signature is not base64', { reason: 'bad-token' });
  return der;
}

/** The BinarySecurityToken that is a child of this Security and that `#id` names; null when there is none, or it is no X509v3. */
export function referencedToken(
  reference: XmlElement,
  security: XmlElement,
  byId: XmlDocument['byId'],
): XmlElement | null {
  const uri = attribute(reference, 'URI');
  if (uri === undefined || !uri.startsWith('#')) return null;
  const token = byId.get(uri.slice(1));
  if (token === undefined || token.parent !== security || !is(token, WSSE, 'BinarySecurityToken')) return null;
  if (attribute(token, 'ValueType') !== X509_V3) return null;
  // Base64Binary is the default (WSS SOAP Message Security 1.1 §6.3.2).
  const encoding = attribute(token, 'EncodingType');
  return encoding === undefined || encoding === BASE64_BINARY ? token : null;
}

/** The child elements of a KeyInfo's only SecurityTokenReference; empty when it is not so. */
export function securityTokenReference(keyInfo: XmlElement): XmlElement[] {
  const [reference, ...rest] = elements(keyInfo);
  return reference !== undefined && rest.length === 0 && is(reference, WSSE, 'SecurityTokenReference')
    ? elements(reference)
    : [];
}

/** What a KeyInfo names its key by, in words for the sender's operator. */
function formOf(keyInfo: XmlElement): string {
  const children = elements(keyInfo);
  const first = children[0];
  if (first === undefined) return 'nothing (ds:KeyInfo is empty)';
  if (children.length > 1) return 'more than one child of ds:KeyInfo';
  if (!is(first, WSSE, 'SecurityTokenReference')) return nameOf(first);
  const inner = elements(first);
  if (inner.length !== 1) return `a SecurityTokenReference with ${inner.length} children`;
  const only = inner[0]!;
  if (is(only, WSSE, 'KeyIdentifier')) return keyIdentifierForm(attribute(only, 'ValueType'));
  if (is(only, WSSE, 'Embedded')) return 'an embedded token (wsse:Embedded)';
  return nameOf(only);
}

function keyIdentifierForm(valueType: string | undefined): string {
  if (valueType === X509_SKI) return 'its subject key identifier (wsse:KeyIdentifier X509SubjectKeyIdentifier)';
  if (valueType === THUMBPRINT_SHA1) return 'its thumbprint (wsse:KeyIdentifier ThumbprintSHA1)';
  return 'a wsse:KeyIdentifier';
}

function nameOf(el: XmlElement): string {
  if (is(el, DS, 'X509Data')) {
    const inner = elements(el)[0];
    if (inner !== undefined && is(inner, DS, 'X509IssuerSerial'))
      return 'issuer and serial number (ds:X509IssuerSerial)';
    return 'ds:X509Data';
  }
  if (el.uri === DS && /^(KeyName|KeyValue|RetrievalMethod|PGPData|SPKIData|MgmtData)$/.test(el.local))
    return `ds:${el.local}`;
  return 'an unknown form of key reference';
}
