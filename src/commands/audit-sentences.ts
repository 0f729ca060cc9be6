import type { AuditRow, AuditStory } from '../store/operator-types.ts';
import { moment, oneLine } from './plain.ts';

type Other = AuditRow['existing'];
type Tell = (row: AuditRow, story: AuditStory) => string;

/** How a copy was recognised (`Suppression.how`). */
const recognised: Readonly<Record<string, string>> = {
  'same-bytes': 'every byte of it was the same',
  'same-references': 'it had the same signed digests',
  waited: 'it came while the first one was still being worked on',
};

/** Events that came when the hand-over was past them. */
const eventNames: Readonly<Record<string, string>> = {
  handOver: 'The order to hand over',
  delivered: 'The report that it is in the inbox',
  acknowledge: 'An acknowledgement',
  fail: 'The report of a failure',
  giveUp: 'The report of the last failure',
  redeliverAfterPowerLoss: 'The order to hand over again after a power loss',
  reviewAfterPowerLoss: 'The order to keep back after a power loss',
  lost: 'The report that its fate is unknown',
  restored: 'The report that the database is a restored copy',
  release: 'An approval',
  reject: 'A rejection',
  supersede: 'A later message that would replace it',
  confirm: 'A confirmation',
};

/** One sentence or two for each kind of decision; a reader needs no manual. */
const sentences: Readonly<Record<string, Tell>> = {
  allow: (r) =>
    r.existing === null
      ? `${arrived(r)}. It was new: it got its receipt and was accepted for the inbox.${warned('Worth knowing', r)}`
      : `${arrived(r)}. It was compared with ${other(r.existing)} and found to be another one: it got its receipt and was accepted for the inbox.${warned('Worth knowing', r)}`,
  review: (r) =>
    `${arrived(r)}. It got its receipt, and was kept back for an operator to decide.${warned('Why', r)}` +
    `${r.existing ? ` It was compared with ${other(r.existing)}.` : ''}`,
  replacePending: (r, story) =>
    `${arrived(r)}. It carries ${what(r, story)}, like ${other(r.existing)}, which was still waiting: by rule it takes that one's place. It got its receipt and was accepted for the inbox.`,
  suppressInterchange: (r, story) =>
    `${arrived(r)}, under a new MessageId. But ${what(r, story)} had come before, in ${other(r.existing)}: it got a receipt of its own, and nothing is delivered twice.`,
  test: (r) => `${arrived(r)}. It is a ping: it got its receipt, and there is nothing to deliver.`,
  stale: (r) =>
    `${arrived(r)}, and was refused: its signed time is older than the window, so it may be a replay of something forgotten since. The sender was told that it failed.`,
  suppress: (r, story) =>
    `${isHeldCopy(r, story) ? 'The held copy' : 'The same message'} came again${from(r)}${how(r)}. It got the stored receipt once more; nothing was delivered.`,
  rebuilt: (r) =>
    `The same content came again under the same MessageId${from(r)}, with headers made anew. It got a receipt; nothing was delivered.`,
  conflict: (r) =>
    `Another content came under the same MessageId${from(r)}. Its sender was told that it failed (EBMS:0003); that copy is kept as evidence and is never delivered.`,
  hold: (r) =>
    `Another content came under the same MessageId${from(r)}. It got a receipt of its own and is held for an operator to decide.`,

  handOver: (r) => `${handOver(r)} was begun.`,
  delivered: (r) => `${handOver(r)} was put into the inbox.`,
  acknowledge: (r) =>
    r.actor
      ? `${person(r)} said for the backend that it has ${lower(handOver(r))}.`
      : `The backend said that it has ${lower(handOver(r))}.`,
  fail: (r) => `${handOver(r)} failed and will be tried again.${said('What went wrong', r)}`,
  giveUp: (r) =>
    `${handOver(r)} failed for good: it is undeliverable until an operator decides.${said('What went wrong', r)}`,
  redeliverAfterPowerLoss: (r) =>
    `A power loss hides whether the backend saw ${lower(handOver(r))}: it is handed over again, marked as a possible duplicate.`,
  reviewAfterPowerLoss: (r) =>
    `A power loss hides whether the backend saw ${lower(handOver(r))}: it is kept back for an operator to decide.`,
  lost: (r) =>
    `Whether the backend has ${lower(handOver(r))} cannot be known: the folders were not those of this database, or a directory vanished. It waits for an operator.`,
  restored: (r) =>
    `This database is a restored copy: whether the backend has ${lower(handOver(r))} cannot be known. It waits for an operator.`,
  release: (r) => `${handOver(r)} was released for the inbox.`,
  reject: (r) =>
    r.stateBefore === 'evidence'
      ? `${person(r)} settled the ${copy(r)}, whose sender was told that it failed; it stays as evidence.${said('The reason', r)}`
      : r.actor
        ? `${person(r)} decided that ${heldCopy(r) ?? 'it'} is not delivered.${said('The reason', r)}`
        : `${handOver(r)} was rejected: it is never delivered.`,
  supersede: (r) =>
    `A later message${r.existing ? ` (${oneLine(r.existing.messageId)}, number ${r.existing.id})` : ''} takes the place of ${lower(handOver(r))}, which is not delivered.`,
  approve: (r) => {
    const who = heldCopy(r) && r.existing ? `the ${copy(r)} of ${other(r.existing)}` : 'it';
    return `${person(r)} approved ${who}, so it goes to the inbox.${said('The reason', r)}`;
  },
  confirm: (r) =>
    r.actor
      ? `${person(r)} has seen that the backend has it: ${lower(handOver(r))} counts as delivered.${said('The reason', r)}`
      : `${handOver(r)} counts as delivered.`,
  redeliver: (r) => `${person(r)} had it handed over again, in a directory of its own.${said('The reason', r)}`,
  refusedTransition: (r) =>
    `${eventNames[text(r, 'event') ?? ''] ?? `The event "${text(r, 'event')}"`} came too late for ${lower(handOver(r))}, which was in state ${state(r)}. Nothing was changed.`,

  limited: (r) => `${person(r)} was refused an exception, since there had been too many within an hour.`,
  clockDoubted: () =>
    'The clock jumped: nothing expires and nothing is purged until an operator says that it is right.',
  clockAgrees: () => 'The clock agrees again with what it was before it jumped.',
  clockIsRight: (r) => `${person(r)} said that the clock is right.${said('The reason', r)}`,
};

