import { createPrivateKey, randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../src/config/load.ts';
import { type Certificate, readCertificate } from '../src/pki/certificate.ts';
import { buildMessage, type WireMessage } from '../src/send/build.ts';
import { sampleInvoice } from '../src/send/document.ts';
import { wrapInSbd } from '../src/send/sbd.ts';

const DOCUMENT_TYPE =
  'urn:oasis:names:specification:ubl:schema:xsd:Invoice-2::Invoice##urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0::2.1';
const PROCESS = 'urn:fdc:peppol.eu:2017:poacc:billing:01:1.0';

function certificate(name: string): Certificate {
  const pem = readFileSync(join(PACKAGE_ROOT, 'certs', name), 'utf8');
  return readCertificate(Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64'));
}

/**
 * Signed and encrypted messages from the test sender to the test receiver, each about a document of its own.
 * @param payloadBytes size of the payload as it goes over the wire, about: the filling does not compress
 */
export async function makeMessages(count: number, payloadBytes: number): Promise<WireMessage[]> {
  const signer = {
    certificate: certificate('sender.crt'),
    privateKey: createPrivateKey(readFileSync(join(PACKAGE_ROOT, 'certs/sender.key'))),
  };
  const recipient = certificate('receiver.crt');
  const messages: WireMessage[] = [];
  for (let i = 0; i < count; i++) {
    // Base64 of random octets deflates to three quarters: what is left is the size asked for.
    const note = `<cbc:Note>${randomBytes(Math.max(0, payloadBytes - 900)).toString('base64')}</cbc:Note>`;
    const invoice = sampleInvoice({ number: `B-${i}`, issueDate: '2026-01-01' }).replace(
      '<cbc:InvoiceTypeCode>',
      `${note}<cbc:InvoiceTypeCode>`,
    );
    const sbd = wrapInSbd(Buffer.from(invoice), {
      sender: '0208:0123456789',
      receiver: '0208:9876543210',
      documentType: DOCUMENT_TYPE,
      process: PROCESS,
      countryC1: 'BE',
      instanceIdentifier: randomUUID(),
      created: new Date(),
    });
    messages.push(
      await buildMessage({
        messageId: `${randomUUID()}@bench.test`,
        timestamp: new Date(),
        signer,
        recipient,
        payload: {
          sbd,
          process: PROCESS,
          documentType: DOCUMENT_TYPE,
          originalSender: '0208:0123456789',
          finalRecipient: '0208:9876543210',
          compress: true,
        },
      }),
    );
  }
  return messages;
}
