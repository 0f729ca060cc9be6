import type { ReceiverCase } from '../peer.ts';

export const PHASE4_RECEIVER_CASES: readonly ReceiverCase[] = [
  {
    id: 'receives-document',
    asserts: 'An invoice that `quittance send` puts into an SBD gets a receipt of phase4 that holds, and arrives.',
    run: async (bench) => {
      const sample = bench.sample();
      bench.receipted(sample, await bench.send(sample, ['--document', sample.documentFile]));
      bench.taken(sample);
    },
  },
  {
    id: 'receives-sbd',
    asserts: 'A ready SBD, uncompressed, gets a receipt that holds, and arrives.',
    run: async (bench) => {
      const sample = bench.sample();
      bench.receipted(sample, await bench.send(sample, ['--document', sample.sbdFile, '--no-compress']));
      bench.taken(sample);
    },
  },
  {
    id: 'receives-large',
    asserts: 'Two megabytes that gzip cannot make much shorter get a receipt that holds, and arrive.',
    run: async (bench) => {
      const sample = bench.sample('invoice', 2_000_000);
      bench.receipted(sample, await bench.send(sample, ['--document', sample.documentFile]));
      bench.taken(sample);
    },
  },
  {
    id: 'receives-repeat',
    asserts:
      'The same octets twice: a receipt, then EBMS:0004; `quittance send` says that the message arrived and its repeat was refused.',
    run: async (bench) => {
      const { checks } = bench;
      const sample = bench.sample();
      const { exit, report, stderr } = await bench.send(sample, ['--document', sample.documentFile, '--repeat', '2']);
      const [first, second] = report?.attempts ?? [];
      checks.that('exit code 1', exit === 1, `${exit}`);
      checks.that('verdict', report?.verdict === 'repeat-refused', report?.verdict);
      checks.that('two answers', report?.attempts.length === 2, `${report?.attempts.length}`);
      checks.that('first answer verified', first?.receipt === true && first.verified);
      checks.that('second answer is EBMS:0004', second?.error?.code === 'EBMS:0004', second?.error?.code);
      checks.that('told so', stderr.includes('refused its repeat (answer 2) with EBMS:0004'), stderr);
      checks.that('told why', stderr.includes('was already handled (this is a duplicate)'), stderr);
      checks.that('told that it arrived', stderr.includes('The message has arrived.'), stderr);
      checks.that('two requests', bench.passed.length === 2, `${bench.passed.length}`);
      bench.proves(bench.passed.slice(0, 1), sample.messageId);
      bench.refuses(bench.passed.slice(1), 'EBMS:0004');
      bench.taken(sample);
    },
  },
  {
    id: 'receives-as-another',
    asserts:
      'A receipt in which all is right but the signer, another access point of the same CA, is refused, and the signer is named.',
    run: async (bench) => {
      const { checks } = bench;
      const sample = bench.sample();
      const { exit, report, stderr } = await bench.send(sample, ['--document', sample.documentFile], '/impostor');
      const [only] = report?.attempts ?? [];
      checks.that('exit code 1', exit === 1, `${exit}`);
      checks.that('verdict', report?.verdict === 'unproven', report?.verdict);
      checks.that('a receipt, not verified', only?.receipt === true && !only.verified);
      checks.that('the signer named', /signed by .*CN=POP000003/.test(stderr), stderr);
      bench.proves(bench.passed, sample.messageId, 'sender-2');
    },
  },
  {
    id: 'receives-for-another',
    asserts:
      'Encrypted and expected from another access point than the one that answers: an error of phase4, and it is not taken for that one’s.',
    run: async (bench) => {
      const { checks } = bench;
      const sample = bench.sample();
      const wrong = ['--document', sample.documentFile, '--receiver-cert', bench.certificate('sender-2')];
      const { exit, report, stderr } = await bench.send(sample, wrong);
      checks.that('exit code 1', exit === 1, `${exit}`);
      checks.that('verdict', report?.verdict === 'refused', report?.verdict);
      checks.that('an error', report?.attempts[0]?.error != null);
      checks.that('not verified', report?.attempts[0]?.verified === false);
      checks.that('the signer named', /proves nothing: .*CN=POP000002/.test(stderr), stderr);
    },
  },
];
