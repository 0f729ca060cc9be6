import type { InteropOptions } from './options.ts';
import type { Peer } from './peer.ts';
import { startPeerReceiver } from './peer-receiver.ts';
import { ReceiverBench } from './receiver-bench.ts';
import { type CaseResult, isGood, tryCase } from './result.ts';
import { Tap } from './tap.ts';

export interface ReceiverRun {
  readonly o: Pick<InteropOptions, 'only'>;
  /** Where the peer was built. */
  readonly folder: string;
  readonly samples: string;
  readonly say: (line: string) => void;
}

/** The cases in which the peer receives what `quittance send` sends; none when it cannot receive. */
export async function runReceiver(peer: Peer, { o, folder, samples, say }: ReceiverRun): Promise<CaseResult[]> {
  const { command, cases = [] } = peer.receiver ?? {};
  const chosen = cases.filter(({ id }) => o.only.length === 0 || o.only.includes(id));
  if (command === undefined || chosen.length === 0) return [];
  const start = { id: 'receiver', asserts: 'It can be started as a receiver.' };
  const started: { value?: Awaited<ReturnType<typeof startPeerReceiver>> } = {};
  const opening = await tryCase(
    peer,
    start,
    async () => {
      started.value = await startPeerReceiver((inbox) => command(folder, inbox));
    },
    () => ({ verdicts: [], checks: [] }),
  );
  const receiver = started.value;
  if (receiver === undefined) return [opening];
  const tap = await Tap.open(receiver.url);
  const results: CaseResult[] = [];
  try {
    for (const each of chosen) {
      const bench = new ReceiverBench({ receiver, tap, samples });
      const found = () => ({ verdicts: bench.verdicts, checks: bench.checks.all });
      const result = await tryCase(peer, each, () => each.run(bench), found);
      results.push(result);
      say(`${peer.name} ${each.id}: ${isGood(result) ? 'ok' : `FAILED\n${receiver.said()}`}`);
    }
    return results;
  } finally {
    tap.close();
    await receiver.stop();
  }
}
