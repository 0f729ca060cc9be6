import { createHash, createPrivateKey, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { performance } from 'node:perf_hooks';
import { type Certificate, readCertificate } from '../pki/certificate.ts';
import { type JudgedAnswer, judgeAnswer, readSent } from './answer.ts';
import { buildMessage, type WireMessage } from './build.ts';
import { sampleInvoice } from './document.ts';
import { isSbd, wrapInSbd } from './sbd.ts';
import { judgeAttempts, type VerdictCode } from './verdict.ts';
import { loadWire, SendError, saveWire } from './wire-file.ts';

/** Paths are of PEM files. */
export interface SendOptions {
  readonly url: string;
  readonly senderCertificate: string;
  readonly senderKey: string;
  readonly receiverCertificate: string;
  readonly messageId?: string;
  /** The business document, or an SBD that goes out as it is; without it a small invoice. */
  readonly document?: string;
  readonly save?: string;
  readonly replay?: string;
  readonly originalSender?: string;
  readonly finalRecipient?: string;
  readonly instanceIdentifier?: string;
  /** How often the same bytes are sent, one after the other. */
  readonly repeat: number;
  readonly compress: boolean;
  readonly ping: boolean;
}

export interface Attempt extends JudgedAnswer {
  readonly status: number;
  /** Of the answer's body, hex. */
  readonly sha256: string;
  readonly bytes: number;
  readonly ms: number;
}

export interface SendResult {
  readonly messageId: string;
  readonly attempts: readonly Attempt[];
  /** All answers have the same body and Content-Type. */
  readonly identical: boolean;
  readonly verdict: VerdictCode;
  /** What went wrong, for a person; null when nothing did. */
  readonly complaint: string | null;
}

const DOCUMENT_TYPE =
  'urn:oasis:names:specification:ubl:schema:xsd:Invoice-2::Invoice##urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0::2.1';
const PROCESS = 'urn:fdc:peppol.eu:2017:poacc:billing:01:1.0';

/** Sends one message as a Peppol access point does, and judges the answers as a strict one would. */
export async function sendMessage(o: SendOptions): Promise<SendResult> {
  const receiver = await loadCertificate(o.receiverCertificate);
  const message = o.replay === undefined ? await build(o, receiver) : await loadWire(o.replay);
  if (o.save !== undefined) await saveWire(o.save, message);
  const sent = readSent(message);
  const attempts: Attempt[] = [];
  const seen = new Set<string>();
  for (let i = 0; i < o.repeat; i++) {
    const since = performance.now();
    const { status, contentType, body } = await post(o.url, message);
    const sha256 = createHash('sha256').update(body).digest('hex');
    seen.add(`${contentType}\n${sha256}`);
    attempts.push({
      status,
      ...judgeAnswer(body, sent, receiver),
      sha256,
      bytes: body.length,
      ms: performance.now() - since,
    });
  }
  const identical = seen.size === 1;
  const { code, complaint } = judgeAttempts(attempts, identical);
  return { messageId: sent.messageId, attempts, identical, verdict: code, complaint };
}

async function build(o: SendOptions, recipient: Certificate): Promise<WireMessage> {
  const certificate = await loadCertificate(o.senderCertificate);
  const privateKey = createPrivateKey(await readFile(o.senderKey));
  if (!certificate.x509.checkPrivateKey(privateKey)) {
    throw new SendError(`${o.senderKey} is not the key of ${o.senderCertificate}.`);
  }
  const originalSender = o.originalSender ?? '0208:0123456789';
  const finalRecipient = o.finalRecipient ?? '0208:9876543210';
  const now = new Date();
  const document =
    o.document === undefined
      ? Buffer.from(sampleInvoice({ number: `Q-${now.getTime()}`, issueDate: now.toISOString().slice(0, 10) }))
      : await readFile(o.document);
  const sbd = isSbd(document)
    ? document
    : wrapInSbd(document, {
        sender: originalSender,
        receiver: finalRecipient,
        documentType: DOCUMENT_TYPE,
        process: PROCESS,
        countryC1: 'BE',
        instanceIdentifier: o.instanceIdentifier ?? randomUUID(),
        created: now,
      });
  return buildMessage({
    messageId: o.messageId ?? `${randomUUID()}@quittance.test`,
    timestamp: now,
    signer: { certificate, privateKey },
    recipient,
    payload: o.ping
      ? null
      : { sbd, process: PROCESS, documentType: DOCUMENT_TYPE, originalSender, finalRecipient, compress: o.compress },
  });
}

async function loadCertificate(file: string): Promise<Certificate> {
  const pem = /-----BEGIN CERTIFICATE-----([\s\S]*?)-----END CERTIFICATE-----/.exec(await readFile(file, 'utf8'));
  if (!pem?.[1]) throw new SendError(`${file} holds no PEM certificate.`);
  return readCertificate(Buffer.from(pem[1], 'base64'));
}

/** node:http and not fetch: nothing is added to the request, and the answer is not decoded. */
export function post(
  url: string,
  message: WireMessage,
): Promise<{ status: number; contentType: string; body: Buffer }> {
  return new Promise((resolve, reject) => {
    const send = url.startsWith('https:') ? httpsRequest : httpRequest;
    const headers = { 'Content-Type': message.contentType, 'Content-Length': message.body.length };
    const request = send(url, { method: 'POST', headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          contentType: response.headers['content-type'] ?? '',
          body: Buffer.concat(chunks),
        }),
      );
    });
    request.on('error', reject);
    request.end(message.body);
  });
}
