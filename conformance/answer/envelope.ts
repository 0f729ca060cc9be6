import { ParseOption, XmlC14NMode, XmlDocument, type XmlElement, type XmlNode } from 'libxml2-wasm';
import { NS } from './namespaces.ts';
import type { SignatureParts } from './signature.ts';

/** The SOAP envelope of an answer, as far as it is not covered by its own signature. */
export interface EnvelopeFacts {
  readonly securities: number;
  readonly signatures: number;
  readonly timestamps: number;
  readonly bodyEmpty: boolean;
  /** Of eb:Messaging and of the SOAP Body; null where there is none. */
  readonly messagingId: string | null;
  readonly bodyId: string | null;
  /** wsse:BinarySecurityToken/@ValueType of the signer. */
  readonly tokenType: string | null;
  /** Null when it is not signed, or its KeyInfo leads to no token. */
  readonly parts: SignatureParts | null;
  /** Canonical form of eb:Messaging; nothing that comes out of it has been verified. */
  readonly unverified: string;
}

/**
 * Takes a SOAP envelope apart with libxml2. Everything is found by its path, never by search.
 * @throws Error with the reason when it is no SOAP 1.2 envelope with one eb:Messaging
 */
export function openEnvelope(octets: Buffer): EnvelopeFacts {
  const document = XmlDocument.fromBuffer(octets, { option: ParseOption.XML_PARSE_NONET });
  try {
    if (document.dtd !== null) throw new Error('it has a DOCTYPE');
    const find = (path: string, from: XmlDocument | XmlNode = document): XmlNode[] => from.find(path, NS);
    const one = (path: string): XmlElement => {
      const found = find(path);
      if (found.length !== 1) throw new Error(`it has ${found.length} ${path}`);
      return found[0] as XmlElement;
    };
    const messaging = one('/soap:Envelope/soap:Header/eb:Messaging');
    const body = one('/soap:Envelope/soap:Body');
    const security = '/soap:Envelope/soap:Header/wsse:Security';
    const id = (element: XmlElement) => (element.get('@wsu:Id', NS) as { content: string } | null)?.content ?? null;
    const tokenId = find(`${security}/ds:Signature/ds:KeyInfo/wsse:SecurityTokenReference/wsse:Reference/@URI`)[0];
    const token = find(`${security}/wsse:BinarySecurityToken`).find(
      (each) => tokenId !== undefined && `#${id(each as XmlElement)}` === tokenId.content,
    ) as XmlElement | undefined;
    const [signature] = find(`${security}/ds:Signature`);
    return {
      securities: find(security).length,
      signatures: find(`${security}/ds:Signature`).length,
      timestamps: find(`${security}/wsu:Timestamp`).length,
      bodyEmpty: find('*', body).length === 0 && body.content.trim() === '',
      messagingId: id(messaging),
      bodyId: id(body),
      tokenType: token?.attr('ValueType')?.value ?? null,
      parts:
        signature === undefined || token === undefined
          ? null
          : { signature: alone(signature as XmlElement), token: token.content.replace(/\s/g, '') },
      unverified: (messaging as XmlElement).canonicalizeToString({ mode: XmlC14NMode.XML_C14N_EXCLUSIVE_1_0 }),
    };
  } finally {
    document.dispose();
  }
}

function alone(element: XmlElement): string {
  return element.canonicalizeToString({ mode: XmlC14NMode.XML_C14N_EXCLUSIVE_1_0 });
}
