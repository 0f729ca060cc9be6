import { As4Error } from '../as4-error.ts';
import type { DuplicatePolicy } from '../dedup/window.ts';
import { isFromTheFuture, isStale } from '../dedup/window.ts';
import type { UserMessage } from '../ebms/user-message.ts';
import { routingOf } from '../peppol/routing.ts';
import type { Sbd } from '../peppol/sbd.ts';
import type { NewMessage, Routing, SecondLayerKey, StoredAnswer } from '../store/types.ts';
import type { VerifiedEnvelope } from '../wss/verify.ts';
import type { OpenedPayload } from './open-payloads.ts';

export interface MessageFacts {
  readonly message: UserMessage;
  readonly envelope: VerifiedEnvelope;
  readonly envelopeBytes: Buffer;
  readonly payloads: readonly OpenedPayload[];
  /** Null for a ping. */
  readonly sbd: Sbd | null;
  readonly contentDigest: Buffer;
  readonly receipt: StoredAnswer;
  readonly requestDigest: Buffer | null;
  readonly receivedAt: number;
  /** The id is in the log already, with other references: it cannot be a replay of something purged. */
  readonly known: boolean;
  readonly warnings: readonly string[];
  readonly remoteAddress: string;
}

/** Everything that the one transaction stores of a message (architecture §3). */
export function newMessage(f: MessageFacts, policy: DuplicatePolicy, version: string): NewMessage {
  const { messageInfo } = f.message;
  const { certificate, chain, commonName } = f.envelope.signer;
  const timing = judgeTimestamp(f, policy);
  return {
    sender: commonName,
    messageId: messageInfo.messageId,
    purpose: f.sbd === null ? 'test' : timing.purpose,
    ebTimestamp: messageInfo.timestampMs,
    ebTimestampText: messageInfo.timestamp,
    receivedAt: f.receivedAt,
    window: policy.window,
    policyVersion: version,
    referenceSet: f.envelope.referenceSet,
    contentDigest: f.contentDigest,
    // The parts of a ping were opened to be verified; nobody will ever want them.
    payloads: f.sbd === null ? [] : f.payloads.map(payload),
    routing: routing(f.message, f.sbd),
    keys: secondLayerKeys(f),
    warnings: [...f.envelope.signer.warnings, ...f.warnings, ...timing.warnings],
    signer: { fingerprint: certificate.fingerprint, chain: chain.map(({ der }) => der) },
    envelope: f.envelopeBytes,
    receipt: f.receipt,
    requestDigest: f.requestDigest,
    remoteAddress: f.remoteAddress,
    rebuilt: policy.rebuilt,
  };
}

function payload({ part, sha256, bytes, data }: OpenedPayload): NewMessage['payloads'][number] {
  const { href, mimeType, characterSet, compressed } = part;
  return { href, mimeType, characterSet, compressed, sha256, bytes, data };
}

/** A message that cannot be told from a replay of something purged goes where the configuration says (architecture §3). */
function judgeTimestamp(
  f: MessageFacts,
  policy: DuplicatePolicy,
): { purpose: 'deliver' | 'review'; warnings: string[] } {
  const at = f.message.messageInfo.timestampMs;
  if (isFromTheFuture(at, f.receivedAt)) {
    return { purpose: 'deliver', warnings: ['eb:Timestamp is more than an hour in the future'] };
  }
  if (f.known || !isStale(at, f.receivedAt, policy)) return { purpose: 'deliver', warnings: [] };
  const warning = 'eb:Timestamp is older than the duplicate window: this may be a replay of a message that was purged';
  if (policy.staleTimestamp === 'refuse' && f.sbd !== null) {
    throw new As4Error('EBMS:0004', 'eb:Timestamp is older than the period for which messages are accepted', {
      detail: 'eb:Timestamp too old',
      reason: 'stale-timestamp',
    });
  }
  return { purpose: policy.staleTimestamp === 'review' ? 'review' : 'deliver', warnings: [warning] };
}

function routing(message: UserMessage, sbd: Sbd | null): Routing {
  const { service, action, conversationId } = message.collaborationInfo;
  const business = sbd === null ? null : routingOf(message);
  return {
    service: service.value,
    serviceType: service.type ?? null,
    action,
    conversationId,
    originalSender: business?.sender ?? null,
    finalRecipient: business?.receiver ?? null,
    documentType: business?.documentType ?? null,
    process: business?.process ?? null,
    instanceIdentifier: sbd?.header.instanceIdentifier ?? null,
    sbdhCreationDateAndTime: sbd?.header.creationDateAndTime ?? null,
    countryC1: sbd?.header.countryC1 ?? null,
    messageProperties: message.messageProperties.map(({ name, type, value }) => ({ name, type: type ?? null, value })),
  };
}

/** Scoped by who signed and who is named as sender, so that no partner can block another's references. */
function secondLayerKeys({ sbd, envelope, message }: MessageFacts): SecondLayerKey[] {
  if (sbd === null || !sbd.header.instanceIdentifier) return [];
  const { sender } = routingOf(message);
  const scope = JSON.stringify([envelope.signer.commonName, sender.scheme, sender.value.toLowerCase()]);
  return [{ layer: 'sbdh', scope, key: sbd.header.instanceIdentifier }];
}
