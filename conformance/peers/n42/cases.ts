import type { Bench } from '../bench.ts';
import type { Order } from '../driver.ts';
import type { PeerCase } from '../peer.ts';
import type { Sample } from '../sample.ts';

/** It wants a ready StandardBusinessDocument, and thinks of the MessageId itself. */
const ready = ({ sbdFile }: Sample): Order => ({ sbd: sbdFile });
const AGAIN: Order = { repeat: 'yes' };

async function receipted(bench: Bench, sample: Sample, order: Order = ready(sample)): Promise<void> {
  await bench.accepted(sample, await bench.send(sample, order));
}

export const N42_CASES: readonly PeerCase[] = [
  {
    id: 'sbd',
    asserts: 'A ready SBD is receipted and delivered.',
    run: (bench) => receipted(bench, bench.sample()),
  },
  {
    id: 'large',
    asserts: 'Two megabytes, base64 on the wire, are receipted and delivered.',
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
    id: 'same-instance-id',
    asserts: 'The same SBD under a new MessageId: a receipt, nothing delivered again.',
    run: async (bench) => {
      const sample = bench.sample();
      await receipted(bench, sample);
      const judgement = await bench.send(sample, ready(sample));
      await bench.acceptedAndSuppressed(judgement.messageId ?? '', judgement);
    },
  },
  {
    id: 'lost-answer',
    asserts: 'The answer is lost and the receiver killed; its own retry gets the stored receipt, byte for byte.',
    run: async (bench) => {
      bench.tap(['lose'], true);
      await receipted(bench, bench.sample());
      bench.sameAnswers(2);
    },
  },
  {
    id: 'repeat-after-503',
    asserts: 'It is told 503 though its message is in; its own retry gets the stored receipt, byte for byte.',
    run: async (bench) => {
      bench.tap(['busy']);
      await receipted(bench, bench.sample());
      bench.sameAnswers(2);
    },
  },
  {
    id: 'foreign-receipt',
    asserts: 'Given the receipt of another message it accepts it; its driver notices: the judge can say no.',
    run: async (bench) => {
      bench.tap(['relay', 'first-answer']);
      await receipted(bench, bench.sample());
      const sample = bench.sample();
      const judgement = await bench.send(sample, ready(sample));
      bench.checks.that('the driver notices', judgement.checks.RefToMessageId === false, judgement.verdict);
      await bench.delivered(judgement.messageId ?? '', sample);
    },
  },
  {
    id: 'not-serviced',
    asserts: 'It reads PEPPOL:NOT_SERVICED, and does not try again.',
    run: async (bench) => {
      await bench.serviceOrdersOnly();
      const sample = bench.sample();
      await bench.refused(sample, await bench.send(sample, ready(sample)), ['EBMS:0004'], 'PEPPOL:NOT_SERVICED');
      bench.checks.that('one request', bench.passed.length === 1, `${bench.passed.length}`);
    },
  },
];
