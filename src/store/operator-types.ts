import type { HandOverState, MessageKey, MessageSummary, Routing, StoredPayload } from './types.ts';

/** Who decided, and why: both are recorded with every exception. */
export interface Actor {
  readonly by: string;
  readonly reason: string;
  readonly osUser: string;
  readonly host: string;
}

export interface MessageName {
  readonly id: number;
  readonly messageId: string;
}

/**
 * Something that waits for an operator. Its id is what `review` takes:
 * - `message`: receipted and kept back (state `review`); id: the message's row id as text.
 * - `held`: another content under a known MessageId. `told` says what its sender was told; id: `held-<n>`. One that is only evidence
 *   waits until an operator has seen and rejected it.
 * - `unknown`, `undeliverable`: a hand-over whose fate is not known, or that failed for good; id as `message`.
 */
export interface ReviewItem extends MessageKey {
  readonly id: string;
  readonly kind: 'message' | 'held' | 'unknown' | 'undeliverable';
  /** `failure`: the sender was told that its message failed, so nothing but a look and a rejection is possible. */
  readonly told: 'receipt' | 'failure';
  readonly receivedAt: number;
  /** Since when it waits. */
  readonly since: number;
  /** The sentence that says why it waits. */
  readonly why: string;
  readonly existing: { readonly id: number; readonly messageId: string } | null;
  readonly documentType: string | null;
  readonly originalSender: string | null;
  readonly finalRecipient: string | null;
  /** Copies of this very content that came after the first. */
  readonly repeats: number;
  /**
   * Other messages with the same in them, at most ten: of `message`, those that were suppressed because they repeat it; of `held`, those
   * that an interchange of the copy came in as well.
   */
  readonly same: readonly MessageName[];
  readonly handOver: number | null;
}

export interface ReviewDetail {
  readonly item: ReviewItem;
  readonly routing: Routing;
  readonly warnings: readonly string[];
  readonly payloads: readonly StoredPayload[];
  readonly contentDigest: Uint8Array;
}

/**
 * - `approve`: delivers it now (of `unknown`: again, marked possibleDuplicate).
 * - `reject`: never delivers it. Of `message` and `held`: its interchange keys no longer stand in the way of a corrected one.
 * - `confirm`: only `unknown`: the operator has seen that the backend has it.
 */
export type ReviewAction = 'approve' | 'reject' | 'confirm';

/** What came of an operator's order. `text` is a sentence for stderr that says what to do. */
export type OperatorOutcome =
  | {
      readonly kind: 'done';
      readonly message: number;
      readonly messageId: string;
      /** Null when the order touched no hand-over (a conflict that was only evidence). */
      readonly handOver: number | null;
      readonly state: HandOverState;
      /** As in the list: what was suppressed as its repeat, and now is not delivered either, or what came with an approved copy's interchange. */
      readonly same?: readonly MessageName[];
      /** Nothing had to be changed: it was so already. */
      readonly already: boolean;
    }
  | {
      readonly kind: 'refused';
      readonly reason: 'not-found' | 'state' | 'limit' | 'payload-purged' | 'told-failure' | 'test';
      readonly text: string;
    };

/** One decision as it is stored; nothing in it is a payload or a secret. */
export interface AuditRow {
  readonly id: number;
  readonly at: number;
  /** Row id of the message that was decided on; it may have been purged since. */
  readonly message: number | null;
  readonly sender: string | null;
  readonly messageId: string | null;
  /** `message`, `sbdh`, `edifact`, `x12`: which key decided; null when none did. */
  readonly layer: string | null;
  readonly key: string | null;
  /**
   * First layer: `suppress`, `rebuilt`, `conflict`, `hold`. New messages: `allow`, `review`, `replacePending`, `suppressInterchange`,
   * `test`, or `refuse`. Hand-overs: `supersede` or another event of `states.ts`, or `refusedTransition`. Operators: `approve`, `reject`, `confirm`,
   * `redeliver`, `acknowledge`, `clockIsRight`, and `limited` for one exception too many. Own: `clockDoubted`, `clockAgrees`.
   */
  readonly decision: string;
  readonly rule: string | null;
  readonly policyVersion: string | null;
  readonly stateBefore: string | null;
  readonly stateAfter: string | null;
  /** The message that it was compared with. */
  readonly existing: { readonly id: number; readonly messageId: string } | null;
  /** Until when its key is remembered, epoch ms. */
  readonly windowExpires: number | null;
  readonly remoteAddress: string | null;
  readonly fingerprint: string | null;
  /** Lower-case hex. */
  readonly referenceSet: string | null;
  readonly actor: Omit<Actor, 'reason'> | null;
  readonly reason: string | null;
  /** What else is known, by decision: warnings, the verdict on each interchange, numbers of hand-overs. */
  readonly detail: Readonly<Record<string, unknown>>;
}

