import { ModelHandOvers, type ModelMessage, type Orders, settled } from './model-hand-overs.ts';
import { decide, mayBeSame, type Verdict } from './model-verdict.ts';

/** What a sender signs: whoever sends the same form again sends the same bytes. */
export interface Form {
  /** Names the bytes, and stands for the reference set. */
  readonly refs: string;
  readonly sender: string;
  readonly messageId: string;
  readonly content: string;
  readonly timestamp: number;
  readonly purpose: 'deliver' | 'review' | 'test';
  readonly keys: readonly FormKey[];
}
export interface FormKey {
  readonly layer: 'sbdh' | 'edifact';
  /** With the scope: what two interchanges must share to be compared. */
  readonly name: string;
  readonly content: string;
  readonly dateTime: string | null;
}
export interface Policy {
  readonly window: number;
  readonly conflict: 'reject' | 'hold';
  readonly outsideWindow: 'deliver' | 'review';
  readonly staleTimestamp: 'review' | 'deliver' | 'refuse';
  readonly onConflict: 'review' | 'allow' | 'suppress';
  readonly replacePending: boolean;
  readonly rebuilt: 'own-receipt' | 'first-receipt';
}
export interface ModelHeld {
  readonly form: Form;
  readonly first: ModelMessage;
  readonly at: number;
  lastAt: number;
  state: 'evidence' | 'dismissed' | 'review' | 'approved' | 'rejected';
  readonly receipts: Map<string, string>;
  payload: boolean;
}
interface Entry extends FormKey {
  readonly message: ModelMessage;
  readonly end: number;
  rejected: boolean;
}
export interface Arrival {
  readonly kind: 'duplicate' | 'rebuilt' | 'conflict' | 'held' | 'stale' | 'suppressed' | 'accepted';
  /** The message that it is, or that it was compared with; null: nothing is stored. */
  readonly message: ModelMessage | null;
  readonly answer: string | null;
}

/**
 * What the duplicate engine promises, as a few maps, written from the rules and not from the code: the first layer compares MessageIds,
 * the second one interchanges, an operator decides about what waits, and time forgets what is settled and past its window.
 */
export class Model extends ModelHandOvers {
  readonly policy: Policy;
  readonly holders = new Map<string, ModelMessage>();
  readonly held: ModelHeld[] = [];
  #entries: Entry[] = [];

  constructor(policy: Policy) {
    super();
    this.policy = policy;
  }

  /** @param receipt what would be given, @param now the receiver's clock, @param judged the time by which windows are judged */
  arrive(form: Form, receipt: string, now: number, judged: number): Arrival {
    const holder = this.holders.get(idOf(form));
    const known = holder !== undefined && holder.end > judged;
    return known ? this.#again(holder, form, receipt, now) : this.#fresh(form, holder, receipt, now, judged);
  }

  /** The receipt that these bytes must get now, whoever asks; null: none was given in this window. */
  receiptOf(form: Form, judged: number): string | null {
    const holder = this.holders.get(idOf(form));
    if (holder === undefined || holder.end <= judged) return null;
    const copies = this.held.filter((h) => idOf(h.form) === idOf(form));
    return (
      holder.receipts.get(form.refs) ?? copies.find((h) => h.receipts.has(form.refs))?.receipts.get(form.refs) ?? null
    );
  }

