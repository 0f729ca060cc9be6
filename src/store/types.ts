import type { OperatorStore } from './operator-types.ts';

/** What the journey of a message and the delivery need of a database (architecture §3). Every method may reject with StoreError. */

/** The exact bytes of an answer, sent from the store, also the first time. */
export interface StoredAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Uint8Array;
}

/** First-layer key: the authenticated sender (subject CN of the signer, so that a renewed certificate changes nothing) and its eb:MessageId. */
export interface MessageKey {
  readonly sender: string;
  readonly messageId: string;
}

export interface StoredSigner {
  /** SHA-256 of the certificate, lower-case hex. */
  readonly fingerprint: string;
  /** DER of the signer's certificate, then of its issuers. */
  readonly chain: readonly Uint8Array[];
}

/** A body that was answered with a stored receipt before (architecture §2.2, the shortcut). */
export interface KnownRequest extends MessageKey {
  readonly referenceSet: Uint8Array;
  readonly signer: StoredSigner;
}

/** Answer of the log to (sender, MessageId, reference set). Never given for a key whose window has passed. */
export interface KnownMessage {
  readonly id: number;
  readonly receivedAt: number;
  /** The receipt stored for exactly this reference set; null when the id is known with other references only. */
  readonly receipt: StoredAnswer | null;
}

/** eb:Property, of a part or of the message. */
export interface EbmsProperty {
  readonly name: string;
  readonly type: string | null;
  readonly value: string;
}

export interface NewPayload {
  /** PartInfo/@href as written. */
  readonly href: string;
  /** PartProperties MimeType; what the backend is told. */
  readonly mimeType: string;
  readonly characterSet: string | null;
  readonly compressed: boolean;
  /** All PartProperties as received, these too. */
  readonly properties: readonly EbmsProperty[];
  /** SHA-256 of the octets as received (what the sender signed, still compressed). */
  readonly sha256: Uint8Array;
  readonly bytes: number;
  /** Up to 256 KiB in memory; above it a spooled file that accept() moves into the store's content directory. */
  readonly data: Uint8Array | { readonly file: string };
}

/** Where the message came from and goes to, as the backend and reports need it. Absent parts are null (a ping has few). */
export interface Routing {
  readonly service: string;
  readonly serviceType: string | null;
  readonly action: string;
  readonly conversationId: string;
  readonly originalSender: { readonly scheme: string | null; readonly value: string } | null;
  readonly finalRecipient: { readonly scheme: string | null; readonly value: string } | null;
  readonly documentType: { readonly scheme: string; readonly value: string } | null;
  readonly process: { readonly scheme: string; readonly value: string } | null;
  readonly instanceIdentifier: string | null;
  readonly sbdhCreationDateAndTime: string | null;
  readonly countryC1: string | null;
  /** All message properties as received, unknown ones too. */
  readonly messageProperties: readonly EbmsProperty[];
}

/** A key of the second layer (SBDH instance, EDIFACT or X12 control reference), with the content that came under it. */
export interface InterchangeKey {
  readonly layer: 'sbdh' | 'edifact' | 'x12';
  /** Signer and SBDH sender: no partner can block another's references. */
  readonly scope: string;
  readonly key: string;
  /** Of the interchange; for `sbdh` of the whole message. */
  readonly contentDigest: Uint8Array;
  /** The envelope's own date and time as written (S004, ISA09/10); null where there is none (`sbdh`): then another content is a conflict. */
  readonly dateTime: string | null;
  /** How people call it, e.g. "interchange 4711 of 4012345000009". */
  readonly label: string;
}

/** What the policy says about repeated interchanges of this message. */
export interface Interchanges {
  readonly keys: readonly InterchangeKey[];
  /** What of the message has no key of its own, as people call it; absent: nothing. */
  readonly unkeyed?: readonly string[];
  /** Same key, other content, no other date-time. */
  readonly onConflict: 'review' | 'allow' | 'suppress';
  /** The same interchange, while the earlier one still waits, takes its place. */
  readonly replacePending: boolean;
}

