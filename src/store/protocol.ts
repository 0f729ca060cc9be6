import type { ClockDoubt, ClockState } from './clock-guard.ts';
import type {
  Actor,
  AuditHash,
  AuditRow,
  AuditStory,
  OperatorOutcome,
  ReviewAction,
  ReviewDetail,
  ReviewItem,
} from './operator-types.ts';
import type { HandOverEvent } from './states.ts';
import type {
  AcceptOutcome,
  Evidence,
  HandOver,
  HandOverState,
  InterchangeKey,
  Interchanges,
  KnownMessage,
  KnownRequest,
  MessageKey,
  MessageSummary,
  NewMessage,
  Refusal,
  StoredAnswer,
  Suppression,
} from './types.ts';

/** Index of a byte string in the one buffer that a batch carries: cloning a view would copy the whole memory behind it. */
export type BlobIndex = number;
export type BlobAt = (index: BlobIndex) => Buffer;

export interface WirePayload {
  readonly href: string;
  readonly mimeType: string;
  readonly characterSet: string | null;
  readonly compressed: boolean;
  /** JSON. */
  readonly properties: string;
  readonly sha256: BlobIndex;
  readonly bytes: number;
  readonly data: BlobIndex | null;
  readonly file: string | null;
}

type Copied =
  | 'sender'
  | 'messageId'
  | 'purpose'
  | 'ebTimestamp'
  | 'ebTimestampText'
  | 'receivedAt'
  | 'window'
  | 'policyVersion'
  | 'remoteAddress'
  | 'rebuilt'
  | 'rule'
  | 'conflict'
  | 'outsideWindow'
  | 'staleTimestamp'
  | 'afterPowerLoss';

export interface WireKey extends Omit<InterchangeKey, 'contentDigest'> {
  readonly contentDigest: BlobIndex;
}

/** NewMessage with its byte strings by index and the parts that are only stored as JSON text. */
export interface WireMessage extends Pick<NewMessage, Copied> {
  /** What windows are judged by: receivedAt, or less while the clock is doubted. */
  readonly now: number;
  readonly keys: readonly WireKey[];
  readonly unkeyed: readonly string[];
  readonly onConflict: Interchanges['onConflict'];
  readonly replacePending: boolean;
  readonly routing: string;
  readonly warnings: string;
  readonly signerWarnings: readonly string[];
  readonly fingerprint: string;
  readonly chain: readonly BlobIndex[];
  readonly referenceSet: BlobIndex;
  readonly contentDigest: BlobIndex;
  readonly envelope: BlobIndex;
  readonly requestDigest: BlobIndex | null;
  readonly status: number;
  readonly contentType: string;
  readonly body: BlobIndex;
  readonly payloads: readonly WirePayload[];
}

/** `answer: null` means: the receipt that came with the message is the one that was stored. */
export type WireOutcome =
  | Omit<Extract<AcceptOutcome, { kind: 'accepted' }>, 'answer'>
  | Omit<Extract<AcceptOutcome, { kind: 'suppressed' }>, 'answer'>
  | { readonly kind: 'stale' }
  | { readonly kind: 'duplicate'; readonly id: number; readonly answer: StoredAnswer }
  | { readonly kind: 'rebuilt'; readonly id: number; readonly answer: StoredAnswer | null }
  | { readonly kind: 'conflict'; readonly id: number; readonly repeats: number }
  /** `kept`: the content files that came with it are named by a row now. */
  | {
      readonly kind: 'held';
      readonly id: number;
      readonly repeats: number;
      readonly kept: boolean;
      readonly answer: StoredAnswer | null;
    };

export interface WireSuppression extends Omit<Suppression, 'referenceSet' | 'requestDigest'> {
  readonly referenceSet: BlobIndex;
  readonly requestDigest: BlobIndex | null;
}

export interface PurgeLimits {
  readonly now: number;
  readonly window: number;
  readonly payloadRetention: number;
  readonly evidenceRetention: number;
  /** 0: decisions are kept for ever. */
  readonly auditRetention: number;
}

export interface PurgeCounts {
  readonly keys: number;
  readonly messages: number;
  readonly payloads: number;
  readonly evidence: number;
  readonly decisions: number;
  /** Names of content files that no row names any more (or would not, in a dry run). */
  readonly files: readonly string[];
}

