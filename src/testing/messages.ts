import { createHash, createPrivateKey, type KeyObject, randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { certDer, certFile } from '../../certs/read.ts';
import { type Certificate, readCertificate } from '../pki/certificate.ts';
import { type JudgedAnswer, judgeAnswer, readSent, type Sent } from '../send/answer.ts';
import type { WireMessage } from '../send/build.ts';
import { sampleInvoice } from '../send/document.ts';
import { userMessageMessaging } from '../send/messaging.ts';
import { wrapInSbd } from '../send/sbd.ts';
import { type PlainPart, secureMessage } from '../wss/secure-message.ts';

/** A message ready to be sent, and what the receiver must make of it. */
export interface TestMessage extends WireMessage {
  readonly messageId: string;
  /** SHA-256 of the StandardBusinessDocument, hex: of `payload.xml` in the inbox. */
  readonly payloadSha256: string;
  readonly sbd: Buffer;
  readonly sent: Sent;
}

export interface TestMessageOptions {
  readonly messageId?: string;
  /** With the same one and the same `messageId` the message is rebuilt: same content, other headers, keys and digests. */
  readonly sbd?: Buffer;
  /** Octets, about, that the payload has after compression: its filling does not compress. */
  readonly bytes?: number;
  readonly compress?: boolean;
  readonly timestamp?: Date;
  /** Binary parts after the StandardBusinessDocument, sent as they are. */
  readonly further?: readonly Buffer[];
  /** In the header; the SBD names its own. */
  readonly finalRecipient?: string;
}

const DOCUMENT_TYPE =
  'urn:oasis:names:specification:ubl:schema:xsd:Invoice-2::Invoice##urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0::2.1';
const PROCESS = 'urn:fdc:peppol.eu:2017:poacc:billing:01:1.0';
const SENDER = '0208:0123456789';
const RECEIVER = '0208:9876543210';

/** The sender of the test PKI; it judges answers as a strict one would. */
export class TestSender {
  readonly #signer: { readonly certificate: Certificate; readonly privateKey: KeyObject };
  readonly #receiver: Certificate;

  /** @param receiver name of the certificate that messages are encrypted for */
  constructor(receiver = 'receiver') {
    this.#signer = {
      certificate: readCertificate(certDer('sender')),
      privateKey: createPrivateKey(readFileSync(certFile('sender.key'))),
    };
    this.#receiver = readCertificate(certDer(receiver));
  }

  async message(o: TestMessageOptions = {}): Promise<TestMessage> {
    const messageId = o.messageId ?? `${randomUUID()}@guarantees.test`;
    const sbd = o.sbd ?? sbdOf(invoice(o.bytes ?? 2000));
    const compressed = o.compress ?? true;
    const main: PlainPart & { mimeType: string } = {
      cid: `${randomUUID()}@guarantees.test`,
      mimeType: compressed ? 'application/gzip' : 'application/xml',
      content: compressed ? gzipSync(sbd, { level: 1 }) : sbd,
    };
    const further = (o.further ?? []).map((content) => ({
      cid: `${randomUUID()}@guarantees.test`,
      mimeType: 'application/octet-stream',
      content,
    }));
    const wsuId = `msg-${randomUUID()}`;
    const messaging = userMessageMessaging({
      wsuId,
      messageId,
      conversationId: randomUUID(),
      timestamp: o.timestamp ?? new Date(),
      from: this.#signer.certificate.commonName ?? '',
      to: this.#receiver.commonName ?? '',
      business: {
        process: PROCESS,
        documentType: DOCUMENT_TYPE,
        originalSender: SENDER,
        finalRecipient: o.finalRecipient ?? RECEIVER,
      },
      part: { href: `cid:${main.cid}`, compressed },
    }).replace('</eb:PayloadInfo>', `${further.map(partInfo).join('')}</eb:PayloadInfo>`);
    const { envelope, parts } = await secureMessage({
      messaging,
      messagingId: wsuId,
      attachments: [main, ...further],
      signer: this.#signer,
      recipientCertificate: this.#receiver,
      newId: randomUUID,
    });
    const wire = pack(envelope, parts);
    // Read back from the envelope alone: splitting 100 MB again would tell nothing more.
    const plain = { contentType: 'application/soap+xml', body: Buffer.from(envelope) };
    const payloadSha256 = createHash('sha256').update(sbd).digest('hex');
    return { ...wire, messageId, payloadSha256, sbd, sent: readSent(plain) };
  }

  /** Whether an answer is a receipt, signed by the receiver, for this very message. */
  judge(body: Buffer, message: TestMessage): JudgedAnswer {
    return judgeAnswer(body, message.sent, this.#receiver);
  }
}

/** A StandardBusinessDocument; binary content goes into a BinaryContent. */
export function sbdOf(document: Buffer): Buffer {
  return wrapInSbd(document, {
    sender: SENDER,
    receiver: RECEIVER,
    documentType: DOCUMENT_TYPE,
    process: PROCESS,
    countryC1: 'BE',
    instanceIdentifier: randomUUID(),
    created: new Date(),
  });
}

/** An invoice of its own; base64 of random octets deflates to three quarters of itself, which is the size asked for. */
function invoice(bytes: number): Buffer {
  const note = `<cbc:Note>${randomBytes(Math.max(0, bytes - 900)).toString('base64')}</cbc:Note>`;
  const text = sampleInvoice({ number: `G-${randomUUID()}`, issueDate: '2026-01-01' });
  return Buffer.from(text.replace('<cbc:InvoiceTypeCode>', `${note}<cbc:InvoiceTypeCode>`));
}

function partInfo({ cid, mimeType }: PlainPart): string {
  return (
    `<eb:PartInfo href="cid:${cid}"><eb:PartProperties><eb:Property name="MimeType">${mimeType}</eb:Property>` +
    '</eb:PartProperties></eb:PartInfo>'
  );
}

function pack(envelope: string, parts: readonly { readonly cid: string; readonly cipher: Buffer }[]): WireMessage {
  const boundary = `----=_Part_${randomUUID()}`;
  const head = (type: string, id: string) =>
    Buffer.from(
      `\r\n--${boundary}\r\nContent-Type: ${type}\r\nContent-Transfer-Encoding: binary\r\nContent-ID: <${id}>\r\n\r\n`,
    );
  const chunks: Buffer[] = [
    head('application/soap+xml; charset=UTF-8', 'envelope@guarantees.test'),
    Buffer.from(envelope),
  ];
  for (const { cid, cipher } of parts) chunks.push(head('application/octet-stream', cid), cipher);
  chunks.push(Buffer.from(`\r\n--${boundary}--\r\n`));
  const contentType = `multipart/related; boundary="${boundary}"; type="application/soap+xml"; start="<envelope@guarantees.test>"`;
  return { contentType, body: Buffer.concat(chunks) };
}
