import type { Bench } from '../bench.ts';
import type { Order } from '../driver.ts';
import type { PeerCase } from '../peer.ts';
import { type Sample, underAnotherId } from '../sample.ts';

const PARTY = { party: 'POP000001' };

/** phase4 makes the StandardBusinessDocument. */
const wrapped = ({ documentFile, document }: Sample): Order => ({
  ...PARTY,
  document: documentFile,
  ...('wrapper' in document && document.wrapper !== undefined
    ? {
        wrapper: document.wrapper.element,
        mimeType: document.wrapper.mimeType,
        standard: document.standard,
        version: document.version,
        root: document.root,
      }
    : {}),
});

/** The StandardBusinessDocument is there already. */
const ready = ({ sbdFile }: Sample): Order => ({ ...PARTY, sbd: sbdFile });

async function receipted(bench: Bench, sample: Sample, order: Order): Promise<void> {
  await bench.accepted(sample, await bench.send(sample, order));
}

async function refused(bench: Bench, order: Order, codes: readonly string[]): Promise<void> {
  const sample = bench.sample();
  await bench.refused(sample, await bench.send(sample, { ...ready(sample), ...order }), codes);
}

export const PHASE4_CASES: readonly PeerCase[] = [
  {
    id: 'document',
    asserts: 'An invoice that phase4 puts into an SBD is receipted and delivered.',
    run: async (bench) => {
      const sample = bench.sample();
      await receipted(bench, sample, wrapped(sample));
    },
  },
  {
    id: 'sbd',
    asserts: 'A ready SBD is receipted and delivered.',
    run: async (bench) => {
      const sample = bench.sample();
      await receipted(bench, sample, ready(sample));
    },
  },
  {
    id: 'large',
    asserts: 'Two megabytes that gzip cannot make much shorter are receipted and delivered.',
    run: async (bench) => {
      const sample = bench.sample('invoice', 2_000_000);
      await receipted(bench, sample, ready(sample));
    },
  },
  {
    id: 'same-message-id',
    asserts:
      'The same MessageId again, with signature and keys made anew: a receipt of its own, nothing delivered again.',
    run: async (bench) => {
      const sample = bench.sample();
      await receipted(bench, sample, ready(sample));
      await receipted(bench, sample, ready(sample));
    },
  },
  {
    id: 'same-instance-id',
    asserts: 'The same SBD under a new MessageId: a receipt, nothing delivered again.',
    run: async (bench) => {
      const sample = bench.sample();
      await receipted(bench, sample, ready(sample));
      const again = underAnotherId(sample);
      await bench.acceptedAndSuppressed(again.messageId, await bench.send(again, ready(again)));
    },
  },
  {
    id: 'other-content',
    asserts: 'The same MessageId with another document is refused, and phase4 says so.',
    run: async (bench) => {
      const sample = bench.sample();
      await receipted(bench, sample, ready(sample));
      const other = { ...bench.sample(), messageId: sample.messageId };
      bench.tap([]);
      const judgement = await bench.send(other, ready(other));
      bench.checks.that('EBMS:0003 read', judgement.error?.code === 'EBMS:0003', judgement.error?.code ?? 'no error');
      bench.checks.that('not taken for a receipt', !judgement.accepted);
      await bench.delivered(sample.messageId, sample);
    },
  },
  {
    id: 'lost-answer',
    asserts: 'The answer is lost; what phase4 sends again by itself gets the stored receipt, byte for byte.',
    run: async (bench) => {
      const sample = bench.sample();
      bench.tap(['lose']);
      await receipted(bench, sample, wrapped(sample));
      bench.sameAnswers(2);
    },
  },
  {
    id: 'lost-answer-and-restart',
    asserts:
      'The answer is lost and the receiver killed; after its start the retry gets the stored receipt, byte for byte.',
    run: async (bench) => {
      const sample = bench.sample();
      bench.tap(['lose'], true);
      await receipted(bench, sample, wrapped(sample));
      bench.sameAnswers(2);
    },
  },
  {
    id: 'repeat-after-503',
    asserts: 'phase4 is told 503 though its message is in; its HTTP client repeats and gets the stored receipt.',
    run: async (bench) => {
      const sample = bench.sample();
      bench.tap(['busy']);
      await receipted(bench, sample, wrapped(sample));
      bench.sameAnswers(2);
    },
  },
  {
    id: 'foreign-receipt',
    asserts: 'Given the receipt of another message phase4 accepts it; its driver notices: the judge can say no.',
    run: async (bench) => {
      bench.tap(['relay', 'first-answer']);
      const first = bench.sample();
      await receipted(bench, first, ready(first));
      const sample = bench.sample();
      const { checks, verdict } = await bench.send(sample, ready(sample));
      bench.checks.that('the driver notices the id', checks.RefToMessageId === false, verdict);
      bench.checks.that('the driver notices the references', checks.references === false, verdict);
      await bench.delivered(sample.messageId, sample);
    },
  },
  {
    id: 'not-serviced',
    asserts: 'phase4 reads EBMS:0004 with PEPPOL:NOT_SERVICED.',
    run: async (bench) => {
      await bench.serviceOrdersOnly();
      const sample = bench.sample();
      const judgement = await bench.send(sample, ready(sample));
      await bench.refused(sample, judgement, ['EBMS:0004'], 'PEPPOL:NOT_SERVICED');
    },
  },
  {
    id: 'uncompressed',
    asserts: 'XML without compression, whose digest is that of its canonical form, is receipted and delivered.',
    run: async (bench) => {
      const sample = bench.sample();
      await receipted(bench, sample, { ...wrapped(sample), plain: 'yes' });
    },
  },
  {
    id: 'pdf',
    asserts: 'A PDF as BinaryContent comes out as it went in.',
    run: async (bench) => {
      const sample = bench.sample('pdf');
      await receipted(bench, sample, wrapped(sample));
    },
  },
  {
    id: 'edifact',
    asserts: 'EDIFACT as TextContent comes out as it went in.',
    run: async (bench) => {
      const sample = bench.sample('edifact');
      await receipted(bench, sample, wrapped(sample));
    },
  },
  {
    id: 'issuer-serial',
    asserts: 'A content key that names our certificate by issuer and serial number is found.',
    run: async (bench) => {
      const sample = bench.sample();
      await receipted(bench, sample, { ...wrapped(sample), keyName: 'issuer-serial' });
    },
  },
  {
    id: 'rsa-sha512',
    asserts: 'A signature algorithm that Peppol does not allow is refused, and phase4 reads why.',
    run: (bench) => refused(bench, { signatureAlgorithm: 'rsa-sha-512' }, ['EBMS:0103']),
  },
  {
    id: 'key-identifier',
    asserts: 'A signature that names its key by SKI, without a token, is refused, and phase4 reads why.',
    run: (bench) => refused(bench, { tokenName: 'ski-key-id' }, ['EBMS:0103']),
  },
  {
    id: 'revoked',
    asserts: 'A revoked access point is refused, and phase4 reads why.',
    run: (bench) => refused(bench, { as: 'revoked' }, ['EBMS:0101']),
  },
  {
    id: 'other-party',
    asserts: 'A sender that calls itself by another access point’s seat id is refused, and phase4 reads why.',
    run: (bench) => refused(bench, { as: 'sender-2' }, ['EBMS:0101']),
  },
];