export interface NewMessage extends MessageKey {
  /** `deliver`: to the folder, unless the transaction decides otherwise. `review`: receipted, kept back. `test`: a ping, receipted and never delivered. */
  readonly purpose: 'deliver' | 'review' | 'test';
  /** Epoch ms of the signed eb:Timestamp, and its text. */
  readonly ebTimestamp: number;
  readonly ebTimestampText: string;
  readonly receivedAt: number;
  /** Milliseconds; expires_at = max(receivedAt, ebTimestamp) + window. */
  readonly window: number;
  readonly policyVersion: string;
  /** Name of the policy rule that gave all this. */
  readonly rule: string;
  /** Same MessageId, other content: `reject` keeps it as evidence and tells the sender, `hold` gives a receipt and waits for an operator. */
  readonly conflict: 'reject' | 'hold';
  /** A MessageId or interchange that expired, in a fresh message. */
  readonly outsideWindow: 'deliver' | 'review';
  /** A MessageId that the log does not know, in a message whose signed eb:Timestamp is older than the window. */
  readonly staleTimestamp: 'review' | 'deliver' | 'refuse';
  /** Of its hand-over, when a power loss hides its fate; absent: as the delivery is configured. */
  readonly afterPowerLoss?: 'deliver' | 'review';
  readonly referenceSet: Uint8Array;
  readonly contentDigest: Uint8Array;
  readonly payloads: readonly NewPayload[];
  readonly routing: Routing;
  readonly interchanges: Interchanges;
  readonly warnings: readonly string[];
  readonly signer: StoredSigner;
  /** Those of the warnings that are about the signer, such as revocation that could not be decided: the decision itself keeps them. */
  readonly signerWarnings?: readonly string[];
  /** The envelope's bytes as received: what proves later that the sender signed it. */
  readonly envelope: Uint8Array;
  readonly receipt: StoredAnswer;
  /** SHA-256 over (length of Content-Type, Content-Type, body); null for bodies that were streamed. */
  readonly requestDigest: Uint8Array | null;
  readonly remoteAddress: string;
  /** `first-receipt` answers a repeat with rebuilt headers with the first one's bytes. */
  readonly rebuilt: 'own-receipt' | 'first-receipt';
}

/**
 * What the one transaction decided (architecture §2.10):
 * - `accepted`: new; handed to the outbox, to wait there for an operator when the decision is `review`.
 * - `suppressed`: a new MessageId whose interchanges were all received before; a receipt of its own, nothing delivered.
 * - `duplicate`: the same reference set was stored meanwhile; its bytes.
 * - `rebuilt`: same content under other references; a receipt of its own (or the first one's), nothing delivered.
 * - `conflict`: same id, other content; kept in `held` as evidence, never delivered. `repeats`: how often this very content came before.
 * - `held`: the same, where the policy holds: a receipt of its own, kept for review. `id`: the first message's.
 * - `stale`: refused, nothing stored: it may be a replay of something purged.
 */
export type AcceptOutcome =
  | {
      readonly kind: 'accepted';
      readonly id: number;
      readonly decision: 'allow' | 'review' | 'replacePending';
      readonly outsideWindow: boolean;
      /** What the transaction adds to the message's own warnings. */
      readonly warnings: readonly string[];
      /** MessageId of the earlier message that this one replaces. */
      readonly supersedes: string | null;
      readonly answer: StoredAnswer;
    }
  | {
      readonly kind: 'suppressed';
      readonly id: number;
      readonly of: { readonly id: number; readonly messageId: string };
      readonly warnings: readonly string[];
      readonly answer: StoredAnswer;
    }
  | { readonly kind: 'duplicate'; readonly id: number; readonly answer: StoredAnswer }
  | { readonly kind: 'rebuilt'; readonly id: number; readonly answer: StoredAnswer }
  | { readonly kind: 'conflict'; readonly id: number; readonly repeats: number }
  | { readonly kind: 'held'; readonly id: number; readonly repeats: number; readonly answer: StoredAnswer }
  | { readonly kind: 'stale' };

