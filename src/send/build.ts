import { type KeyObject, randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Certificate } from '../pki/certificate.ts';
import { secureMessage } from '../wss/secure-message.ts';
import { userMessageMessaging } from './messaging.ts';

/** A request as it goes over the wire: kept and sent again, it is the byte-identical retry that AS4 §3.2 asks for. */
export interface WireMessage {
  readonly contentType: string;
  readonly body: Buffer;
}

export interface BuildOptions {
  readonly messageId: string;
  readonly timestamp: Date;
  readonly signer: { readonly certificate: Certificate; readonly privateKey: KeyObject };
  readonly recipient: Certificate;
  /** Null for a ping. */
  readonly payload: {
    readonly sbd: Buffer;
    readonly process: string;
    readonly documentType: string;
    readonly originalSender: string;
    readonly finalRecipient: string;
    readonly compress: boolean;
  } | null;
}

/** Compresses, signs, encrypts and packs one Peppol UserMessage, in this order (AS4 §3.1, §5.1.8). */
export async function buildMessage(o: BuildOptions): Promise<WireMessage> {
  const wsuId = `msg-${randomUUID()}`;
  const cid = `${randomUUID()}@quittance.test`;
  const messaging = userMessageMessaging({
    wsuId,
    messageId: o.messageId,
    conversationId: randomUUID(),
    timestamp: o.timestamp,
    from: o.signer.certificate.commonName ?? '',
    to: o.recipient.commonName ?? '',
    business: o.payload,
    part: o.payload && { href: `cid:${cid}`, compressed: o.payload.compress },
  });
  const content = o.payload && (o.payload.compress ? gzipSync(o.payload.sbd) : o.payload.sbd);
  const secured = await secureMessage({
    messaging,
    messagingId: wsuId,
    attachments: content
      ? [{ cid, mimeType: o.payload?.compress ? 'application/gzip' : 'application/xml', content }]
      : [],
    signer: o.signer,
    recipientCertificate: o.recipient,
    newId: randomUUID,
  });
  return pack(secured.envelope, secured.parts, cid);
}

function pack(envelope: string, parts: readonly { cid: string; cipher: Buffer }[], cid: string): WireMessage {
  if (parts.length === 0) return { contentType: 'application/soap+xml; charset=UTF-8', body: Buffer.from(envelope) };
  const boundary = `----=_Part_${randomUUID()}`;
  const chunks: Buffer[] = [];
  const part = (headers: string[], body: Buffer) => {
    chunks.push(Buffer.from(`--${boundary}\r\n${headers.join('\r\n')}\r\n\r\n`), body, Buffer.from('\r\n'));
  };
  part(
    [
      'Content-Type: application/soap+xml; charset=UTF-8',
      'Content-Transfer-Encoding: binary',
      'Content-ID: <envelope@quittance.test>',
    ],
    Buffer.from(envelope),
  );
  for (const { cipher } of parts) {
    part(
      ['Content-Type: application/octet-stream', 'Content-Transfer-Encoding: binary', `Content-ID: <${cid}>`],
      cipher,
    );
  }
  chunks.push(Buffer.from(`--${boundary}--\r\n`));
  return {
    contentType: `multipart/related; boundary="${boundary}"; type="application/soap+xml"; start="<envelope@quittance.test>"`,
    body: Buffer.concat(chunks),
  };
}