/** Everything the worker can be asked, with what it is given and what it gives back. */
export interface Operations {
  findRequest: { args: { digest: BlobIndex; now: number; window: number }; result: KnownRequest | null };
  find: {
    args: MessageKey & { referenceSet: BlobIndex; now: number; window: number };
    result: KnownMessage | null;
  };
  accept: { args: WireMessage; result: WireOutcome };
  suppress: { args: WireSuppression; result: null };
  refuse: { args: readonly Refusal[]; result: null };
  refusals: { args: { limit: number }; result: Refusal[] };
  counts: { args: null; result: Record<HandOverState, number> };
  messages: {
    args: { limit: number; before?: number; sender?: string; messageId?: string };
    result: MessageSummary[];
  };
  evidence: { args: string; result: Evidence | null };
  pending: { args: { limit: number; maxBytes: number }; result: HandOver[] };
  inState: { args: { state: HandOverState; limit: number }; result: HandOver[] };
  startHandingOver: {
    args: { rows: readonly { number: number; directory: string }[]; bootId: string; at: number };
    result: number[];
  };
  delivered: { args: { numbers: readonly number[]; at: number }; result: null };
  failed: { args: { number: number; error: string; at: number }; result: HandOverState };
  transition: { args: { number: number; event: HandOverEvent; at: number }; result: HandOverState };
  markers: { args: null; result: { inbox: string; staging: string } | null };
  setMarkers: { args: { inbox: string; staging: string }; result: null };
  highestHandOver: { args: null; result: number };
  raiseHandOvers: { args: number; result: null };
  purgeCount: { args: PurgeLimits; result: PurgeCounts };
  purgeStep: { args: PurgeLimits; result: PurgeCounts };
  vacuumStep: { args: null; result: number };
  contentFiles: { args: readonly string[]; result: string[] };
  clockState: { args: null; result: ClockState };
  heartbeat: { args: { at: number }; result: null };
  doubtClock: { args: ClockDoubt; result: null };
  trustClock: { args: { at: number; actor: Actor | null }; result: null };
  recentAddresses: { args: { messages: number }; result: string[] };
  waitingReviews: { args: null; result: { count: number; oldest: number | null } };
  reviews: { args: { limit: number }; result: ReviewItem[] };
  reviewDetail: { args: string; result: ReviewDetail | null };
  review: { args: { id: string; action: ReviewAction; actor: Actor; now: number }; result: OperatorOutcome };
  redeliver: { args: { id: string; actor: Actor; now: number }; result: OperatorOutcome };
  acknowledge: { args: { id: string; actor: Actor | null; now: number }; result: OperatorOutcome };
  audit: { args: string; result: AuditStory | null };
  auditPage: { args: { from: number; to: number; after: number }; result: { rows: AuditRow[]; next: number | null } };
  hashStep: { args: { now: number }; result: AuditHash & { readonly done: boolean } };
  verifyStep: {
    args: VerifyState | null;
    result: VerifyState & { readonly fault: string | null; readonly done: boolean };
  };
}

/** Where going over the running hash has come to. */
export interface VerifyState {
  readonly upTo: number;
  readonly hash: string;
}

export type OperationName = keyof Operations;

export interface Operation<K extends OperationName> {
  readonly writes: boolean;
  /** Housekeeping that no message waits for: it is not counted as a point where a test lets the process crash. */
  readonly housekeeping?: true;
  run(args: Operations[K]['args'], blob: BlobAt): Operations[K]['result'];
}
export type OperationTable = { readonly [K in OperationName]: Operation<K> };

/** One call on its way to the worker. Indices in `args` count from `firstBlob`. */
export interface WireCall {
  readonly name: OperationName;
  readonly args: unknown;
  readonly firstBlob: number;
}

/** One message to the worker: the calls, one buffer with all byte strings, and where each begins (one more entry: the end). */
export interface WireBatch {
  readonly calls: readonly WireCall[];
  readonly bytes: ArrayBuffer;
  readonly offsets: readonly number[];
}

export interface WireError {
  readonly code: import('./types.ts').StoreError['code'];
  readonly message: string;
}
export type WireReply = { readonly value: unknown } | { readonly error: WireError };

/** From the worker. `replies` is sparse by index: reads are answered first while writes wait for another process's lock. */
export type FromWorker =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly error: WireError }
  | { readonly kind: 'replies'; readonly replies: readonly (readonly [number, WireReply])[]; readonly last: boolean }
  | { readonly kind: 'fatal'; readonly error: WireError };

export type ToWorker = { readonly kind: 'batch'; readonly batch: WireBatch } | { readonly kind: 'close' };
