import { DS } from '../ebms/namespaces.ts';
import type { XmlDocument } from '../xml/parse.ts';
import { attribute, child, elements, is, text, type XmlElement } from '../xml/tree.ts';
import { policyError } from './algorithms.ts';
import { decodeBase64 } from './base64.ts';
import { THUMBPRINT_SHA1, WSSE, X509_SKI } from './namespaces.ts';
import { referencedToken } from './security-token.ts';

/** How an EncryptedKey names the key that it was wrapped for; `none` when it has no KeyInfo. */
export type RecipientName =
  | { readonly kind: 'certificate'; readonly der: Buffer }
  | {
      readonly kind: 'issuer-serial';
      /** As written; compare parsed. */
      readonly issuer: string;
      /** Lower-case hex without leading zeros. */
      readonly serial: string;
    }
  | { readonly kind: 'subject-key-id'; readonly value: Buffer }
  /** SHA-1 over the certificate's DER. */
  | { readonly kind: 'thumbprint'; readonly value: Buffer }
  | { readonly kind: 'none' };

/**
 * Reads the forms of the X.509 Token Profile 1.1 §3.2, and ds:X509Data with or without a SecurityTokenReference around it.
 * @throws As4Error EBMS:0103 for a form that is not one of these
 */
export function readRecipient(
  keyInfo: XmlElement | null,
  security: XmlElement,
  byId: XmlDocument['byId'],
): RecipientName {
  if (keyInfo === null) return { kind: 'none' };
  const outer = only(keyInfo);
  const name = is(outer, WSSE, 'SecurityTokenReference') ? only(outer) : outer;
  if (is(name, WSSE, 'Reference')) {
    const token = referencedToken(name, security, byId);
    return token === null ? refuse() : { kind: 'certificate', der: octets(token) };
  }
  if (is(name, WSSE, 'KeyIdentifier')) {
    const valueType = attribute(name, 'ValueType');
    if (valueType === X509_SKI) return { kind: 'subject-key-id', value: octets(name) };
    if (valueType === THUMBPRINT_SHA1) return { kind: 'thumbprint', value: octets(name) };
  }
  return is(name, DS, 'X509Data') ? readX509Data(name) : refuse();
}

/** The strongest of the names in a ds:X509Data: they all are about one certificate (xmldsig §4.4.4). */
function readX509Data(data: XmlElement): RecipientName {
  const certificate = child(data, DS, 'X509Certificate');
  if (certificate !== null) return { kind: 'certificate', der: octets(certificate) };
  const issuerSerial = child(data, DS, 'X509IssuerSerial');
  if (issuerSerial !== null) {
    const issuer = wordOf(child(issuerSerial, DS, 'X509IssuerName'));
    const serial = wordOf(child(issuerSerial, DS, 'X509SerialNumber'));
    // RFC 5280 §4.1.2.2: at most 20 octets, that is 49 digits.
    if (!/^[0-9]{1,60}$/.test(serial)) return refuse();
    return { kind: 'issuer-serial', issuer, serial: BigInt(serial).toString(16) };
  }
  const ski = child(data, DS, 'X509SKI');
  return ski === null ? refuse() : { kind: 'subject-key-id', value: octets(ski) };
}

function only(el: XmlElement): XmlElement {
  const [first, ...rest] = elements(el);
  return first === undefined || rest.length > 0 ? refuse() : first;
}

function octets(el: XmlElement): Buffer {
  return decodeBase64(text(el)) ?? refuse();
}

function wordOf(el: XmlElement | null): string {
  return (el === null ? null : text(el))?.trim() ?? refuse();
}

function refuse(): never {
  throw policyError(
    'The KeyInfo of an EncryptedKey must name the recipient by one BinarySecurityToken, issuer and serial, subject key identifier, thumbprint or X509Data',
    'recipient-not-named',
  );
}