/** What a decision was, in plain words. One that this version does not know is told as it is stored. */
export function sentenceOf(row: AuditRow, story: AuditStory): string {
  const tell = sentences[row.decision];
  return tell ? tell(row, story) + aboutSigner(row) : `${row.decision}: ${oneLine(JSON.stringify(row.detail))}`;
}

/** A sentence for each hour in which copies came too often for a line each. */
export function counterSentence({ decision, count, hour, lastAt }: AuditStory['counters'][number]): string {
  const what =
    decision === 'conflict' || decision === 'hold'
      ? 'with another content came under the same MessageId'
      : 'of it came again; each got a stored receipt, and nothing was delivered';
  return `In the hour from ${moment(hour).slice(11, 16)} on, ${count} more ${count === 1 ? 'copy' : 'copies'} ${what}. Too many for a line each; the last at ${moment(lastAt).slice(11)}.`;
}

function arrived(r: AuditRow): string {
  return `It arrived for the first time${from(r)}`;
}

function from(r: AuditRow): string {
  return r.remoteAddress === null ? '' : ` from ${r.remoteAddress}`;
}

function how(r: AuditRow): string {
  const words = recognised[text(r, 'how') ?? ''];
  return words === undefined ? '' : ` (${words})`;
}

/** What a person or the file system said, set off from our own words. */
function said(what: string, r: AuditRow): string {
  const words = oneLine(r.reason ?? '').replace(/\.$/, '');
  return words === '' ? '' : ` ${what}: ${words}.`;
}

function other(existing: Other): string {
  return existing === null ? 'another message' : `message ${oneLine(existing.messageId)} (number ${existing.id})`;
}

/** What was not known of whoever signed it when it was accepted. */
function aboutSigner({ detail }: AuditRow): string {
  return Array.isArray(detail.signer) ? ` Of its signer: ${oneLine(detail.signer.map(String).join('; '))}.` : '';
}

/** Which interchange it was that decided, as people call it. */
function what(r: AuditRow, { interchanges }: AuditStory): string {
  const label = interchanges.find(({ layer, key }) => layer === r.layer && key === r.key)?.label;
  return oneLine(label ?? `interchange ${r.key ?? '(unknown)'}`);
}

/** What made the decision doubtful, or is worth a word. */
function warned(lead: string, r: AuditRow): string {
  const warnings = Array.isArray(r.detail.warnings) ? r.detail.warnings.map(String) : [];
  return said(lead, { ...r, reason: warnings.length === 0 ? r.reason : warnings.join('; ') });
}

/** A repeat is recorded with the first message of its id; which content it had shows in its signed digests. */
function isHeldCopy({ referenceSet }: AuditRow, { rows }: AuditStory): boolean {
  return referenceSet !== null && rows.some((r) => r.decision === 'hold' && r.referenceSet === referenceSet);
}

function heldCopy(r: AuditRow): string | null {
  return typeof r.detail.held === 'number' ? `the ${copy(r)}` : null;
}

function copy(r: AuditRow): string {
  return `copy held-${String(r.detail.held)}`;
}

function handOver(r: AuditRow): string {
  const number = r.detail.handOver ?? r.detail.number;
  return typeof number === 'number' ? `Hand-over ${number}` : 'Its hand-over';
}

function lower(words: string): string {
  return words.charAt(0).toLowerCase() + words.slice(1);
}

function state(r: AuditRow): string {
  return r.stateBefore ?? text(r, 'state') ?? 'past it';
}

function person({ actor }: AuditRow): string {
  return actor === null ? 'An operator' : `${oneLine(actor.by)} (${oneLine(actor.osUser)} on ${oneLine(actor.host)})`;
}

function text(r: AuditRow, name: string): string | null {
  const value = r.detail[name];
  return typeof value === 'string' ? oneLine(value) : null;
}
