/** A content that is stored under a key and that no operator has rejected. */
export interface StoredContent {
  /** Null: it came earlier in this very payload. */
  readonly message: { readonly id: number; readonly messageId: string } | null;
  readonly content: Uint8Array;
  readonly dateTime: string | null;
  /** Until when the key is remembered for it, epoch ms. */
  readonly end: number;
  readonly live: boolean;
  /** Nobody got it, and nobody will: a later one took its place before it was handed over. */
  readonly replaced: boolean;
}

/**
 * - `repeat`: this very content is stored under the key.
 * - `reset`: another content with another date-time in its envelope: the partner's counter began anew.
 * - `conflict`: another content, and nothing that says it is another interchange.
 * - `expired`: only contents whose window has passed.
 */
export type KeyVerdict = 'new' | 'expired' | 'repeat' | 'reset' | 'conflict';

export interface JudgedKey {
  readonly layer: string;
  readonly key: string;
  readonly label: string;
  readonly verdict: KeyVerdict;
  /** What decided; null for `new`. */
  readonly existing: StoredContent | null;
}

/** Whether nothing tells two contents under one key apart: a counter that began anew shows by another date-time on both sides. */
export function mayBeSame(a: Pick<StoredContent, 'dateTime'>, b: Pick<StoredContent, 'dateTime'>): boolean {
  return a.dateTime === null || b.dateTime === null || a.dateTime === b.dateTime;
}

/** Compares one interchange with every content stored under its key. */
export function judgeKey(
  own: { readonly content: Buffer; readonly dateTime: string | null },
  stored: readonly StoredContent[],
): { verdict: KeyVerdict; existing: StoredContent | null } {
  const live = stored.filter((s) => s.live);
  const [first] = live;
  if (!first) return stored[0] ? { verdict: 'expired', existing: stored[0] } : { verdict: 'new', existing: null };
  // What stands decides before what was replaced.
  const among = (which: (s: StoredContent) => boolean) => live.find((s) => !s.replaced && which(s)) ?? live.find(which);
  const same = among((s) => own.content.equals(s.content));
  if (same) return { verdict: 'repeat', existing: same };
  const clash = among((s) => mayBeSame(own, s));
  return clash ? { verdict: 'conflict', existing: clash } : { verdict: 'reset', existing: first };
}

export interface InterchangeVerdict {
  readonly decision: 'allow' | 'suppress' | 'review' | 'replacePending';
  /** The key that decided; null when none of them was known. */
  readonly by: JudgedKey | null;
  readonly outsideWindow: boolean;
  readonly warnings: readonly string[];
}

export interface VerdictRules {
  readonly onConflict: 'review' | 'allow' | 'suppress';
  /** What of the message has no key. That its keys are known says nothing of it. */
  readonly unkeyed: readonly string[];
  /** The stored message that has this key with this content and is, as a whole, the same as this one; asked where something has no key. */
  readonly sameWhole: (repeat: JudgedKey) => StoredContent | null;
  /** Whether the messages that hold these keys may all still be replaced by this one; asked only when the rule allows it. */
  readonly replaceable: ((keys: readonly JudgedKey[]) => boolean) | null;
}

/** The second layer's decision about a whole payload. A payload is never split: where only a part of it repeats, people decide. */
export function decideInterchanges(keys: readonly JudgedKey[], rules: VerdictRules): InterchangeVerdict {
  const of = (verdict: KeyVerdict, among = keys) => among.filter((k) => k.verdict === verdict);
  const outsideWindow = keys.some((k) => k.verdict === 'expired');
  const verdict = (
    decision: InterchangeVerdict['decision'],
    by: JudgedKey | null,
    warnings: readonly string[],
  ): InterchangeVerdict => ({ decision, by, outsideWindow, warnings });

  const sbdh = keys.filter((k) => k.layer === 'sbdh');
  const inside = keys.filter((k) => k.layer !== 'sbdh');
  const [sameInstance] = of('repeat', sbdh);
  if (sameInstance) return verdict('suppress', sameInstance, []);
  const repeats = of('repeat', inside);
  const repeat = unheard(repeats) ?? repeats[0];
  if (repeat && repeats.length === inside.length) {
    const [otherwise] = of('conflict', sbdh);
    // The very instance that was received, and yet not the same: to somebody else, or with something beside it.
    if (otherwise && rules.onConflict !== 'suppress') {
      const what = `${otherwise.label} was received before${named(otherwise)} with other content`;
      return verdict('review', otherwise, [what, ...repeats.map(came)]);
    }
    if (rules.unkeyed.length === 0) return verdict('suppress', repeat, []);
    const whole = rules.sameWhole(repeat);
    if (whole) return verdict('suppress', { ...repeat, existing: whole }, []);
    return verdict('review', repeat, [...repeats.map(came), cannotCompare(rules.unkeyed)]);
  }
  if (repeat) {
    const fresh = inside.filter((k) => k.verdict !== 'repeat').map((k) => k.label);
    const without = rules.unkeyed.length > 0 ? [cannotCompare(rules.unkeyed)] : [];
    return verdict('review', repeat, [...repeats.map(came), `not received before: ${fresh.join(', ')}`, ...without]);
  }

  const conflicts = of('conflict');
  const resets = of('reset');
  const [conflict] = conflicts;
  const expired = of('expired').map((k) => `${k.label} is known from a time before the duplicate window`);
  const begun = resets.map(
    (k) =>
      `${k.label} was received before${named(k)} with other content and another date-time: the partner's counter seems to have begun anew`,
  );
  // Another date-time makes it another interchange, and that takes nobody's place.
  if (conflict && rules.replaceable?.(conflicts)) return verdict('replacePending', conflict, [...begun, ...expired]);
  if (conflict) {
    const what = conflicts.map((k) => `${k.label} was received before${named(k)} with other content`);
    // What is known by the SBDH's instance alone may still hold interchanges that nobody has had.
    const known = of('conflict', inside).length === inside.length && rules.unkeyed.length === 0;
    const partly = rules.onConflict === 'suppress' && !known;
    const by = rules.onConflict === 'suppress' ? (unheard(conflicts) ?? conflict) : conflict;
    return verdict(partly ? 'review' : rules.onConflict, by, [...what, ...begun, ...expired]);
  }
  return verdict('allow', resets[0] ?? of('expired')[0] ?? null, [...begun, ...expired]);
}

/** The first key that is known only by what was replaced before anybody got it: for that, nothing is suppressed. */
function unheard(keys: readonly JudgedKey[]): JudgedKey | undefined {
  return keys.find((k) => k.existing?.replaced);
}

function cannotCompare(unkeyed: readonly string[]): string {
  return `it cannot be told whether this came before: ${unkeyed.join(', ')}`;
}

function came(k: JudgedKey): string {
  if (k.existing?.message === null) return `${k.label} is in this payload twice`;
  return `${k.label} was received before${named(k)}`;
}

function named(k: JudgedKey): string {
  if (!k.existing) return '';
  return k.existing.message === null ? ' in this very payload' : ` in message ${k.existing.message.messageId}`;
}
