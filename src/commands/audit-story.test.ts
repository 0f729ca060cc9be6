import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { AuditRow, AuditStory } from '../store/operator-types.ts';
import { tellStory } from './audit-story.ts';

const T = Date.UTC(2026, 10, 30, 10, 15);
const ALICE = { by: 'Alice', osUser: 'ops', host: 'gw1' };
const OTHER = { id: 12, messageId: 'first@ap' };
const X12 = { interchanges: [{ layer: 'x12', key: '000000042', label: 'X12 interchange 42 of ACME' }] };
let id = 0;

function row(decision: string, changes: Partial<AuditRow> = {}): AuditRow {
  return {
    id: ++id,
    at: T,
    message: 17,
    sender: 'POP000001',
    messageId: 'm@ap',
    layer: null,
    key: null,
    decision,
    rule: null,
    policyVersion: null,
    stateBefore: null,
    stateAfter: null,
    existing: null,
    windowExpires: null,
    remoteAddress: null,
    fingerprint: null,
    referenceSet: null,
    actor: null,
    reason: null,
    detail: {},
    ...changes,
  };
}

function story(rows: readonly AuditRow[], changes: Partial<AuditStory> = {}): AuditStory {
  return {
    summary: {
      id: 17,
      sender: 'POP000001',
      messageId: 'm@ap',
      receivedAt: T,
      purpose: 'deliver',
      state: 'delivered',
      documentType: 'Invoice',
      originalSender: '0208:1',
      finalRecipient: '0208:2',
      receipts: 1,
      suppressions: 0,
    },
    routing: {
      service: 's',
      serviceType: null,
      action: 'a',
      conversationId: 'c',
      originalSender: { scheme: 'iso6523-actorid-upis', value: '0208:1' },
      finalRecipient: { scheme: 'iso6523-actorid-upis', value: '0208:2' },
      documentType: { scheme: 'busdox-docid-qns', value: 'Invoice' },
      process: null,
      instanceIdentifier: 'i-1',
      sbdhCreationDateAndTime: null,
      countryC1: null,
      messageProperties: [],
    },
    warnings: [],
    interchanges: [],
    windowExpires: T + 90 * 86_400_000,
    rows,
    counters: [],
    handOvers: [],
    held: [],
    duplicateOf: null,
    duplicates: [],
    ...changes,
  };
}

/** The one line that tells of a decision. */
function told(decision: string, changes: Partial<AuditRow> = {}, about: Partial<AuditStory> = {}): string {
  const lines = tellStory(story([row(decision, changes)], about));
  return lines[lines.indexOf('') + 1]!.replace('2026-11-30 10:15:00 UTC  ', '');
}

