import type { Evidence } from '../store/types.ts';
import type { EvidenceReference } from './evidence.ts';

const S12 = 'http://www.w3.org/2003/05/soap-envelope';
const EB = 'http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/';

/** xmlsec1 on one of our answers: everything that it signs is in the file. */
export function xmlsecCommand(n: number): string {
  return `xmlsec1 --verify --id-attr:Id ${EB}:Messaging --id-attr:Id ${S12}:Body --pubkey-cert-pem receipt-${n}-signer.pem receipt-${n}.xml`;
}

/**
 * What to type so that nobody has to believe this program.
 * @param files what lies beside the README
 */
export function evidenceReadme(
  e: Evidence,
  references: readonly EvidenceReference[],
  files: ReadonlySet<string>,
): string {
  const { summary } = e;
  const at = Math.floor(summary.receivedAt / 1000);
  const lines = [
    `Evidence of message ${summary.messageId}`,
    `from ${summary.sender}, received ${new Date(summary.receivedAt).toISOString()}`,
    '',
    'All commands are typed in this directory. They need openssl and, for the receipts, xmlsec1 (apt-get install xmlsec1).',
    '',
    '',
    'THE SENDER',
    '',
  ];
  if (files.has('chain.pem')) {
    lines.push(
      'signer.pem signed the message; chain.pem holds its issuers. Was it valid when the message came? Compare the root in chain.pem',
      'with one that you trust, then:',
      '',
      `    openssl verify -attime ${at} -purpose any -partial_chain -CAfile chain.pem signer.pem`,
      '',
    );
  } else lines.push('The certificates are no longer kept (retention.evidence).', '');
  if (files.has('signed-info.xml')) lines.push(...senderSignature(references));
  else lines.push('The envelope is no longer kept (retention.evidence).', '');
  lines.push('', 'THE RECEIPTS', '');
  if (e.receipts.length === 0) lines.push('There is none: the message was not accepted.');
  e.receipts.forEach((_, i) => {
    lines.push(
      `receipt-${i + 1}.xml is what was answered, to the byte. It is signed by receipt-${i + 1}-signer.pem:`,
      '',
    );
    lines.push(`    ${xmlsecCommand(i + 1)}`, '');
  });
  if (e.receipts.length > 0) {
    lines.push(
      'Each ebbp:MessagePartNRInformation in it repeats a ds:Reference of signed-info.xml: it says for which digests it was given.',
    );
  }
  return `${lines.join('\n')}\n`;
}

function senderSignature(references: readonly EvidenceReference[]): string[] {
  const lines = [
    'envelope.xml is the SOAP part as it came. Its signature also covers the attachments, which are not in it, by transforms that',
    'xmlsec1 does not know. So it is checked in two steps.',
    '',
    'First, the signature. signed-info.xml is the ds:SignedInfo of envelope.xml in canonical form (exclusive C14N), signature.bin',
    'its decoded ds:SignatureValue. "Verified OK" says that the holder of signer.pem signed these octets:',
    '',
    '    openssl x509 -in signer.pem -noout -pubkey > signer-key.pem',
    '    openssl dgst -sha256 -verify signer-key.pem -signature signature.bin signed-info.xml',
    '',
    'Second, the digests in it. Each is the SHA-256 of one piece; the command must print the DigestValue of signed-info.xml:',
    '',
  ];
  for (const r of references) {
    if (r.file) lines.push(`    openssl dgst -sha256 -binary ${r.file} | openssl base64`);
    else lines.push('    openssl dgst -sha256 -binary PAYLOAD | openssl base64');
    lines.push(`        ${r.digestValue}   ${r.what}, ${r.uri}`, '');
  }
  if (references.some((r) => r.file === null)) {
    lines.push(
      'PAYLOAD is the attachment after decryption, before decompression: when the sender compressed it, the gzip octets and not the',
      'file in the inbox. (XML that was sent uncompressed under an XML media type is digested in canonical form.)',
      '',
    );
  }
  return lines;
}