export interface Suppression extends MessageKey {
  readonly id: number;
  readonly at: number;
  readonly referenceSet: Uint8Array;
  /** Recorded too, so that the next copy of these bytes takes the shortcut; null when streamed or already known. */
  readonly requestDigest: Uint8Array | null;
  readonly fingerprint: string;
  readonly remoteAddress: string;
  readonly how: 'same-bytes' | 'same-references' | 'waited';
}

/** A refusal for the operator's eyes. `sender` and `messageId` are null until they are authenticated; `claimed…` is what was read unverified. */
export interface Refusal {
  readonly at: number;
  readonly code: string;
  readonly reason: string;
  readonly text: string;
  readonly remoteAddress: string;
  readonly sender: string | null;
  readonly messageId: string | null;
  readonly claimedMessageId: string | null;
  readonly fingerprint: string | null;
}

/** States of a hand-over (architecture §4), the table of events is `states.ts`. */
export type HandOverState =
  | 'received'
  | 'handingOver'
  | 'delivered'
  | 'acknowledged'
  | 'review'
  | 'rejected'
  | 'superseded'
  | 'unknown'
  | 'undeliverable';

export interface StoredPayload {
  readonly ordinal: number;
  readonly href: string;
  readonly mimeType: string;
  readonly characterSet: string | null;
  readonly compressed: boolean;
  readonly properties: readonly EbmsProperty[];
  readonly sha256: Uint8Array;
  readonly bytes: number;
  /** In the row, or the absolute path of the content file; null once purged. */
  readonly data: Uint8Array | { readonly file: string } | null;
}

/** One row of the outbox with all that metadata.json needs. */
export interface HandOver {
  /** The hand-over number: unique in the database, rising in commit order. */
  readonly number: number;
  readonly state: HandOverState;
  readonly bootId: string | null;
  readonly directory: string | null;
  readonly attempts: number;
  /** 0 for the first hand-over of a message, n for its n-th redelivery. */
  readonly redelivery: number;
  readonly reason: string | null;
  readonly possibleDuplicate: boolean;
  readonly message: {
    readonly id: number;
    readonly sender: string;
    readonly messageId: string;
    readonly ebTimestampText: string;
    readonly receivedAt: number;
    readonly routing: Routing;
    readonly warnings: readonly string[];
    readonly outsideWindow: boolean;
    readonly supersedes: string | null;
    /** What the policy says; absent: as the delivery is configured. */
    readonly afterPowerLoss?: 'deliver' | 'review';
  };
  readonly payloads: readonly StoredPayload[];
}

/** The part of the store that the delivery works on. */
export interface Outbox {
  /** Rows in state `received`, oldest first, with payload data, at most `limit` and about `maxBytes` of blobs. */
  pending(limit: number, maxBytes?: number): Promise<HandOver[]>;
  inState(state: HandOverState, limit: number): Promise<HandOver[]>;
  /** The row update that decides: commits `received` → `handingOver` with boot id and directory name; gives the numbers that won. */
  startHandingOver(
    rows: readonly { number: number; directory: string }[],
    bootId: string,
    at: number,
  ): Promise<number[]>;
  delivered(numbers: readonly number[], at: number): Promise<void>;
  /** Counts one failure that is this message's own; the fifth makes it `undeliverable`. Returns the state now. */
  failed(number: number, error: string, at: number): Promise<HandOverState>;
  /** `handingOver` → `received` again (marked possibleDuplicate) or `unknown` or `review`, by reconciliation. */
  reconcile(
    number: number,
    event: 'redeliverAfterPowerLoss' | 'reviewAfterPowerLoss' | 'lost' | 'restored',
    at: number,
  ): Promise<void>;
  /** Ids of the marker files that belong to this database; null before the first start. */
  markers(): Promise<{ inbox: string; staging: string } | null>;
  setMarkers(markers: { inbox: string; staging: string }): Promise<void>;
  highestHandOver(): Promise<number>;
  /** New hand-overs get numbers above this one: a restored database would give numbers again that the backend has seen. */
  raiseHandOvers(atLeast: number): Promise<void>;
}

