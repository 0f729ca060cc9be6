import type { Db } from './database.ts';
import type { Actor } from './operator-types.ts';

/** Suppressions of a message that get a decision row each; later ones are counted by the hour (architecture §3). */
export const suppressionRows = 100;
const hourMs = 3_600_000;

/** One row of the audit; absent parts are null. No payload, no secret. */
export interface Decision {
  readonly at: number;
  readonly decision: string;
  readonly message: number | null;
  readonly id: { readonly sender: string; readonly messageId: string | null } | null;
  readonly layer?: string | null;
  readonly key?: string | null;
  readonly rule?: string | null;
  /** Absent: that under which the message was taken. */
  readonly policyVersion?: string | null;
  readonly before?: string | null;
  readonly after?: string | null;
  readonly existing?: { readonly id: number; readonly messageId: string } | null;
  readonly windowExpires?: number | null;
  readonly remoteAddress?: string | null;
  readonly fingerprint?: string | null;
  readonly referenceSet?: Uint8Array | null;
  readonly actor?: Actor | null;
  /** Why, when nobody ordered it. */
  readonly reason?: string | null;
  readonly detail?: object | null;
}

export interface Audit {
  decide(d: Decision): void;
  /** Counts one more copy of a message and records it, as a row of its own or in the hour's counter. */
  suppressed(d: Decision & { readonly message: number }): void;
  /** Only the hour's counter. */
  counted(at: number, message: number, decision: string): void;
}

export function prepareAudit(db: Db): Audit {
  const insert = db.prepare(
    `INSERT INTO decision (at, message, sender, message_id, layer, key, decision, rule, policy_version, state_before, state_after,
       existing, existing_message_id, window_expires, remote_address, fingerprint, reference_set, actor, os_user, host, reason, detail)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, coalesce(?, (SELECT policy_version FROM message WHERE id = ?)), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const count = db
    .prepare('UPDATE message SET suppressions = suppressions + 1 WHERE id = ? RETURNING suppressions')
    .pluck();
  const counter = db.prepare(
    `INSERT INTO suppression (message, hour, decision, count, last_at) VALUES (?, ?, ?, 1, ?)
     ON CONFLICT DO UPDATE SET count = count + 1, last_at = excluded.last_at`,
  );
  const audit: Audit = {
    decide({ at, decision, message, id, actor = null, existing = null, detail = null, ...d }) {
      const what = [at, message, id?.sender ?? null, id?.messageId ?? null, d.layer ?? null, d.key ?? null, decision];
      const by = [d.rule ?? null, d.policyVersion ?? null, message, d.before ?? null, d.after ?? null];
      const compared = [existing?.id ?? null, existing?.messageId ?? null, d.windowExpires ?? null];
      const evidence = [d.remoteAddress ?? null, d.fingerprint ?? null, d.referenceSet ?? null];
      const who = [actor?.by ?? null, actor?.osUser ?? null, actor?.host ?? null, actor?.reason ?? d.reason ?? null];
      insert.run(...what, ...by, ...compared, ...evidence, ...who, detail === null ? null : JSON.stringify(detail));
    },
    suppressed(d) {
      const copies = count.get(d.message) as number | undefined;
      // Purged between the answer and this record: the decision row still tells of it.
      if (copies === undefined || copies <= suppressionRows) audit.decide(d);
      else audit.counted(d.at, d.message, d.decision);
    },
    counted(at, message, decision) {
      counter.run(message, at - (at % hourMs), decision, at);
    },
  };
  return audit;
}
