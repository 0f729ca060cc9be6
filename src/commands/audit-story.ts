import type { AuditRow, AuditStory } from '../store/operator-types.ts';
import { counterSentence, sentenceOf } from './audit-sentences.ts';
import { moment, oneLine } from './plain.ts';

/** Something that happened, and what stands behind it. */
interface Event {
  readonly at: number;
  readonly told: string;
  readonly grounds: readonly string[];
}

/** What each state of a message means to somebody who has not read about states. */
const states: Readonly<Record<string, string>> = {
  received: 'accepted; it waits for the inbox',
  handingOver: 'being put into the inbox',
  delivered: 'delivered to the inbox',
  acknowledged: 'delivered, and the backend has said that it has it',
  review: 'kept back; it waits for an operator (quittance review show)',
  rejected: 'rejected by an operator; it is not delivered',
  superseded: 'replaced by a later message; it is not delivered',
  unknown: 'nobody knows whether the backend has it; it waits for an operator (quittance review show)',
  undeliverable: 'it could not be put into the inbox; it waits for an operator (quittance review show)',
  suppressed: 'received before in another message; it is not delivered again',
  test: 'a ping; there is nothing to deliver',
  none: 'never meant for the inbox',
};

/** The story of one message, a line an entry, in order of time: what came, what was decided, by which rule, by whom and why. */
export function tellStory(story: AuditStory): string[] {
  const grounds = new Grounds();
  const told: Event[] = story.rows.map((row) => ({
    at: row.at,
    told: sentenceOf(row, story),
    grounds: grounds.of(row),
  }));
  for (const c of story.counters) told.push({ at: c.lastAt, told: counterSentence(c), grounds: [] });
  told.push(...arrivalsInInbox(story));
  // Stable: what has the same millisecond stays in the order in which it was decided.
  told.sort((a, b) => a.at - b.at);
  return [
    ...head(story),
    '',
    ...told.flatMap((e) => [`${moment(e.at)}  ${e.told}`, ...e.grounds.map((g) => `${' '.repeat(25)}${g}`)]),
    ...tail(story),
  ];
}

/** That a directory appeared is in the row of the hand-over and not among the decisions: one more row a message would cost more than it tells. */
function arrivalsInInbox(story: AuditStory): Event[] {
  // A confirmed one never appeared, as far as we know: somebody found that the backend has it.
  const told = story.rows.filter((r) => r.decision === 'delivered' || r.decision === 'confirm');
  const recorded = new Set(told.map((r) => r.detail.number));
  return story.handOvers
    .filter((h) => h.state === 'delivered' && !recorded.has(h.number))
    .map((h) => ({ at: h.at, told: `Hand-over ${h.number} was put into the inbox.`, grounds: [] }));
}

function head(story: AuditStory): string[] {
  const { summary: m, routing: r, warnings, interchanges, duplicateOf } = story;
  const party = (p: { scheme: string | null; value: string } | null) => (p ? oneLine(p.value) : '-');
  return [
    `Message ${oneLine(m.messageId)} of ${m.sender} (number ${m.id})`,
    `  from ${party(r.originalSender)} to ${party(r.finalRecipient)}, document type ${party(r.documentType)}`,
    ...interchanges.map((i) => `  ${i.layer}: ${oneLine(i.label)}`),
    ...warnings.map((w) => `  warning: ${oneLine(w)}`),
    `  now: ${states[m.state] ?? m.state}`,
    `  ${remembered(story)}`,
    ...(duplicateOf ? [`  it repeats message ${oneLine(duplicateOf.messageId)} (number ${duplicateOf.id})`] : []),
  ];
}

function remembered({ windowExpires, rows }: AuditStory): string {
  if (windowExpires !== null) return `its MessageId is remembered until ${moment(windowExpires)}`;
  const first = rows.find((r) => r.decision === 'approve' && r.detail.held !== undefined)?.existing;
  if (first) return `its MessageId was used before: it is remembered with message number ${first.id}`;
  return 'its MessageId is not remembered any more: the same one would be taken for a new message';
}

function tail({ handOvers, held, duplicates }: AuditStory): string[] {
  const lines: string[] = [];
  if (handOvers.length > 0) lines.push('', 'Hand-overs to the backend:');
  for (const h of handOvers) {
    const again = h.redelivery > 0 ? `, redelivery ${h.redelivery}${h.reason ? ` (${oneLine(h.reason)})` : ''}` : '';
    const where = h.directory === null ? '' : `, directory ${h.directory}`;
    lines.push(`  ${h.number}: ${h.state} since ${moment(h.at)}${again}${where}`);
  }
  if (held.length > 0) lines.push('', 'Copies with another content:');
  for (const item of held) {
    lines.push(`  ${item.id}: since ${moment(item.since)}, ${repeated(item.repeats)}. ${oneLine(item.why)}`);
  }
  if (duplicates.length > 0) lines.push('', 'Messages that repeat its interchange, and were not delivered:');
  for (const d of duplicates) lines.push(`  ${oneLine(d.messageId)} (number ${d.id}), ${moment(d.receivedAt)}`);
  return lines;
}

function repeated(n: number): string {
  return n === 0 ? 'not repeated' : n === 1 ? 'repeated once' : `repeated ${n} times`;
}

/** Rule, window and evidence behind each decision; said again only when they have changed since the line before. */
class Grounds {
  readonly #said = new Map<string, string>();

  of(row: AuditRow): string[] {
    const rule = row.rule === null ? null : `by rule "${oneLine(row.rule)}" of policy ${row.policyVersion ?? '-'}`;
    const window = row.windowExpires === null ? null : `remembered until ${moment(row.windowExpires)}`;
    return [
      ...this.#new('rule', rule),
      ...this.#new('window', window),
      ...this.#new('certificate', row.fingerprint && `evidence: signer's certificate, sha256 ${row.fingerprint}`),
      ...this.#new('references', row.referenceSet && `evidence: signed digests, sha256 ${row.referenceSet}`),
    ];
  }

  #new(kind: string, line: string | null): string[] {
    if (line === null || this.#said.get(kind) === line) return [];
    this.#said.set(kind, line);
    return [line];
  }
}
