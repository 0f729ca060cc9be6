import { X509Certificate } from 'node:crypto';
import { SignedXml } from 'xml-crypto';
import { CorrectedCanonicalization } from '../../fixtures/sender/canonical.ts';
import { NS, RSA_SHA256, SHA256 } from './namespaces.ts';

/** What a signature covers, as canonical XML. */
export interface Signed {
  readonly signer: X509Certificate;
  /** Canonical form of each signed element, by the Id that the reference names. */
  readonly forms: ReadonlyMap<string, string>;
}

export interface SignatureParts {
  /** The ds:Signature as a document of its own. */
  readonly signature: string;
  /** Base64 of the token that its KeyInfo names. */
  readonly token: string;
}

/**
 * Verifies a signature with xml-crypto, whose sorting is corrected and whose algorithms are cut down to those of the profile (eD §1.4.5).
 * @throws Error with the reason
 */
export function verifySignature(xml: string, { signature, token }: SignatureParts): Signed {
  const signer = new X509Certificate(Buffer.from(token, 'base64'));
  const verifier = new SignedXml({ publicCert: signer.toString(), idMode: 'wssecurity' });
  verifier.CanonicalizationAlgorithms = { [NS.ec]: CorrectedCanonicalization as never };
  verifier.SignatureAlgorithms = pick(verifier.SignatureAlgorithms, RSA_SHA256);
  verifier.HashAlgorithms = pick(verifier.HashAlgorithms, SHA256);
  verifier.loadSignature(signature);
  if (!verifier.checkSignature(xml)) throw new Error('the signature does not verify');
  const [signedInfo = ''] = /<(?:\w+:)?SignedInfo\b.*<\/(?:\w+:)?SignedInfo>/s.exec(signature) ?? [];
  const uris = [...signedInfo.matchAll(/<(?:\w+:)?Reference\b[^>]*\bURI="#([^"]*)"/g)].map(([, id]) => id ?? '');
  const canonical = verifier.getSignedReferences();
  if (uris.length !== canonical.length) throw new Error('the signature has references that lead out of the document');
  return { signer, forms: new Map(uris.map((id, index) => [id, canonical[index] ?? ''])) };
}

function pick<T>(table: Readonly<Record<string, T>>, uri: string): Record<string, T> {
  const found = table[uri];
  if (found === undefined) throw new Error(`xml-crypto does not know ${uri}`);
  return { [uri]: found };
}
