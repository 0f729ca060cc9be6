import * as asn1js from 'asn1js';
import { PkiError, type PkiErrorCode } from './errors.ts';

/** Decodes one DER value that fills `der` completely. `maxNodes` is for CRLs, which have thousands of entries. */
export function decodeDer(der: Uint8Array, code: PkiErrorCode, what: string, maxNodes = 10_000): asn1js.AsnType {
  let decoded: asn1js.FromBerResult;
  try {
    decoded = asn1js.fromBER(der as Uint8Array<ArrayBuffer>, {
      maxNodes,
      maxContentLength: der.length,
      parseEmbedded: false,
    });
  } catch (cause) {
    throw new PkiError(code, `${what} is not valid DER`, cause);
  }
  if (decoded.offset !== der.length) throw new PkiError(code, `${what} is not valid DER`);
  return decoded.result;
}

/** The children of a SEQUENCE or SET; anything else is a fault of `what`. */
export function childrenOf(node: asn1js.AsnType | undefined, code: PkiErrorCode, what: string): asn1js.AsnType[] {
  if (node instanceof asn1js.Sequence || node instanceof asn1js.Set) return node.valueBlock.value;
  throw new PkiError(code, `${what} is not built as X.509 says`);
}

/** Dotted text of an OBJECT IDENTIFIER; anything else is a fault of `what`. */
export function oidOf(node: asn1js.AsnType | undefined, code: PkiErrorCode, what: string): string {
  if (node instanceof asn1js.ObjectIdentifier) return node.valueBlock.toString();
  throw new PkiError(code, `${what} is not built as X.509 says`);
}
