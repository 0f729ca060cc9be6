import { XmlC14NMode, XmlDocument, type XmlElement } from 'libxml2-wasm';

/**
 * Exclusive C14N by libxml2, which shares no line with ours.
 * @param xpath the element, in XPath; null for the whole document
 */
export function libxml2Canonical(
  xml: string | Uint8Array,
  xpath: string | null,
  prefixes: readonly string[] = [],
): string {
  const doc = typeof xml === 'string' ? XmlDocument.fromString(xml) : XmlDocument.fromBuffer(xml);
  try {
    const options = {
      mode: XmlC14NMode.XML_C14N_EXCLUSIVE_1_0,
      withComments: false,
      inclusiveNamespacePrefixes: [...prefixes],
    };
    if (xpath === null) return doc.canonicalizeToString(options);
    const node = doc.get(xpath) as XmlElement | null;
    if (node === null) throw new Error(`nothing at ${xpath}`);
    return node.canonicalizeToString(options);
  } finally {
    doc.dispose();
  }
}

/** Whether libxml2 takes it as a well-formed document at all. */
export function libxml2Accepts(xml: Uint8Array): boolean {
  try {
    XmlDocument.fromBuffer(xml).dispose();
    return true;
  } catch {
    return false;
  }
}