test('the story of a busy message is told in order of time, each ground once', () => {
  const grounds = {
    rule: 'invoices',
    policyVersion: '3f2a9c1b',
    windowExpires: T + 90 * 86_400_000,
    remoteAddress: '192.0.2.7',
    fingerprint: 'ab12',
    referenceSet: 'cd34',
  };
  const lines = tellStory(
    story(
      [
        row('allow', { ...grounds, layer: 'message' }),
        row('suppress', { ...grounds, at: T + 60_000, detail: { how: 'same-bytes' } }),
        row('rebuilt', { ...grounds, at: T + 120_000, referenceSet: 'ef56' }),
        row('conflict', { ...grounds, at: T + 180_000, referenceSet: '7890', fingerprint: 'ba21' }),
        row('acknowledge', { at: T + 7_300_000, detail: { number: 40 } }),
        row('redeliver', { at: T + 7_400_000, actor: ALICE, reason: 'the ERP lost it', detail: { number: 41 } }),
      ],
      {
        warnings: ['the sender signed a time in the future'],
        interchanges: [{ layer: 'edifact', key: 'k', label: 'interchange 4711 of 4012345000009' }],
        counters: [{ hour: T - 15 * 60_000, decision: 'suppress', count: 512, lastAt: T + 1_800_000 }],
        handOvers: [
          { number: 40, redelivery: 0, state: 'acknowledged', directory: 'd_40', reason: null, at: T + 7_300_000 },
          {
            number: 41,
            redelivery: 1,
            state: 'delivered',
            directory: 'd_41',
            reason: 'the ERP lost it',
            at: T + 7_401_000,
          },
        ],
        duplicates: [{ id: 20, messageId: 'again@ap', receivedAt: T + 5000 }],
      },
    ),
  );
  // The documentation shows this very story.
  expect(readFileSync(new URL('../../docs/audit.md', import.meta.url), 'utf8')).toContain(lines.join('\n'));
  expect(lines.join('\n')).toMatchInlineSnapshot(`
    "Message m@ap of POP000001 (number 17)
      from 0208:1 to 0208:2, document type Invoice
      edifact: interchange 4711 of 4012345000009
      warning: the sender signed a time in the future
      now: delivered to the inbox
      its MessageId is remembered until 2027-02-28 10:15:00 UTC

    2026-11-30 10:15:00 UTC  It arrived for the first time from 192.0.2.7. It was new: it got its receipt and was accepted for the inbox.
                             by rule "invoices" of policy 3f2a9c1b
                             remembered until 2027-02-28 10:15:00 UTC
                             evidence: signer's certificate, sha256 ab12
                             evidence: signed digests, sha256 cd34
    2026-11-30 10:16:00 UTC  The same message came again from 192.0.2.7 (every byte of it was the same). It got the stored receipt once more; nothing was delivered.
    2026-11-30 10:17:00 UTC  The same content came again under the same MessageId from 192.0.2.7, with headers made anew. It got a receipt; nothing was delivered.
                             evidence: signed digests, sha256 ef56
    2026-11-30 10:18:00 UTC  Another content came under the same MessageId from 192.0.2.7. Its sender was told that it failed (EBMS:0003); that copy is kept as evidence and is never delivered.
                             evidence: signer's certificate, sha256 ba21
                             evidence: signed digests, sha256 7890
    2026-11-30 10:45:00 UTC  In the hour from 10:00 on, 512 more copies of it came again; each got a stored receipt, and nothing was delivered. Too many for a line each; the last at 10:45:00 UTC.
    2026-11-30 12:16:40 UTC  The backend said that it has hand-over 40.
    2026-11-30 12:18:20 UTC  Alice (ops on gw1) had it handed over again, in a directory of its own. The reason: the ERP lost it.
    2026-11-30 12:18:21 UTC  Hand-over 41 was put into the inbox.

    Hand-overs to the backend:
      40: acknowledged since 2026-11-30 12:16:40 UTC, directory d_40
      41: delivered since 2026-11-30 12:18:21 UTC, redelivery 1 (the ERP lost it), directory d_41

    Messages that repeat its interchange, and were not delivered:
      again@ap (number 20), 2026-11-30 10:15:05 UTC"
  `);
});

