import type { Case } from '../case.ts';
import { fourCorners, type MessageSpec } from '../message.ts';
import type { Trial } from '../runner/trial.ts';
import type { Target } from '../target/target.ts';

const SOURCE = 'PAS4 §4.3';
const NOT_SERVICED = { codes: ['0004'], detail: 'PEPPOL:NOT_SERVICED' } as const;

/** Where a participant is known not to be serviced, and that participant. */
async function restricted(trial: Trial): Promise<{ readonly target: Target; readonly participant: string }> {
  const target = (await trial.target.serviced?.()) ?? trial.target;
  return { target, participant: target.notServiced ?? '' };
}

function to(participant: string, target: Target): MessageSpec {
  return {
    header: { properties: fourCorners(target.participants.sender, participant) },
    sbd: { receiver: participant },
  };
}

/** Addressees and documents that the receiver does not service. */
export const SERVICED_CASES: readonly Case[] = [
  {
    id: 'SRV-01',
    source: SOURCE,
    asserts:
      'An addressee who is not serviced: EBMS:0004, failure, ErrorDetail PEPPOL:NOT_SERVICED; nothing is delivered.',
    basis: 'norm',
    needs: ['not-serviced'],
    async run(trial) {
      const { target, participant } = await restricted(trial);
      const message = trial.make(to(participant, target), target);
      trial.error(await trial.send(message, {}, target), message, NOT_SERVICED);
      trial.nothing(message, target);
    },
  },
  ...(
    [
      ['SRV-02', 'A document type that is not serviced', { document: 'creditNote' }],
      [
        'SRV-03',
        'A process that is not serviced',
        {
          header: { service: { value: 'urn:example:other-process', type: 'cenbii-procid-ubl' } },
          sbd: { process: 'urn:example:other-process' },
        },
      ],
    ] as const
  ).map(
    ([id, words, spec]): Case => ({
      id,
      source: SOURCE,
      asserts: `${words}: EBMS:0004 with PEPPOL:NOT_SERVICED.`,
      basis: 'norm',
      needs: ['serviced-list'],
      async run(trial) {
        const { target } = await restricted(trial);
        const message = trial.make(spec, target);
        trial.error(await trial.send(message, {}, target), message, NOT_SERVICED);
        trial.nothing(message, target);
      },
    }),
  ),
  {
    id: 'SRV-04',
    source: SOURCE,
    asserts: 'What is serviced by a pattern with * is accepted.',
    basis: 'norm',
    needs: ['serviced-list'],
    async run(trial) {
      const { target } = await restricted(trial);
      const message = trial.make({}, target);
      trial.receipt(await trial.send(message, {}, target), message);
      trial.delivered(message, 1, { target });
    },
  },
  {
    id: 'SRV-05',
    source: `${SOURCE}; facts §4.3`,
    asserts: 'NOT_SERVICED does not burn the MessageId: once the addressee is registered, the retry is accepted.',
    basis: 'reading',
    needs: ['serviced-list'],
    when: 'alone',
    async run(trial) {
      const { target, participant } = await restricted(trial);
      const message = trial.make(to(participant, target), target);
      trial.error(await trial.send(message, {}, target), message, NOT_SERVICED);
      await target.setServiced?.('all');
      // The list is read again when it changes, a little later.
      let reply = await trial.send(message, {}, target);
      for (const end = Date.now() + 10_000; 'signal' in reply.read && reply.read.signal.receipt === null; ) {
        if (Date.now() > end) break;
        await new Promise((resolve) => setTimeout(resolve, 200));
        reply = await trial.send(message, {}, target);
      }
      trial.receipt(reply, message);
      trial.delivered(message, 1, { target });
    },
  },
];
