import type { Case } from '../case.ts';
import type { Cut } from '../wire/post.ts';

const CUTS: readonly (readonly [string, Cut, string])[] = [
  ['A', 'unread', 'before any octet of the answer is read'],
  ['B', 'status-line', 'after the status line'],
  ['C', 'headers', 'after the headers'],
  ['D', 'mid-body', 'in the middle of the receipt'],
  ['E', 'last-octet', 'one octet before the end'],
];

const SOURCE = 'eD TAD 1.2 TA10';

/** AS4_CP_TA10 with a receipt that is really lost: the connection is reset after the receiver has committed. */
export const LOST_RECEIPT_CASES: readonly Case[] = [
  ...CUTS.map(
    ([letter, cut, words]): Case => ({
      id: `AS4_CP_TA10-${letter}`,
      source: SOURCE,
      asserts: `The receipt is lost ${words}; the retry gets it, and one message is delivered.`,
      basis: 'norm',
      async run(trial) {
        const message = trial.make();
        await trial.sendAndLose(message, cut);
        await trial.accepted(message);
        trial.delivered(message, 1);
      },
    }),
  ),
  {
    id: 'AS4_CP_TA10-F',
    source: SOURCE,
    asserts: 'The receipt is lost five times, in five places; the sixth try gets it, and one message is delivered.',
    basis: 'norm',
    async run(trial) {
      const message = trial.make();
      for (const [, cut] of CUTS) await trial.sendAndLose(message, cut);
      await trial.accepted(message);
      trial.delivered(message, 1);
    },
  },
  {
    id: 'AS4_CP_TA10-G',
    source: SOURCE,
    asserts:
      'The receipt is lost and the receiver killed and started again; the retry gets it, and one message is delivered.',
    basis: 'norm',
    needs: ['restart'],
    when: 'alone',
    async run(trial) {
      const message = trial.make();
      await trial.sendAndLose(message, 'mid-body');
      await trial.target.restart?.();
      await trial.accepted(message);
      trial.delivered(message, 1);
    },
  },
  {
    id: 'AS4_CP_TA10-H',
    source: SOURCE,
    asserts:
      'The receiver is killed while messages come in; each of them, sent again, gets a receipt and is delivered once.',
    basis: 'norm',
    needs: ['restart'],
    when: 'alone',
    async run(trial) {
      const messages = Array.from({ length: 8 }, () => trial.make());
      const first = messages.map((message) => trial.send(message).catch(() => null));
      await first[0];
      await trial.target.restart?.();
      await Promise.all(first);
      for (const message of messages) {
        await trial.accepted(message);
        trial.delivered(message, 1);
      }
    },
  },
];
