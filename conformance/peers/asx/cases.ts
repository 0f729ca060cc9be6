import type { PeerCase } from '../peer.ts';

/** What is missing is the type of the Service, or the properties. */
const REFUSALS = ['EBMS:0003', 'EBMS:0004', 'EBMS:0010'];

export const ASX_CASES: readonly PeerCase[] = ['peppol', 'edelivery'].map((profile) => ({
  id: `${profile}-profile`,
  asserts: `A message of its ${profile} profile, which Peppol does not allow, is refused, and it reads why.`,
  run: async (bench) => {
    const sample = bench.sample();
    await bench.refused(sample, await bench.send(sample, { sbd: sample.sbdFile, profile }), REFUSALS);
  },
}));
