import { setTimeout as sleep } from 'node:timers/promises';
import type { Order } from '../driver.ts';
import type { PeerCase } from '../peer.ts';
import type { Sample } from '../sample.ts';

/** What is missing first: the type of the Service, or the AgreementRef. */
const REFUSALS = [
  { profile: 'peppol', code: 'EBMS:0010' },
  { profile: 'edelivery', code: 'EBMS:0001' },
] as const;

/** In seconds; asx takes a receipt for stale once its eb:Timestamp is as old as this. */
const STALE = 300;

/** The time is given, so that the library, which builds every message anew, signs the same again. It wants a payload in a ping, too. */
function pingOf({ sbdFile }: Sample): Order {
  return { ping: 'yes', profile: 'peppol', sbd: sbdFile, timestamp: `${Math.floor(Date.now() / 1000)}` };
}

export const ASX_CASES: readonly PeerCase[] = [
  ...REFUSALS.map(
    ({ profile, code }): PeerCase => ({
      id: `${profile}-profile`,
      asserts: `A message of its ${profile} profile, which Peppol does not allow, is refused with ${code}, and it reads so.`,
      run: async (bench) => {
        const sample = bench.sample();
        await bench.refused(sample, await bench.send(sample, { sbd: sample.sbdFile, profile }), [code]);
      },
    }),
  ),
  {
    id: 'ping',
    asserts: 'A ping is receipted, and nothing delivered; the same ping again gets the stored receipt.',
    run: async (bench) => {
      const sample = bench.sample();
      const order = pingOf(sample);
      await bench.acceptedAndSuppressed(sample.messageId, await bench.send(sample, order));
      await bench.acceptedAndSuppressed(sample.messageId, await bench.send(sample, order));
      bench.checks.sameAnswer(bench.passed);
    },
  },
  {
    id: 'old-receipt',
    asserts: 'The stored receipt of a ping, five minutes later: the same to the octet, and asx refuses it for its age.',
    minutes: 5,
    run: async (bench) => {
      const sample = bench.sample();
      const order = pingOf(sample);
      await bench.acceptedAndSuppressed(sample.messageId, await bench.send(sample, order));
      await sleep((STALE + 5) * 1000);
      const judgement = await bench.send(sample, order);
      bench.checks.sameAnswer(bench.passed);
      bench.checks.that('refused by asx', !judgement.accepted, judgement.verdict);
    },
  },
];
