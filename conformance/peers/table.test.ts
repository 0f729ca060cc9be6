import { expect, it } from 'vitest';
import type { Peer, PeerCase } from './peer.ts';
import type { CaseResult } from './result.ts';
import type { Outcome } from './run.ts';
import { interopMarkdown, interopTable } from './table.ts';

const peer: Peer = {
  name: 'other',
  product: '@some/other 1.2',
  licence: 'none',
  tools: [],
  fetch: async () => {},
  driver: () => ({ program: 'true', args: [], directory: '.' }),
  cases: [],
};
const itself: PeerCase = { id: 'sbd', asserts: 'It holds.', run: async () => {} };
const result = (o: Partial<CaseResult>): CaseResult => ({
  peer,
  case: itself,
  verdicts: ['SUCCESS'],
  checks: [{ what: 'receipt', ok: true }],
  fault: null,
  ms: 12.4,
  ...o,
});
const outcome = (...results: CaseResult[]): Outcome => ({
  results,
  skipped: [{ peer, why: 'not there: mvn' }],
  balance: { what: '1 message', ok: false, instead: '2 directories' },
});

it('a good case is one line', () => {
  expect(interopTable(outcome(result({}))).split('\n')[1]).toMatch(/^other +1\.2 +sbd +SUCCESS +1 of 1 +12$/);
});

it('a case fails with a check that does not hold, with a fault, and with no check at all', () => {
  const bad = [{ what: 'delivered once', ok: false, instead: '2 times' }];
  const text = interopTable(outcome(result({ checks: bad }), result({ fault: 'it died' }), result({ checks: [] })));
  expect(text.match(/FAILED/g)).toHaveLength(3);
  expect(text).toContain('delivered once: 2 times');
  expect(text).toContain('it died');
});

it('says what was skipped and why, and what the folder should have held', () => {
  const text = interopTable(outcome(result({})));
  expect(text).toContain('Skipped other (@some/other 1.2): not there: mvn');
  expect(text).toContain('1 message: NO, 2 directories');
});

it('keeps a | of a peer inside its cell of the Markdown table', () => {
  expect(interopMarkdown(outcome(result({ verdicts: ['a|b'] })))).toContain('| a\\|b |');
});
