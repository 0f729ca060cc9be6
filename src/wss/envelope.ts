import { As4Error } from '../as4-error.ts';
import { EB, S12 } from '../ebms/namespaces.ts';
import { attribute, childrenNamed, elements, is, text, type XmlElement } from '../xml/tree.ts';
import { policyError, quoted } from './algorithms.ts';
import { WSSE } from './namespaces.ts';

/** The three elements that everything else is about, each found by its path from the document element. */
export interface EnvelopeParts {
  readonly messaging: XmlElement;
  readonly body: XmlElement;
  readonly security: XmlElement;
}

/**
 * Envelope/Header/{Messaging, Security} and Envelope/Body, each exactly once. Nothing is ever looked for elsewhere: a second
 * Messaging or Security that hides deeper in the document is just content (signature wrapping).
 *
 * Two wsse:Security headers for different roles would be legal SOAP, but Peppol has no second role, so they are a policy matter.
 * @throws As4Error EBMS:0009 when it is no SOAP 1.2 envelope with one eb:Messaging, or has an unknown mustUnderstand header;
 *   EBMS:0103 when wsse:Security is missing or there are several
 */
export function readEnvelope(root: XmlElement): EnvelopeParts {
  if (!is(root, S12, 'Envelope')) throw headerError('The document element is not a SOAP 1.2 Envelope', 'not-soap');
  const [header, body, ...rest] = elements(root);
  if (
    header === undefined ||
    !is(header, S12, 'Header') ||
    body === undefined ||
    !is(body, S12, 'Body') ||
    rest.length > 0
  )
    throw headerError('A SOAP 1.2 Envelope must hold exactly one Header and then one Body', 'bad-soap-structure');
  const messaging = childrenNamed(header, EB, 'Messaging');
  if (messaging.length !== 1)
    throw headerError(`The SOAP Header must hold exactly one eb:Messaging, not ${messaging.length}`, 'messaging-count');
  refuseUnknownMandatoryHeaders(header);
  const security = childrenNamed(header, WSSE, 'Security');
  if (security.length === 0) throw policyError('The message is not signed: it has no wsse:Security header', 'unsigned');
  if (security.length > 1)
    throw policyError('More than one wsse:Security header; exactly one is accepted', 'several-security-headers');
  return { messaging: messaging[0]!, body, security: security[0]! };
}

/**
 * For user messages only: their payloads are MIME parts (eDelivery AS4 §1.4.2.3); white space is all that the Body may hold. The Body of
 * a signal is ignored (Core §5.2.3), a SOAP Fault may be in it.
 * @throws As4Error EBMS:0009
 */
export function requireEmptyBody(body: XmlElement): void {
  if (text(body)?.trim() !== '')
    throw headerError('The SOAP Body must be empty; payloads belong into MIME parts', 'body-not-empty');
}

/** SOAP 1.2 Part 1 §5.2.3: what must be understood and is not must not be processed. */
function refuseUnknownMandatoryHeaders(header: XmlElement): void {
  for (const block of elements(header)) {
    if (is(block, EB, 'Messaging') || is(block, WSSE, 'Security')) continue;
    const mustUnderstand = attribute(block, 'mustUnderstand', S12)?.trim();
    if (mustUnderstand === 'true' || mustUnderstand === '1')
      throw headerError(
        `The SOAP header block ${quoted(block.local)} has mustUnderstand, but is not understood here`,
        'unknown-mandatory-header',
      );
  }
}

function headerError(description: string, reason: string): As4Error {
  return new As4Error('EBMS:0009', description, { reason });
}
