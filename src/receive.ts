import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { As4Error, TransportRefusal } from './as4-error.ts';
import type { Checkpoint } from './checkpoint.ts';
import { decideRule, type Policy } from './dedup/policy.ts';
import { findEchoId } from './ebms/echo-id.ts';
import { receiptMessaging } from './ebms/signal.ts';
import { isPostedSignal } from './ebms/signal-message.ts';
import { readMessaging, type UserMessage } from './ebms/user-message.ts';
import type { Answer, IncomingRequest, Receive } from './exchange.ts';
import { confirmSigner, isStillTrusted } from './journey/confirm-signer.ts';
import { errorAnswer, SOAP_CONTENT_TYPE, signalMessageId, textAnswer, toRefusal } from './journey/faults.ts';
import { newMessage, policyFacts } from './journey/new-message.ts';
import { type OpenedPayloads, openPayloads } from './journey/open-payloads.ts';
import { postedSignals } from './journey/posted-signal.ts';
import { type Body, type BodyLimits, type Packaging, takeBody, unpack } from './journey/read-body.ts';
import {
  type BusinessDocument,
  type BusinessLimits,
  type FurtherPayload,
  readBusinessDocument,
  readFurtherPayloads,
} from './journey/read-business.ts';
import { type Arrival, type Recalled, type Recaller, recall } from './journey/recall.ts';
import { startTrace, type Trace } from './journey/trace.ts';
import type { BufferBudget } from './mime/buffer.ts';
import { checkConsistency } from './peppol/consistency.ts';
import { contentDigest } from './peppol/content-digest.ts';
import { type CoveredPart, checkCoverage } from './peppol/coverage.ts';
import { checkProfile } from './peppol/profile.ts';
import { routingOf } from './peppol/routing.ts';
import { notServiced, type ServicedList } from './peppol/serviced.ts';
import type { Identity } from './pki/identity.ts';
import type { RevocationWatch } from './pki/revocation-watch.ts';
import type { TrustStore } from './pki/trust.ts';
import type { Spool } from './spool.ts';
import { type NewMessage, type StoredAnswer, StoreError } from './store/types.ts';
import { requireEmptyBody } from './wss/envelope.ts';
import { signSoap } from './wss/sign.ts';
import { type VerifiedEnvelope, verifyEnvelope } from './wss/verify.ts';
import { parseXml, type XmlDocument } from './xml/parse.ts';

export interface ReceiveOptions extends Recaller {
  readonly identity: Identity;
  readonly trust: Pick<TrustStore, 'judge'>;
  readonly revocation: Pick<RevocationWatch, 'confirm'>;
  /** Null: everything is serviced. */
  readonly serviced: Pick<ServicedList, 'isServiced'> | null;
  readonly spool: Spool;
  readonly budget: BufferBudget;
  readonly limits: BodyLimits & BusinessLimits & { readonly xmlAttachment: number };
  /** The rules in force now. */
  readonly policy: () => Policy;
  readonly rebuilt: NewMessage['rebuilt'];
  readonly sbdh: 'strict' | 'report';
  /** False when new messages must be turned away for want of disk space. */
  readonly hasRoom: () => boolean;
  /** Called after a commit that left something to deliver. */
  readonly wakeDelivery: () => void;
  /** Called when the store can no longer be trusted: the process must end. */
  readonly onFatal: (error: Error) => void;
  readonly observe: (seen: Observation) => void;
  /** Called when a request has ended by its own fault and nobody has proved to be its sender: a refusal, a posted signal, an upload that broke off. */
  readonly unproven: (remoteAddress: string) => void;
  readonly checkpoint: Checkpoint;
  readonly newId: () => string;
  readonly log: Logger;
}

export type Decision =
  | 'accepted'
  | 'review'
  | 'ping'
  | 'suppressed'
  | 'duplicate'
  | 'rebuilt'
  | 'signal'
  | 'refused'
  | 'try again'
  | 'failed';

/** One message, for metrics. */
export interface Observation {
  readonly decision: Decision;
  readonly code: string | null;
  readonly reason: string | null;
  /** Milliseconds by step. */
  readonly steps: Readonly<Record<string, number>>;
}

interface Outcome {
  readonly answer: Answer;
  readonly decision: Decision;
}

const NOTHING: Answer = { status: 204, contentType: null, body: null };

