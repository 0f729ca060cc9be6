import type { EbmsProperty, HandOver } from '../store/types.ts';

/** An identifier with its scheme, as Peppol writes it (`iso6523-actorid-upis`, `0192:…`). */
export interface MetadataIdentifier {
  readonly scheme: string | null;
  readonly value: string;
}

/** One file beside `metadata.json`. */
export interface MetadataFile {
  readonly name: string;
  /** `payload`: what the sender sent, decompressed. `document`: the business document out of the first payload. */
  readonly role: 'payload' | 'document';
  readonly mime: string;
  readonly bytes: number;
  /** SHA-256 of the file, lower-case hex. */
  readonly sha256: string;
  /** PartInfo position, from 1. */
  readonly part: number;
  /** PartInfo/@href; only payloads. */
  readonly href?: string;
  readonly characterSet?: string | null;
  /** eb:PartProperties as received; only payloads. */
  readonly properties?: readonly EbmsProperty[];
  /** SHA-256 of the octets that the sender signed (still compressed, if they were); only payloads. */
  readonly signedSha256?: string;
}

/** `metadata.json` (architecture §4; `docs/metadata.schema.json`). Fields are only ever added. */
export interface Metadata {
  readonly schemaVersion: 1;
  readonly sequence: number;
  readonly messageId: string;
  readonly sender: string;
  readonly originalSender: MetadataIdentifier | null;
  readonly finalRecipient: MetadataIdentifier | null;
  readonly documentType: MetadataIdentifier | null;
  readonly process: MetadataIdentifier | null;
  readonly instanceIdentifier: string | null;
  readonly receivedAt: string;
  readonly files: readonly MetadataFile[];
  readonly possibleDuplicate: boolean;
  readonly redelivery: number;
  /** What the operator said who had it delivered again; null for the first hand-over. */
  readonly redeliveryReason: string | null;
  readonly outsideWindow: boolean;
  readonly supersedes: string | null;
  readonly warnings: readonly string[];
  /** What eDelivery AS4 §1.4.2.2 wants passed on beside the above. */
  readonly ebms: {
    readonly timestamp: string;
    readonly conversationId: string;
    readonly service: { readonly type: string | null; readonly value: string };
    readonly action: string;
    readonly messageProperties: readonly EbmsProperty[];
  };
  readonly sbdh: { readonly creationDateAndTime: string | null; readonly countryC1: string | null };
}

/** What the backend is told about one hand-over. */
export function metadataOf(handOver: HandOver, files: readonly MetadataFile[]): Metadata {
  const { message } = handOver;
  const { routing } = message;
  return {
    schemaVersion: 1,
    sequence: handOver.number,
    messageId: message.messageId,
    sender: message.sender,
    originalSender: routing.originalSender,
    finalRecipient: routing.finalRecipient,
    documentType: routing.documentType,
    process: routing.process,
    instanceIdentifier: routing.instanceIdentifier,
    receivedAt: new Date(message.receivedAt).toISOString(),
    files,
    possibleDuplicate: handOver.possibleDuplicate,
    redelivery: handOver.redelivery,
    redeliveryReason: handOver.redelivery > 0 ? handOver.reason : null,
    outsideWindow: message.outsideWindow,
    supersedes: message.supersedes,
    warnings: message.warnings,
    ebms: {
      timestamp: message.ebTimestampText,
      conversationId: routing.conversationId,
      service: { type: routing.serviceType, value: routing.service },
      action: routing.action,
      messageProperties: routing.messageProperties,
    },
    sbdh: { creationDateAndTime: routing.sbdhCreationDateAndTime, countryC1: routing.countryC1 },
  };
}