test('what came of each message that was new', () => {
  expect(told('allow', { remoteAddress: '::1' })).toMatchInlineSnapshot(
    `"It arrived for the first time from ::1. It was new: it got its receipt and was accepted for the inbox."`,
  );
  expect(
    told('allow', { existing: OTHER, detail: { warnings: ['its id was used before the window'] } }),
  ).toMatchInlineSnapshot(
    `"It arrived for the first time. It was compared with message first@ap (number 12) and found to be another one: it got its receipt and was accepted for the inbox. Worth knowing: its id was used before the window."`,
  );
  expect(told('review', { detail: { warnings: ['its signed time is older than the window'] } })).toMatchInlineSnapshot(
    `"It arrived for the first time. It got its receipt, and was kept back for an operator to decide. Why: its signed time is older than the window."`,
  );
  expect(
    told('review', {
      existing: OTHER,
      layer: 'edifact',
      key: '4711',
      detail: { warnings: ['interchange 4711 came before with another content', 'another word.'] },
    }),
  ).toMatchInlineSnapshot(
    `"It arrived for the first time. It got its receipt, and was kept back for an operator to decide. Why: interchange 4711 came before with another content; another word. It was compared with message first@ap (number 12)."`,
  );
  expect(told('replacePending', { existing: OTHER, layer: 'sbdh', key: 'i-1' })).toMatchInlineSnapshot(
    `"It arrived for the first time. It carries interchange i-1, like message first@ap (number 12), which was still waiting: by rule it takes that one's place. It got its receipt and was accepted for the inbox."`,
  );
  expect(told('suppressInterchange', { existing: OTHER, layer: 'x12', key: '000000042' }, X12)).toMatchInlineSnapshot(
    `"It arrived for the first time, under a new MessageId. But X12 interchange 42 of ACME had come before, in message first@ap (number 12): it got a receipt of its own, and nothing is delivered twice."`,
  );
  expect(told('test')).toMatchInlineSnapshot(
    `"It arrived for the first time. It is a ping: it got its receipt, and there is nothing to deliver."`,
  );
  expect(told('stale')).toMatchInlineSnapshot(
    `"It arrived for the first time, and was refused: its signed time is older than the window, so it may be a replay of something forgotten since. The sender was told that it failed."`,
  );
});

test('what came of each copy', () => {
  expect(told('suppress', { remoteAddress: '::1', detail: { how: 'waited' } })).toMatchInlineSnapshot(
    `"The same message came again from ::1 (it came while the first one was still being worked on). It got the stored receipt once more; nothing was delivered."`,
  );
  expect(told('rebuilt')).toMatchInlineSnapshot(
    `"The same content came again under the same MessageId, with headers made anew. It got a receipt; nothing was delivered."`,
  );
  expect(told('conflict')).toMatchInlineSnapshot(
    `"Another content came under the same MessageId. Its sender was told that it failed (EBMS:0003); that copy is kept as evidence and is never delivered."`,
  );
  expect(told('hold')).toMatchInlineSnapshot(
    `"Another content came under the same MessageId. It got a receipt of its own and is held for an operator to decide."`,
  );
});

test('what came of each hand-over', () => {
  const detail = { number: 40 };
  expect(told('handOver', { detail })).toMatchInlineSnapshot(`"Hand-over 40 was begun."`);
  expect(told('delivered', { detail })).toMatchInlineSnapshot(`"Hand-over 40 was put into the inbox."`);
  expect(told('acknowledge', { detail })).toMatchInlineSnapshot(`"The backend said that it has hand-over 40."`);
  expect(told('acknowledge', { detail, actor: ALICE })).toMatchInlineSnapshot(
    `"Alice (ops on gw1) said for the backend that it has hand-over 40."`,
  );
  expect(told('fail', { detail, reason: 'ENAMETOOLONG' })).toMatchInlineSnapshot(
    `"Hand-over 40 failed and will be tried again. What went wrong: ENAMETOOLONG."`,
  );
  expect(told('giveUp', { detail, reason: 'ENAMETOOLONG' })).toMatchInlineSnapshot(
    `"Hand-over 40 failed for good: it is undeliverable until an operator decides. What went wrong: ENAMETOOLONG."`,
  );
  expect(told('redeliverAfterPowerLoss', { detail })).toMatchInlineSnapshot(
    `"A power loss hides whether the backend saw hand-over 40: it is handed over again, marked as a possible duplicate."`,
  );
  expect(told('reviewAfterPowerLoss', { detail })).toMatchInlineSnapshot(
    `"A power loss hides whether the backend saw hand-over 40: it is kept back for an operator to decide."`,
  );
  expect(told('lost', { detail })).toMatchInlineSnapshot(
    `"Whether the backend has hand-over 40 cannot be known: the folders were not those of this database, or a directory vanished. It waits for an operator."`,
  );
  expect(told('restored', { detail })).toMatchInlineSnapshot(
    `"This database is a restored copy: whether the backend has hand-over 40 cannot be known. It waits for an operator."`,
  );
  expect(told('release', { detail })).toMatchInlineSnapshot(`"Hand-over 40 was released for the inbox."`);
  expect(told('supersede', { detail, existing: OTHER })).toMatchInlineSnapshot(
    `"A later message (first@ap, number 12) takes the place of hand-over 40, which is not delivered."`,
  );
  expect(
    told('refusedTransition', { detail: { ...detail, event: 'acknowledge', state: 'rejected' } }),
  ).toMatchInlineSnapshot(
    `"An acknowledgement came too late for hand-over 40, which was in state rejected. Nothing was changed."`,
  );
});

