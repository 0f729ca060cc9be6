import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Evidence } from '../store/types.ts';
import { readEnvelope } from '../wss/envelope.ts';
import { signingToken } from '../wss/security-token.ts';
import { readSignature, type SignatureParts } from '../wss/signature.ts';
import { canonicalize } from '../xml/c14n.ts';
import { parseXml, type XmlDocument } from '../xml/parse.ts';
import { evidenceReadme } from './evidence-readme.ts';
import { CommandError } from './io.ts';

/** One ds:Reference of the sender's signature, as the README lists it. */
export interface EvidenceReference {
  readonly uri: string;
  readonly digestValue: string;
  /** The canonical element that the digest is over; null for an attachment. */
  readonly file: string | null;
  readonly what: string;
}

/**
 * Writes what proves who sent a message and what was answered, in pieces that openssl and xmlsec1 can check without this program.
 * @param directory is created; files in it of the same names are overwritten
 * @returns the names of the files
 */
export async function writeEvidence(evidence: Evidence, directory: string): Promise<string[]> {
  const files = new Map<string, string | Uint8Array>();
  const [signer, ...issuers] = evidence.chain;
  if (signer) files.set('signer.pem', toPem(signer));
  if (issuers.length > 0) files.set('chain.pem', issuers.map(toPem).join(''));
  const references = evidence.envelope ? addEnvelope(files, evidence.envelope) : [];
  evidence.receipts.forEach((receipt, i) => {
    files.set(`receipt-${i + 1}.xml`, receipt.body);
    files.set(`receipt-${i + 1}-signer.pem`, toPem(tokenOf(receipt.body)));
  });
  files.set('README.txt', evidenceReadme(evidence, references, new Set(files.keys())));
  try {
    await mkdir(directory, { recursive: true });
    for (const [name, content] of files) await writeFile(join(directory, name), content);
  } catch (cause) {
    throw new CommandError(`The evidence cannot be written to ${directory}: ${(cause as Error).message}.`, 1, cause);
  }
  return [...files.keys()];
}

/**
 * xmlsec1 cannot check the envelope in one go: it knows neither the SwA transforms nor the `cid:` parts, which are not in the file. So
 * the signature is taken apart: the octets that were signed, the signature over them, and the octets behind each digest in them.
 */
function addEnvelope(files: Map<string, string | Uint8Array>, envelope: Uint8Array): EvidenceReference[] {
  const { doc, signature } = signatureOf(envelope);
  files.set('envelope.xml', envelope);
  files.set('signed-info.xml', canonicalize(signature.signedInfo, signature.prefixes));
  files.set('signature.bin', signature.value);
  return signature.references.map((reference, i) => {
    const { uri, digestValue } = reference;
    const element = reference.kind === 'same-document' ? doc.byId.get(uri.slice(1)) : undefined;
    if (!element) return { uri, digestValue, file: null, what: 'attachment' };
    const file = `reference-${i + 1}.xml`;
    files.set(file, canonicalize(element, reference.prefixes));
    return { uri, digestValue, file, what: element.local };
  });
}

function signatureOf(envelope: Uint8Array): { doc: XmlDocument; signature: SignatureParts } {
  const doc = parseXml(envelope);
  return { doc, signature: readSignature(readEnvelope(doc.root).security) };
}

/** The certificate that a signed envelope brings along. */
function tokenOf(envelope: Uint8Array): Buffer {
  const { doc, signature } = signatureOf(envelope);
  return signingToken(signature.keyInfo, readEnvelope(doc.root).security, doc.byId);
}

function toPem(der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
