import { type InterchangeKey, interchangeKeys, interchangeWarnings, withoutKey } from '../dedup/interchange-keys.ts';
import type { PolicyFacts, RuleDecision } from '../dedup/policy.ts';
import { isFromTheFuture } from '../dedup/window.ts';
import { quote } from '../ebms/quote.ts';
import type { Property, UserMessage } from '../ebms/user-message.ts';
import { routingOf } from '../peppol/routing.ts';
import type { EbmsProperty, NewMessage, Routing, StoredAnswer } from '../store/types.ts';
import type { VerifiedEnvelope } from '../wss/verify.ts';
import type { OpenedPayload } from './open-payloads.ts';
import type { BusinessDocument, FurtherPayload } from './read-business.ts';

export interface MessageFacts {
  readonly message: UserMessage;
  readonly envelope: VerifiedEnvelope;
  readonly envelopeBytes: Buffer;
  readonly payloads: readonly OpenedPayload[];
  /** Null for a ping. */
  readonly sbd: BusinessDocument | null;
  /** The payloads behind it. */
  readonly further: readonly FurtherPayload[];
  readonly contentDigest: Buffer;
  readonly receipt: StoredAnswer;
  readonly requestDigest: Buffer | null;
  readonly receivedAt: number;
  readonly warnings: readonly string[];
  readonly remoteAddress: string;
}

/** What holds for a message: the policy's version, the rule that matched, and what is not a matter of rules. */
export interface AppliedPolicy {
  readonly version: string;
  readonly decision: Pick<RuleDecision, 'rule' | 'values' | 'own'>;
  readonly rebuilt: NewMessage['rebuilt'];
}

/** What the rules of a policy may ask. */
export function policyFacts(message: UserMessage, senderAp: string, sbd: BusinessDocument | null): PolicyFacts {
  const business = sbd === null ? null : routingOf(message);
  return {
    senderAp,
    originalSender: business?.sender ?? null,
    finalRecipient: business?.receiver ?? null,
    process: business?.process ?? null,
    documentType: business?.documentType ?? null,
    payloadKind: sbd?.payloadKind ?? null,
  };
}

/** Everything that the one transaction decides on and stores of a message (architecture §3). */
export function newMessage(f: MessageFacts, policy: AppliedPolicy): NewMessage {
  const { messageInfo } = f.message;
  const { certificate, chain, commonName } = f.envelope.signer;
  const { values, own, rule } = policy.decision;
  return {
    sender: commonName,
    messageId: messageInfo.messageId,
    purpose: f.sbd === null ? 'test' : 'deliver',
    ebTimestamp: messageInfo.timestampMs,
    ebTimestampText: messageInfo.timestamp,
    receivedAt: f.receivedAt,
    window: values.window,
    policyVersion: policy.version,
    rule,
    conflict: values.onConflict,
    outsideWindow: values.outsideWindow,
    staleTimestamp: values.staleTimestamp,
    // Only what the rule itself says: what the configuration says may change until the power fails.
    ...(own.afterPowerLoss === undefined ? {} : { afterPowerLoss: own.afterPowerLoss }),
    referenceSet: f.envelope.referenceSet,
    contentDigest: f.contentDigest,
    // The parts of a ping were opened to be verified; nobody will ever want them.
    payloads: f.sbd === null ? [] : f.payloads.map(payload),
    routing: routing(f.message, f.sbd),
    interchanges: {
      keys: secondLayerKeys(f, policy),
      unkeyed: f.sbd === null ? [] : withoutKey(searched(f.sbd, f.further)),
      onConflict: values.onInterchangeConflict,
      replacePending: values.replacePending,
    },
    warnings: [...f.envelope.signer.warnings, ...f.warnings, ...ownWarnings(f)],
    signer: { fingerprint: certificate.fingerprint, chain: chain.map(({ der }) => der) },
    ...(f.envelope.signer.warnings.length > 0 && { signerWarnings: f.envelope.signer.warnings }),
    envelope: f.envelopeBytes,
    receipt: f.receipt,
    requestDigest: f.requestDigest,
    remoteAddress: f.remoteAddress,
    rebuilt: policy.rebuilt,
  };
}

function payload({ part, sha256, bytes, data }: OpenedPayload): NewMessage['payloads'][number] {
  const { href, mimeType, characterSet, compressed } = part;
  const properties = part.partInfo.partProperties.map(withType);
  return { href, mimeType, characterSet, compressed, properties, sha256, bytes, data };
}

function withType({ name, type, value }: Property): EbmsProperty {
  return { name, type: type ?? null, value };
}

function ownWarnings({ message, receivedAt, sbd, further }: MessageFacts): string[] {
  const future = isFromTheFuture(message.messageInfo.timestampMs, receivedAt)
    ? ['eb:Timestamp is more than an hour in the future']
    : [];
  if (sbd === null) return future;
  const found = [sbd, ...further].flatMap((p) => interchangeWarnings(p.interchanges, p.unrecordedInterchanges));
  return [...future, ...found];
}

function searched(sbd: BusinessDocument, further: readonly FurtherPayload[]) {
  const named = further.map((p) => ({ ...p, name: `payload ${quote(p.href)}` }));
  return [{ ...sbd, name: 'the business document' }, ...named];
}

function routing(message: UserMessage, sbd: BusinessDocument | null): Routing {
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
    messageProperties: message.messageProperties.map(withType),
  };
}

function secondLayerKeys(
  { sbd, further, envelope, message, contentDigest }: MessageFacts,
  policy: AppliedPolicy,
): InterchangeKey[] {
  if (sbd === null) return [];
  const facts = {
    senderAp: envelope.signer.commonName,
    originalSender: routingOf(message).sender,
    contentDigest,
  };
  const findings = [sbd, ...further].flatMap((p) => p.interchanges);
  return interchangeKeys(facts, findings, sbd.header, policy.decision.values);
}
