import type { Bench } from '../bench.ts';
import type { Order } from '../driver.ts';
import type { PeerCase } from '../peer.ts';
import { type Sample, underAnotherId } from '../sample.ts';

/** The package makes the StandardBusinessDocument, and can do nothing but XML. */
const built = ({ documentFile }: Sample): Order => ({ document: documentFile });
/** The message that it has built last, to the octet. */
const AGAIN: Order = { repeat: 'yes' };

async function receipted(bench: Bench, sample: Sample, order: Order = built(sample)): Promise<void> {
  await bench.accepted(sample, await bench.send(sample, order));
}

export const AS4_CASES: readonly PeerCase[] = [
  {
    id: 'document',
    asserts: 'An invoice is receipted and delivered.',
    run: (bench) => receipted(bench, bench.sample()),
  },
  {
    id: 'large',
    asserts: 'Two megabytes that gzip cannot make much shorter are receipted and delivered.',
    run: (bench) => receipted(bench, bench.sample('invoice', 2_000_000)),
  },
  {
    id: 'same-octets',
    asserts: 'The same message again, to the octet: the stored receipt, byte for byte.',
    run: async (bench) => {
      const sample = bench.sample();
      await receipted(bench, sample);
      await receipted(bench, sample, AGAIN);
      bench.sameAnswers(2);
    },
  },
  {
    id: 'same-message-id',
    asserts: 'The same MessageId again, everything built anew: a receipt that it accepts, nothing delivered again.',
    run: async (bench) => {
      const sample = bench.sample();
      await receipted(bench, sample);
      await receipted(bench, sample);
    },
  },
  {
    id: 'same-instance-id',
    asserts: 'The same InstanceIdentifier and document under a new MessageId: a receipt, nothing delivered again.',
    run: async (bench) => {
      const sample = bench.sample();
      await receipted(bench, sample);
      const again = underAnotherId(sample);
      await bench.acceptedAndSuppressed(again.messageId, await bench.send(again, built(again)));
    },
  },
  {
    id: 'lost-answer',
    asserts: 'The answer is lost and the receiver killed; the same message again gets the stored receipt.',
    run: async (bench) => {
      const sample = bench.sample();
      bench.tap(['lose'], true);
      const first = await bench.send(sample, built(sample));
      bench.checks.that('the answer was lost', !first.accepted, first.verdict);
      await receipted(bench, sample, AGAIN);
      bench.sameAnswers(2);
    },
  },
  {
    id: 'foreign-receipt',
    asserts: 'Given the receipt of another message it says so: the judge can say no.',
    run: async (bench) => {
      bench.tap(['relay', 'first-answer']);
      await receipted(bench, bench.sample());
      const sample = bench.sample();
      const judgement = await bench.send(sample, built(sample));
      bench.checks.that('not accepted', !judgement.accepted, judgement.verdict);
      await bench.delivered(sample.messageId, sample);
    },
  },
  {
    id: 'not-serviced',
    asserts: 'It reads EBMS:0004 with PEPPOL:NOT_SERVICED.',
    run: async (bench) => {
      await bench.serviceOrdersOnly();
      const sample = bench.sample();
      const judgement = await bench.send(sample, built(sample));
      await bench.refused(sample, judgement, ['EBMS:0004'], 'PEPPOL:NOT_SERVICED');
    },
  },
  {
    id: 'revoked',
    asserts: 'A revoked access point is refused, and it reads why.',
    run: async (bench) => {
      const sample = bench.sample();
      await bench.refused(sample, await bench.send(sample, { ...built(sample), as: 'revoked' }), ['EBMS:0101']);
    },
  },
];