  #again(holder: ModelMessage, form: Form, receipt: string, now: number): Arrival {
    const answer = this.receiptOf(form, 0);
    if (answer !== null) return { kind: 'duplicate', message: holder, answer };
    const give = (receipts: Map<string, string>): string => {
      const [first] = receipts.values();
      if (first !== undefined && this.policy.rebuilt === 'first-receipt') return first;
      receipts.set(form.refs, receipt);
      return receipt;
    };
    if (form.content === holder.form.content)
      return { kind: 'rebuilt', message: holder, answer: give(holder.receipts) };
    let copy = this.held.find((h) => idOf(h.form) === idOf(form) && h.form.content === form.content);
    if (copy === undefined) {
      const state = this.policy.conflict === 'hold' && form.purpose !== 'test' ? 'review' : 'evidence';
      copy = { form, first: holder, at: now, lastAt: now, state, receipts: new Map(), payload: true };
      this.held.push(copy);
    }
    copy.lastAt = now;
    const failed = copy.state === 'evidence' || copy.state === 'dismissed';
    return failed
      ? { kind: 'conflict', message: holder, answer: null }
      : { kind: 'held', message: holder, answer: give(copy.receipts) };
  }

  /** The latest time that a purge which forgot a key went by: what ended before it is over, also when the clock is set back behind it. */
  purgedUpTo = 0;

  #fresh(form: Form, holder: ModelMessage | undefined, receipt: string, now: number, judged: number): Arrival {
    const stale = form.purpose !== 'test' && form.timestamp + this.policy.window <= Math.max(judged, this.purgedUpTo);
    if (stale && this.policy.staleTimestamp === 'refuse') return { kind: 'stale', message: null, answer: null };
    const waits = form.purpose === 'review' || (stale && this.policy.staleTimestamp === 'review');
    const verdicts = this.#verdicts(form, judged);
    const outside = holder !== undefined || verdicts.some((v) => v.verdict === 'expired');
    const kept = waits || (outside && this.policy.outsideWindow === 'review');
    const targets = this.policy.replacePending && !kept ? this.#replaceable(form, verdicts, judged) : [];
    const decided = decide(verdicts, targets.length > 0, this.policy.onConflict);
    const decision = decided === 'suppress' && !this.#stands(verdicts, judged) ? 'review' : decided;
    const base = Math.max(now, form.timestamp);
    const message = this.add(form, base, base + this.policy.window, now);
    message.receipts.set(form.refs, receipt);
    if (holder !== undefined) holder.expired = true;
    this.holders.set(idOf(form), message);
    if (decision === 'suppress') return { kind: 'suppressed', message, answer: receipt };
    this.#remember(form, message, message.end);
    if (form.purpose !== 'test') this.wait(message, kept || decision === 'review' ? 'review' : 'received');
    // What has to wait for an operator itself takes nobody's place: he decides.
    if (decision === 'replace') for (const t of targets) this.apply(t.handOvers[0]!, 'supersede');
    return { kind: 'accepted', message, answer: receipt };
  }

  #remember(form: Form, message: ModelMessage, end: number): void {
    for (const key of form.keys) this.#entries.push({ ...key, message, end, rejected: false });
  }

  #under(name: string, judged: number): Entry[] {
    return this.#entries.filter((e) => e.name === name && !e.rejected && e.end > judged);
  }

  #verdicts(form: Form, judged: number): Verdict[] {
    return form.keys.map((key, i) => {
      const live = [...this.#under(key.name, judged), ...form.keys.slice(0, i).filter((k) => k.name === key.name)];
      const known = this.#entries.some((e) => e.name === key.name && !e.rejected);
      if (live.length === 0) return { key, verdict: known ? 'expired' : 'new' };
      if (live.some((e) => e.content === key.content)) return { key, verdict: 'repeat' };
      // Only a date-time of its own, against every content there is, tells a counter that began anew.
      const another = key.dateTime !== null && live.every((e) => e.dateTime !== null && e.dateTime !== key.dateTime);
      return { key, verdict: another ? 'reset' : 'conflict' };
    });
  }

  /** Whether everything a copy is suppressed for was, or will be, handed over: what only gave its place to a later one was not. */
  #stands(verdicts: readonly Verdict[], judged: number): boolean {
    const of = (verdict: Verdict['verdict']) => verdicts.filter((v) => v.verdict === verdict);
    const instance = of('repeat').filter((v) => v.key.layer === 'sbdh');
    const because = [instance, of('repeat')].find((some) => some.length > 0) ?? of('conflict');
    return because.every(({ key, verdict }) =>
      this.#under(key.name, judged).some(
        (e) => !replaced(e.message) && (verdict === 'repeat' ? e.content === key.content : mayBeSame(e, key)),
      ),
    );
  }

  /** The messages whose place it may take: all under the keys must still wait, unseen, and carry nothing else. */
  #replaceable(form: Form, verdicts: readonly Verdict[], judged: number): ModelMessage[] {
    const contested = verdicts.filter((v) => v.verdict === 'conflict').map((v) => v.key.name);
    const clashes = (a: FormKey) => form.keys.some((k) => k.name === a.name && mayBeSame(k, a));
    const found = contested.flatMap((name) =>
      this.#under(name, judged)
        .filter(clashes)
        .map((e) => e.message),
    );
    const targets = [...new Set(found)].filter((m) => !replaced(m));
    const all = targets.every(
      ({ handOvers: [one, another], form: { keys } }) =>
        one !== undefined &&
        another === undefined &&
        !one.maybeSeen &&
        (one.state === 'received' || one.state === 'review') &&
        keys.every((k) => k.layer === 'sbdh' || clashes(k)),
    );
    return all ? targets : [];
  }

  /** An operator's word about a copy that was held. Gives the message that it becomes; null: there is none to deliver. */
  decideHeld(copy: ModelHeld, action: Orders, now: number): 'refused' | ModelMessage | null {
    const evidence = copy.state === 'evidence' || copy.state === 'dismissed';
    if (evidence && action === 'reject') {
      copy.state = 'dismissed';
      return null;
    }
    const wanted = action === 'approve' ? 'approved' : 'rejected';
    if (!evidence && copy.state === wanted && action !== 'confirm') return null;
    if (evidence || action === 'confirm' || copy.state !== 'review') return 'refused';
    copy.state = wanted;
    if (action === 'reject') return null;
    const base = Math.max(copy.at, copy.form.timestamp);
    const message = this.add(copy.form, base, base + this.policy.window, copy.at);
    message.expired = true;
    message.payloadAt = now;
    this.#remember(copy.form, message, message.end);
    this.wait(message, 'received');
    return message;
  }

  /** What an operator has rejected, and the backend cannot have seen, stands in nobody's way. */
  protected override rejected(message: ModelMessage): void {
    for (const e of this.#entries) if (e.message === message) e.rejected = true;
  }

  /** What is delivered after all is known by its interchanges again, for as long as it is known by its MessageId. */
  protected override redelivered(message: ModelMessage): void {
    const own = this.#entries.filter((e) => e.message === message);
    for (const e of own) e.rejected = false;
    if (this.holders.get(idOf(message.form)) !== message) return;
    for (const key of message.form.keys) {
      if (own.some((e) => e.name === key.name && e.content === key.content)) continue;
      this.#entries.push({ ...key, message, end: message.end, rejected: false });
    }
  }

  purge(now: number, payloads: number, evidence: number): void {
    for (const [id, m] of this.holders) {
      if (m.end > now || !settled(m)) continue;
      this.holders.delete(id);
      m.expired = true;
      this.purgedUpTo = Math.max(this.purgedUpTo, now);
    }
    const kept = this.#entries.filter((e) => e.end > now || !settled(e.message));
    if (kept.length < this.#entries.length) this.purgedUpTo = Math.max(this.purgedUpTo, now);
    this.#entries = kept;
    for (const m of this.messages) {
      if (!settled(m)) continue;
      if (m.payloadAt <= now - payloads) m.payload = false;
      if (m.expired && m.at <= now - Math.max(payloads, evidence)) m.gone = true;
    }
    for (const h of [...this.held]) {
      if (h.state === 'review' || h.lastAt > now - evidence) continue;
      const given = h.state === 'approved' || h.state === 'rejected';
      if (!given || !this.holders.has(idOf(h.form))) this.held.splice(this.held.indexOf(h), 1);
    }
  }
}

export const idOf = (f: Pick<Form, 'sender' | 'messageId'>): string => `${f.sender} ${f.messageId}`;

/** Nobody got it, and nobody will: a later one took its place. */
const replaced = ({ handOvers }: ModelMessage): boolean =>
  handOvers.length > 0 && handOvers.every((h) => h.state === 'superseded');
