import { DS, EB, EBBP } from '../ebms/namespaces.ts';
import { parseContentType } from '../mime/content-type.ts';
import { readMultipartBuffer } from '../mime/multipart.ts';
import { type Certificate, readCertificate } from '../pki/certificate.ts';
import { verifyEnvelope } from '../wss/verify.ts';
import { parseXml } from '../xml/parse.ts';
import { attribute, child, childrenNamed, text, type XmlElement } from '../xml/tree.ts';
import type { WireMessage } from './build.ts';

/** What of a sent message an answer must repeat. */
export interface Sent {
  readonly messageId: string;
  /** [URI, DigestValue] of every signed reference. */
  readonly references: readonly (readonly [string, string])[];
}

export interface JudgedAnswer {
  readonly receipt: boolean;
  /** Signed by the receiver, for this message, with exactly its references (AS4 §5.1.8). */
  readonly verified: boolean;
  /** Why it is not `verified`; absent when it is, and when there is no signal at all. */
  readonly fault?: string;
  readonly error: { readonly code: string; readonly description: string; readonly detail: string | null } | null;
}

/** Reads back what was sent, also when it came out of a file of another product. */
export function readSent(message: WireMessage): Sent {
  const type = parseContentType(message.contentType);
  const boundary = type?.parameters.boundary;
  const [root] =
    boundary === undefined
      ? []
      : readMultipartBuffer(message.body, boundary, { maxParts: 100, maxHeaderBytes: 65_536 });
  const envelope = parseXml(root?.body ?? message.body);
  const messageId = ['Header', 'Messaging', 'UserMessage', 'MessageInfo', 'MessageId'].reduce<XmlElement | null>(
    (at, local) => at && (child(at, EB, local) ?? child(at, at.uri, local)),
    envelope.root,
  );
  let references: Sent['references'] = [];
  try {
    references = verifyEnvelope(envelope, trustAnyone, Date.now()).references.map(
      (r) => [r.uri, r.digestValue] as const,
    );
  } catch {
    // A message that is wrong on purpose: no receipt can match it.
  }
  return { messageId: (messageId && text(messageId)) ?? '', references };
}

/**
 * Judges an answer as a strict sender would: signed with the key the message was encrypted for, RefToMessageId, and a digest for
 * every signed part.
 */
export function judgeAnswer(body: Buffer, sent: Sent, receiver: Certificate): JudgedAnswer {
  let messaging: XmlElement | null = null;
  let fault: string | null = null;
  try {
    const document = parseXml(body);
    const header = child(document.root, document.root.uri, 'Header');
    messaging = header && child(header, EB, 'Messaging');
    verifyEnvelope(document, trustOnly(receiver), Date.now());
  } catch (cause) {
    if (messaging === null) return { receipt: false, verified: false, error: null };
    fault = (cause as Error).message;
  }
  const signal = messaging && child(messaging, EB, 'SignalMessage');
  const error = signal && child(signal, EB, 'Error');
  if (error) return { receipt: false, ...proof(fault), error: readError(error) };
  const receipt = signal && child(signal, EB, 'Receipt');
  if (!signal || !receipt) return { receipt: false, verified: false, error: null };
  return { receipt: true, ...proof(fault ?? mismatch(signal, receipt, sent)), error: null };
}

function proof(fault: string | null): Pick<JudgedAnswer, 'verified' | 'fault'> {
  return fault === null ? { verified: true } : { verified: false, fault };
}

/** In what a receipt is not one for this message; null when it is. */
function mismatch(signal: XmlElement, receipt: XmlElement, sent: Sent): string | null {
  const info = child(signal, EB, 'MessageInfo');
  const reference = info && child(info, EB, 'RefToMessageId');
  const named = reference && text(reference);
  if (named !== sent.messageId) return `it is for ${named ?? 'no message'}`;
  if (sent.references.length === 0) return 'the message itself is signed in a way that no receipt can match';
  const nri = child(receipt, EBBP, 'NonRepudiationInformation');
  const acknowledged = (nri ? childrenNamed(nri, EBBP, 'MessagePartNRInformation') : []).map((part) => {
    const copy = child(part, DS, 'Reference');
    const value = copy && child(copy, DS, 'DigestValue');
    return JSON.stringify([copy && attribute(copy, 'URI'), value && text(value)]);
  });
  const wanted = new Set(sent.references.map((pair) => JSON.stringify(pair)));
  const same = acknowledged.length === wanted.size && acknowledged.every((one) => wanted.has(one));
  return same ? null : 'its digests are not those of the message sent';
}

function readError(error: XmlElement): NonNullable<JudgedAnswer['error']> {
  const of = (local: string) => {
    const found = child(error, EB, local);
    return found && text(found);
  };
  return { code: attribute(error, 'errorCode') ?? '', description: of('Description') ?? '', detail: of('ErrorDetail') };
}

/** The receiver may have renewed its certificate since it made a stored receipt; the key is what proves who signed. */
function trustOnly(receiver: Certificate): Parameters<typeof verifyEnvelope>[1] {
  return {
    judge(der) {
      const certificate = readCertificate(der);
      const same = certificate.fingerprint === receiver.fingerprint || certificate.publicKey.equals(receiver.publicKey);
      return same
        ? { status: 'trusted', certificate, chain: [certificate], warnings: [] }
        : {
            status: 'refused',
            reason: 'unknown-issuer',
            text: `it is signed by ${certificate.x509.subject.replaceAll('\n', ', ')}, whose key is not that of the receiver’s certificate`,
          };
    },
  };
}

const trustAnyone: Parameters<typeof verifyEnvelope>[1] = {
  judge(der) {
    const certificate = readCertificate(der);
    return { status: 'trusted', certificate, chain: [certificate], warnings: [] };
  },
};