test('what each operator decided, with name, account and reason', () => {
  const by = { actor: ALICE, reason: 'the sender confirmed it by phone.', detail: { number: 40 } };
  expect(told('approve', by)).toMatchInlineSnapshot(
    `"Alice (ops on gw1) approved it, so it goes to the inbox. The reason: the sender confirmed it by phone."`,
  );
  expect(told('reject', by)).toMatchInlineSnapshot(
    `"Alice (ops on gw1) decided that it is not delivered. The reason: the sender confirmed it by phone."`,
  );
  expect(told('confirm', by)).toMatchInlineSnapshot(
    `"Alice (ops on gw1) has seen that the backend has it: hand-over 40 counts as delivered. The reason: the sender confirmed it by phone."`,
  );
  expect(told('redeliver', by)).toMatchInlineSnapshot(
    `"Alice (ops on gw1) had it handed over again, in a directory of its own. The reason: the sender confirmed it by phone."`,
  );
  expect(told('clockIsRight', by)).toMatchInlineSnapshot(
    `"Alice (ops on gw1) said that the clock is right. The reason: the sender confirmed it by phone."`,
  );
});

test('what each operator decided about a held copy', () => {
  const by = { actor: ALICE, reason: 'looked at it', existing: OTHER, detail: { held: 3 } };
  expect(told('approve', { ...by, stateBefore: 'review' })).toMatchInlineSnapshot(
    `"Alice (ops on gw1) approved the copy held-3 of message first@ap (number 12), so it goes to the inbox. The reason: looked at it."`,
  );
  expect(told('reject', { ...by, stateBefore: 'review' })).toMatchInlineSnapshot(
    `"Alice (ops on gw1) decided that the copy held-3 is not delivered. The reason: looked at it."`,
  );
  expect(told('reject', { ...by, stateBefore: 'evidence' })).toMatchInlineSnapshot(
    `"Alice (ops on gw1) settled the copy held-3, whose sender was told that it failed; it stays as evidence. The reason: looked at it."`,
  );
  expect(told('limited', { actor: ALICE })).toMatchInlineSnapshot(
    `"Alice (ops on gw1) was refused an exception, since there had been too many within an hour."`,
  );
});

test('what came of the clock', () => {
  expect(told('clockDoubted')).toMatchInlineSnapshot(
    `"The clock jumped: nothing expires and nothing is purged until an operator says that it is right."`,
  );
  expect(told('clockAgrees')).toMatchInlineSnapshot(`"The clock agrees again with what it was before it jumped."`);
});

test('a decision of a later version is told as it is stored', () => {
  expect(told('brandNew', { detail: { a: 1 } })).toBe('brandNew: {"a":1}');
});

test('a reason or a MessageId with line breaks and control characters stays on its line', () => {
  const line = told('approve', { actor: { ...ALICE, by: 'A\u001b[2J\nB' }, reason: 'one\r\ntwo\u202ethree' });
  expect(line).toBe('A [2J B (ops on gw1) approved it, so it goes to the inbox. The reason: one two three.');
});