/** All that `audit show` tells of a message, oldest first. */
export interface AuditStory {
  readonly summary: MessageSummary;
  readonly routing: Routing;
  readonly warnings: readonly string[];
  readonly interchanges: readonly { readonly layer: string; readonly key: string; readonly label: string }[];
  /** Until when its MessageId is remembered; null when that is over. */
  readonly windowExpires: number | null;
  readonly rows: readonly AuditRow[];
  /** Copies that came too often for a row each, by the hour. */
  readonly counters: readonly {
    readonly hour: number;
    readonly decision: string;
    readonly count: number;
    readonly lastAt: number;
  }[];
  readonly handOvers: readonly {
    readonly number: number;
    readonly redelivery: number;
    readonly state: HandOverState;
    readonly directory: string | null;
    readonly reason: string | null;
    readonly at: number;
  }[];
  readonly held: readonly ReviewItem[];
  /** The message whose interchange this one repeats; and those that repeat this one's. */
  readonly duplicateOf: { readonly id: number; readonly messageId: string } | null;
  readonly duplicates: readonly { readonly id: number; readonly messageId: string; readonly receivedAt: number }[];
}

/** The running hash over the decisions: SHA-256 of (hash before, row), beginning at the last checkpoint. */
export interface AuditHash {
  /** Id of the last row in it; 0 when there is none. */
  readonly upTo: number;
  /** Lower-case hex. */
  readonly hash: string;
  /** Id of the last row that was purged, where the chain restarts with the hash recorded there; 0: nothing was purged. */
  readonly since: number;
}

export interface BackupReport {
  readonly bytes: number;
  readonly files: number;
  /** Content files that purge took away meanwhile; the copy says of them that they are purged. */
  readonly missing: number;
}

/** The operator's side of the store. An exception changes one message, never a rule. */
export interface OperatorStore {
  /** What waits for an operator, the oldest first. */
  reviews(o: { limit: number }): Promise<ReviewItem[]>;
  /** Of all that is in review and has a receipt, how many and since when (epoch ms) the oldest. */
  waitingReviews(): Promise<{ readonly count: number; readonly oldest: number | null }>;
  /** @param id as in `ReviewItem`, or a MessageId when one thing of it waits */
  reviewDetail(id: string): Promise<ReviewDetail | null>;
  review(id: string, action: ReviewAction, actor: Actor, now: number): Promise<OperatorOutcome>;
  /** A new hand-over of a message that was delivered, rejected or suppressed. @param id row id or MessageId */
  redeliver(id: string, actor: Actor, now: number): Promise<OperatorOutcome>;
  /**
   * The backend, or an operator for it (actor), says that it has it. Idempotent; a terminal state is never lowered.
   * @param idOrDirectory row id, MessageId, or the name of a directory in the inbox
   */
  acknowledge(idOrDirectory: string, actor: Actor | null, now: number): Promise<OperatorOutcome>;
  audit(id: string): Promise<AuditStory | null>;
  /** Decisions of [from, to), epoch ms, in the order in which they were made. */
  auditRange(from: number, to: number): AsyncGenerator<AuditRow>;
  /** Takes the rows since the last time into the running hash. */
  auditHash(now: number): Promise<AuditHash>;
  /** Goes over all rows since the last checkpoint: null when they agree with what was recorded, else a sentence that says where not. */
  verifyAudit(): Promise<string | null>;
  /** Records that the clock is right although it jumped: windows and purge go on. */
  clockIsRight(actor: Actor, now: number): Promise<void>;
  /** A consistent copy while others write: the database to `file`, payload files to `file` + `.content`. Never overwrites. */
  backup(file: string): Promise<BackupReport>;
}
