import type { X509Certificate } from 'node:crypto';
import type { WireAnswer } from '../wire/post.ts';
import { readCanonical } from './canonical-tree.ts';
import { type EnvelopeFacts, openEnvelope } from './envelope.ts';
import { readSignal, type SignalMessage } from './signal.ts';
import { verifySignature } from './signature.ts';

/** A signal, and whether it proves anything. */
export interface Signal extends SignalMessage {
  readonly envelope: EnvelopeFacts;
  /** Canonical form of eb:Messaging: the very octets that are signed, when `fault` is null. */
  readonly messaging: string;
  /** Why the signature proves nothing; null when it is the receiver's, over eb:Messaging and the SOAP Body. */
  readonly fault: string | null;
}

/** The signal of an answer, or why there is none. */
export type AnswerSignal = { readonly signal: Signal } | { readonly none: string };

/** Reads the answer of a receiver; what is validly signed is read from nothing but the canonical octets under the signature. */
export function readAnswer(answer: WireAnswer, receiver: X509Certificate): AnswerSignal {
  const mediaType = (answer.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
  const coding = answer.headers['content-encoding'];
  if (coding !== undefined) return { none: `its Content-Encoding is ${coding}` };
  if (answer.body.length === 0) return { none: 'it has no body' };
  if (mediaType !== 'application/soap+xml') return { none: `its Content-Type is ${mediaType || 'missing'}` };
  try {
    const envelope = openEnvelope(answer.body);
    const signed = signedMessaging(answer.body.toString('utf8'), envelope, receiver);
    const messaging = 'form' in signed ? signed.form : envelope.unverified;
    return {
      signal: {
        ...readSignal(readCanonical(messaging)),
        envelope,
        messaging,
        fault: 'form' in signed ? null : signed.fault,
      },
    };
  } catch (error) {
    return { none: `it cannot be read: ${(error as Error).message}` };
  }
}

function signedMessaging(
  xml: string,
  { parts, messagingId, bodyId }: EnvelopeFacts,
  receiver: X509Certificate,
): { readonly form: string } | { readonly fault: string } {
  if (parts === null) return { fault: 'it is not signed with a token that its KeyInfo names' };
  try {
    const { signer, forms } = verifySignature(xml, parts);
    if (signer.fingerprint256 !== receiver.fingerprint256) {
      return { fault: `it is signed by ${signer.subject.replaceAll('\n', ', ')}, who is not the receiver` };
    }
    const form = messagingId === null ? undefined : forms.get(messagingId);
    if (form === undefined) return { fault: 'the signature does not cover eb:Messaging by its wsu:Id' };
    if (bodyId === null || !forms.has(bodyId)) return { fault: 'the signature does not cover the SOAP Body' };
    return { form };
  } catch (error) {
    return { fault: (error as Error).message };
  }
}