/** The whole journey of one message (architecture §2). */
export function createReceive(o: ReceiveOptions): Receive {
  const strangersBudget = o.budget.share(1 / 2);

  return async function receive(request) {
    const trace = startTrace(request);
    let body: Body | null = null;
    try {
      trace.step('read');
      body = await takeBody(request, o.limits, request.stranger === true ? strangersBudget : o.budget);
      if ('whole' in body) await turn(request, trace);
      const { answer, decision } = (await recogniseBytes(request, body, trace)) ?? (await travel(request, body, trace));
      report(trace, { decision, code: null, reason: null });
      return answer;
    } catch (error) {
      return await refuse(error, trace);
    } finally {
      body?.release();
    }
  };

  async function turn(request: IncomingRequest, trace: Trace): Promise<void> {
    trace.step('turn');
    await request.turn?.();
    trace.step('read');
  }

  /** The shortcut: bytes that were answered before. Most retries are (facts §2.1). */
  async function recogniseBytes(incoming: IncomingRequest, body: Body, trace: Trace): Promise<Outcome | null> {
    if (body.digest === null) return null;
    const request = await o.store.findRequest(body.digest, o.now());
    const [certificate] = request?.signer.chain ?? [];
    // Trust may have been withdrawn since; the long way then says what is wrong with it.
    if (!request || !certificate || !(await isStillTrusted(certificate, o.trust, o.revocation, o.now()))) return null;
    const { fingerprint } = request.signer;
    Object.assign(trace, { sender: request.sender, messageId: request.messageId, fingerprint });
    const arrival: Arrival = {
      ...request,
      requestDigest: body.digest,
      fingerprint,
      remoteAddress: trace.remoteAddress,
    };
    const recalled = await recall(arrival, true, 'same-bytes', o, incoming.pause);
    if (recalled.kind === 'answer') return { answer: recalled.answer, decision: 'duplicate' };
    recalled.end?.();
    return null;
  }

  /** The journey of bytes that were not seen before. */
  async function travel(request: IncomingRequest, body: Body, trace: Trace): Promise<Outcome> {
    const packaging = await unpack(body, request.contentType, o.limits);
    // Of a stream no more than the envelope may hold others up, and only once it is here.
    if ('stream' in body) await turn(request, trace);
    const document = readEnvelope(packaging, trace);
    if (isPostedSignal(document.root)) {
      trace.signals = postedSignals(document.root);
      o.unproven(trace.remoteAddress);
      return { answer: NOTHING, decision: 'signal' };
    }
    trace.step('authenticate');
    const envelope = await authenticate(document, trace);
    request.authenticated?.();
    if ('stream' in body) request.endTurn?.();
    const message = readHeader(envelope, trace);
    const { parts, ping } = checkMessage(message, envelope, trace);
    trace.step('recall');
    const arrival = arrivalOf(message, envelope, body, trace);
    let recalled: Recalled = await recall(arrival, body.digest !== null, 'same-references', o, request.pause);
    let opened: OpenedPayloads | null = null;
    try {
      if (recalled.kind === 'answer') return { answer: recalled.answer, decision: 'duplicate' };
      if (!recalled.known) requireRoom();
      trace.step('open');
      opened = await openPayloads(packaging, parts, envelope, o.identity, o.spool, {
        maxXmlBytes: o.limits.xmlAttachment,
      });
      trace.warnings.push(...opened.warnings);
      trace.step('business');
      const sbd = ping ? null : await checkBusiness(message, opened, trace);
      const further = sbd === null ? [] : await readFurtherPayloads(opened.payloads.slice(1), sbd, o.limits);
      const digest = digestContent(message, sbd, further);
      if (recalled.end === null) {
        // A body that streamed has been read completely only now, and only now may it hold up other copies.
        recalled = await recall(arrival, true, 'same-references', o, request.pause);
        if (recalled.kind === 'answer') return { answer: recalled.answer, decision: 'duplicate' };
      }
      trace.step('acquit');
      const facts = {
        message,
        envelope,
        envelopeBytes: packaging.envelope,
        payloads: await opened.settle(),
        sbd,
        further,
        contentDigest: digest,
        requestDigest: body.digest,
        receivedAt: o.now(),
        warnings: trace.warnings,
        remoteAddress: trace.remoteAddress,
      };
      const policy = o.policy();
      const decision = decideRule(policy, policyFacts(message, arrival.sender, sbd));
      const applied = { version: policy.version, decision, rebuilt: o.rebuilt };
      const stored = newMessage({ ...facts, receipt: await acquit(message, envelope) }, applied);
      trace.step('commit');
      request.endTurn?.();
      const outcome = await commit(stored, trace);
      if (outcome.decision !== 'duplicate') request.proven?.();
      return outcome;
    } finally {
      opened?.discard();
      if (recalled.kind === 'go on') recalled.end?.();
    }
  }

  function readEnvelope(packaging: Packaging, trace: Trace): XmlDocument {
    trace.envelopeRead = true;
    const document = parseXml(packaging.envelope);
    trace.claimedMessageId = findEchoId(document.root);
    return document;
  }

  async function authenticate(document: XmlDocument, trace: Trace): Promise<VerifiedEnvelope> {
    const envelope = await confirmSigner(verifyEnvelope(document, o.trust, o.now()), o.revocation, o.now());
    trace.sender = envelope.signer.commonName;
    trace.fingerprint = envelope.signer.certificate.fingerprint;
    return envelope;
  }

  function readHeader(envelope: VerifiedEnvelope, trace: Trace): UserMessage {
    const read = readMessaging(envelope.messaging);
    // A signal beside a UserMessage is refused by the reader, one alone was seen before.
    if (read.kind === 'signal') throw new As4Error('EBMS:0008', 'Signals are not accepted here', { reason: 'signal' });
    trace.messageId = read.userMessage.messageInfo.messageId;
    requireEmptyBody(envelope.body);
    return read.userMessage;
  }

  function checkMessage(
    message: UserMessage,
    envelope: VerifiedEnvelope,
    trace: Trace,
  ): { parts: CoveredPart[]; ping: boolean } {
    const own = o.identity.certificate.commonName ?? '';
    const { ping, warnings } = checkProfile(message, envelope.signer.commonName, own);
    trace.warnings.push(...warnings);
    return { parts: checkCoverage(message, envelope.attachments, envelope.encryption.cids), ping };
  }

  function requireRoom(): void {
    if (o.hasRoom()) return;
    throw new TransportRefusal(503, 'The receiver is short of disk space. Try again later.', { reason: 'no-room' });
  }

  async function checkBusiness(message: UserMessage, opened: OpenedPayloads, trace: Trace): Promise<BusinessDocument> {
    const [leading] = opened.payloads;
    if (!leading) throw new As4Error('EBMS:0004', 'The message has no payload', { reason: 'no-payload' });
    const sbd = await readBusinessDocument(leading, o.sbdh, o.limits);
    trace.warnings.push(...sbd.warnings, ...checkConsistency(message, sbd.header));
    const routing = routingOf(message);
    if (o.serviced !== null && !o.serviced.isServiced(routing.receiver, routing.documentType, routing.process)) {
      throw notServiced(routing);
    }
    return sbd;
  }

  function digestContent(
    message: UserMessage,
    sbd: BusinessDocument | null,
    further: readonly FurtherPayload[],
  ): Buffer {
    if (sbd === null) return contentDigest({ ping: true });
    const digests = further.map(({ sha256 }) => sha256);
    return contentDigest({ ping: false, routing: routingOf(message), document: sbd.document.sha256, further: digests });
  }

  async function acquit(message: UserMessage, { references }: VerifiedEnvelope): Promise<StoredAnswer> {
    const id = `m-${o.newId()}`;
    const messaging = receiptMessaging({
      id,
      messageId: signalMessageId(o),
      timestamp: new Date(o.now()),
      refToMessageId: message.messageInfo.messageId,
      references,
    });
    const soap = await signSoap({ messaging, messagingId: id, identity: o.identity, newId: o.newId });
    return { status: 200, contentType: SOAP_CONTENT_TYPE, body: Buffer.from(soap, 'utf8') };
  }

  async function commit(message: NewMessage, trace: Trace): Promise<Outcome> {
    o.checkpoint('before-commit');
    const outcome = await o.store.accept(message);
    o.checkpoint('after-commit');
    switch (outcome.kind) {
      case 'accepted':
        trace.warnings.push(...outcome.warnings);
        if (message.purpose === 'test') return { answer: outcome.answer, decision: 'ping' };
        if (outcome.decision === 'review') return { answer: outcome.answer, decision: 'review' };
        o.wakeDelivery();
        return { answer: outcome.answer, decision: 'accepted' };
      case 'suppressed':
        trace.warnings.push(...outcome.warnings);
        return { answer: outcome.answer, decision: 'suppressed' };
      case 'held':
        return { answer: outcome.answer, decision: 'review' };
      case 'duplicate':
      case 'rebuilt':
        return { answer: outcome.answer, decision: outcome.kind };
      case 'conflict':
        throw new As4Error(
          'EBMS:0003',
          'A message with this MessageId and another content was received before; a new message needs a new MessageId',
          { reason: 'message-id-conflict' },
        );
      case 'stale':
        throw new As4Error('EBMS:0004', 'eb:Timestamp is older than the period for which messages are accepted', {
          detail: 'eb:Timestamp too old',
          reason: 'stale-timestamp',
        });
    }
  }

  async function refuse(error: unknown, trace: Trace): Promise<Answer> {
    const incident = randomUUID();
    if (error instanceof StoreError && error.code === 'fatal') o.onFatal(error);
    let refusal = toRefusal(error, trace.envelopeRead);
    const reference = trace.messageId ?? trace.claimedMessageId;
    if (refusal instanceof As4Error) {
      const { code, reason } = refusal;
      try {
        const answer = await errorAnswer(refusal, reference, o);
        report(trace, { decision: 'refused', code, reason }, refusal, incident);
        if (trace.sender === null) o.unproven(trace.remoteAddress);
        remember(refusal, code, trace);
        return answer;
      } catch (cause) {
        const text = `The error signal ${code} (${reason}) could not be made.`;
        refusal = new TransportRefusal(500, 'The receiver failed.', {
          reason: 'unsigned',
          cause: new Error(text, { cause }),
        });
      }
    }
    const decision = refusal.status === 503 ? 'try again' : refusal.status === 500 ? 'failed' : 'refused';
    report(trace, { decision, code: null, reason: refusal.reason }, refusal, incident);
    if (decision === 'refused') {
      if (trace.sender === null) o.unproven(trace.remoteAddress);
      // Every sender's network fails now and then: the log has it, and nobody asks why.
      if (refusal.reason !== 'aborted') remember(refusal, String(refusal.status), trace);
    }
    return textAnswer(refusal, incident);
  }

  /** Where the operator finds it: "which access point, which id, why". */
  function remember(refusal: As4Error | TransportRefusal, code: string, trace: Trace): void {
    const { sender, fingerprint, remoteAddress } = trace;
    o.store.refuse({
      at: o.now(),
      code,
      reason: refusal.reason,
      text: refusal.message,
      remoteAddress,
      sender,
      messageId: sender === null ? null : trace.messageId,
      claimedMessageId: trace.claimedMessageId,
      fingerprint,
    });
  }

  /** One line a message. */
  function report(
    trace: Trace,
    seen: Omit<Observation, 'steps'>,
    refusal?: As4Error | TransportRefusal,
    incident?: string,
  ): void {
    const total = trace.end();
    o.observe({ ...seen, steps: trace.steps });
    const { messageId, sender, signals, bytes, remoteAddress, steps, warnings } = trace;
    const line = {
      messageId: messageId ?? undefined,
      claimedMessageId: messageId === null ? (trace.claimedMessageId ?? undefined) : undefined,
      sender: sender ?? undefined,
      ...seen,
      signals: signals ?? undefined,
      state: STATE_AFTER[seen.decision],
      bytes,
      remoteAddress,
      ms: { ...steps, total },
      warnings: warnings.length > 0 ? warnings : undefined,
    };
    if (refusal === undefined) {
      o.log.info(line, 'message');
      return;
    }
    const failed = seen.decision === 'failed';
    o.log[failed ? 'error' : 'warn'](
      { ...line, text: refusal.message, ...(failed ? { incident } : {}), err: refusal.cause },
      'message',
    );
  }
}

/** State of the message once its answer is decided, in the words of architecture §4; absent when nothing is stored. */
const STATE_AFTER: Readonly<Record<Decision, string | undefined>> = {
  accepted: 'received',
  review: 'review',
  ping: 'test',
  suppressed: 'suppressed',
  duplicate: 'suppressed',
  rebuilt: 'suppressed',
  signal: undefined,
  refused: undefined,
  'try again': undefined,
  failed: undefined,
};

function arrivalOf(message: UserMessage, envelope: VerifiedEnvelope, body: Body, trace: Trace): Arrival {
  return {
    sender: envelope.signer.commonName,
    messageId: message.messageInfo.messageId,
    referenceSet: envelope.referenceSet,
    requestDigest: body.digest,
    fingerprint: envelope.signer.certificate.fingerprint,
    remoteAddress: trace.remoteAddress,
  };
}