export interface PurgeReport {
  readonly keys: number;
  readonly messages: number;
  readonly payloads: number;
  readonly evidence: number;
  /** Decision rows; a checkpoint records where the running hash goes on. */
  readonly decisions: number;
  /** Content files deleted, those that no row names among them. */
  readonly files: number;
}

export interface MessageSummary extends MessageKey {
  readonly id: number;
  readonly receivedAt: number;
  readonly purpose: string;
  readonly state: HandOverState | 'test' | 'suppressed' | 'none';
  readonly documentType: string | null;
  readonly originalSender: string | null;
  readonly finalRecipient: string | null;
  readonly receipts: number;
  readonly suppressions: number;
}

export interface Evidence {
  readonly summary: MessageSummary;
  readonly routing: Routing;
  readonly warnings: readonly string[];
  readonly envelope: Uint8Array | null;
  readonly chain: readonly Uint8Array[];
  readonly receipts: readonly StoredAnswer[];
  readonly handOvers: readonly {
    readonly number: number;
    readonly state: HandOverState;
    readonly directory: string | null;
    readonly at: number;
  }[];
  readonly decisions: readonly { readonly at: number; readonly decision: string; readonly detail: string }[];
}

export interface Store extends OperatorStore {
  findRequest(digest: Uint8Array, now: number): Promise<KnownRequest | null>;
  /** @param window the window in force now, ms: a longer one than at acceptance extends, a shorter one does not cut; absent: the store's own. */
  find(key: MessageKey, referenceSet: Uint8Array, now: number, window?: number): Promise<KnownMessage | null>;
  /**
   * Takes over payload files: once this is called they are the store's, whatever the outcome. A `duplicate`, a `rebuilt` one and a
   * `conflict` are counted and recorded here; what `find` answered, by the caller's `suppress`.
   */
  accept(message: NewMessage): Promise<AcceptOutcome>;
  /** Never rejects and never blocks an answer: a suppression that cannot be recorded is counted in `gaps()`. */
  suppress(s: Suppression): void;
  gaps(): number;
  /** Written in the background: of an authenticated access point as a decision, all others into a bounded ring. Never rejects. */
  refuse(r: Refusal): void;
  /** Refusals that found the background queue full or could not be written. */
  droppedRefusals(): number;
  /** Of both kinds, the newest first. */
  refusals(o: { limit: number }): Promise<Refusal[]>;
  /** Number of rows by state, for health and metrics: reviews, unknown, undeliverable, waiting. */
  counts(): Promise<Readonly<Record<HandOverState, number>>>;
  /** Where the last so many messages came from, the latest first. */
  recentAddresses(messages: number): Promise<readonly string[]>;
  messages(o: { limit: number; before?: number; sender?: string; messageId?: string }): Promise<MessageSummary[]>;
  evidence(idOrMessageId: string): Promise<Evidence | null>;
  /** @throws StoreError `clock` while the clock is doubted */
  purge(o: {
    now: number;
    payloadRetention: number;
    evidenceRetention: number;
    /** Decisions are kept this long, ms; absent: for ever. */
    auditRetention?: number;
    dryRun: boolean;
  }): Promise<PurgeReport>;
  /** What an operator should look at; the receiver goes on working. */
  degraded(): readonly { readonly what: string; readonly since: number }[];
  readonly outbox: Outbox;
  /** Waits for what is queued, then closes. */
  close(): Promise<void>;
}

/** `clock`: nothing is purged while the clock is doubted. `busy`, `full` and `io` become 503 (try again); `newer-schema` stops the start; `fatal` (an fsync failed) ends the process. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: 'busy' | 'full' | 'io' | 'fatal' | 'newer-schema' | 'clock' | 'closed';
  constructor(code: StoreError['code'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}
