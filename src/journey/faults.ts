import { As4Error, TransportRefusal } from '../as4-error.ts';
import { errorMessaging } from '../ebms/signal.ts';
import { type Answer, plainText } from '../exchange.ts';
import { MimeError } from '../mime/mime-error.ts';
import type { Identity } from '../pki/identity.ts';
import { StoreError } from '../store/types.ts';
import { signSoap } from '../wss/sign.ts';
import { XmlError } from '../xml/xml-error.ts';

export const SOAP_CONTENT_TYPE = 'application/soap+xml; charset=UTF-8';

/**
 * The one place that says what a failure means to the sender (architecture §5).
 * @param envelopeRead whether a SOAP envelope was found in the request; a broken package without one is answered with 400
 */
export function toRefusal(error: unknown, envelopeRead: boolean): As4Error | TransportRefusal {
  if (error instanceof As4Error || error instanceof TransportRefusal) return error;
  if (error instanceof XmlError) {
    return new As4Error('EBMS:0009', `The SOAP envelope is refused: ${error.message}`, { reason: `xml-${error.code}` });
  }
  if (error instanceof MimeError) {
    return new As4Error('EBMS:0007', error.message, {
      reason: `mime-${error.code}`,
      status: envelopeRead ? 200 : 400,
    });
  }
  if (error instanceof StoreError || isDiskError(error)) {
    return new TransportRefusal(503, 'The message cannot be stored now. Try again later.\n', {
      reason: error instanceof StoreError ? `store-${error.code}` : 'disk',
      cause: error,
    });
  }
  return new TransportRefusal(500, 'The receiver failed.\n', { reason: 'internal', cause: error });
}

function isDiskError(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  return (
    code === 'ENOSPC' ||
    code === 'EDQUOT' ||
    code === 'EROFS' ||
    code === 'EIO' ||
    code === 'EMFILE' ||
    code === 'ENFILE'
  );
}

export interface SignalContext {
  readonly identity: Identity;
  readonly newId: () => string;
  readonly now: () => number;
}

/** A signed eb:Error. Without `refToMessageId` it names no message at all (Core §6.3). */
export async function errorAnswer(
  error: As4Error,
  refToMessageId: string | null,
  context: SignalContext,
): Promise<Answer> {
  const id = `m-${context.newId()}`;
  const messaging = errorMessaging({
    id,
    messageId: signalMessageId(context),
    timestamp: new Date(context.now()),
    code: error.code,
    description: error.message,
    detail: error.detail,
    refToMessageId: refToMessageId ?? undefined,
  });
  const soap = await signSoap({ messaging, messagingId: id, identity: context.identity, newId: context.newId });
  return { status: error.status, contentType: SOAP_CONTENT_TYPE, body: Buffer.from(soap, 'utf8') };
}

/** Text without a signal: senders take any ebMS error as final, and only a 5xx without one as worth a retry (architecture §5). */
export function textAnswer(refusal: TransportRefusal, incident: string): Answer {
  const text = refusal.status === 500 ? `${refusal.message.trimEnd()} Incident ${incident}.` : refusal.message;
  return plainText(refusal.status, text, refusal.retryAfter);
}

/** RFC 2822 `msg-id` without brackets (Core §5.2.2.1). */
export function signalMessageId(context: Pick<SignalContext, 'newId'>): string {
  return `${context.newId()}@quittance`;
}
