import { writeFileSync } from 'node:fs';
import { as4 } from './as4/peer.ts';
import { asx } from './asx/peer.ts';
import { n42 } from './n42/peer.ts';
import { INTEROP_USAGE, readInteropOptions } from './options.ts';
import type { Peer, PeerCase } from './peer.ts';
import { phase4 } from './phase4/peer.ts';
import { isGood } from './result.ts';
import { runPeers } from './run.ts';
import { interopMarkdown, interopTable } from './table.ts';

const PEERS: readonly Peer[] = [phase4, as4, n42, asx];

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const names = PEERS.map(({ name }) => name);
  let options: ReturnType<typeof readInteropOptions>;
  try {
    options = readInteropOptions(args, names);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\nSee npm run interop -- --help\n`);
    return 2;
  }
  if (options === 'help') {
    process.stdout.write(INTEROP_USAGE);
    return 0;
  }
  if (options.list) {
    for (const peer of PEERS) {
      for (const { id, asserts } of casesOf(peer)) process.stdout.write(`${peer.name}\t${id}\t${asserts}\n`);
    }
    return 0;
  }
  const { peers, all, markdown } = options;
  const asked = (peer: Peer) => all || peers.includes(peer.name);
  const chosen = PEERS.filter((peer) => (peers.length > 0 && !all ? asked(peer) : asked(peer) || !peer.onlyWhenAsked));
  const ids = new Set(chosen.flatMap((peer) => casesOf(peer).map(({ id }) => id)));
  const stranger = options.only.find((id) => !ids.has(id));
  if (stranger !== undefined) {
    process.stderr.write(`There is no case ${stranger}.\nSee npm run interop -- --list\n`);
    return 2;
  }
  const outcome = await runPeers(chosen, options, (line) => process.stderr.write(`${line}\n`));
  for (const peer of PEERS.filter((each) => !chosen.includes(each) && peers.length === 0)) {
    process.stderr.write(`${peer.name} is run only with --peer ${peer.name} or --all: ${peer.onlyWhenAsked}\n`);
  }
  process.stdout.write(`\n${interopTable(outcome)}\n`);
  if (markdown !== null) writeFileSync(markdown, interopMarkdown(outcome));
  const { results, skipped, balance } = outcome;
  if (options.strict && skipped.length > 0) return 1;
  return balance.ok && results.every(isGood) ? 0 : 1;
}

function casesOf({ cases, receiver }: Peer): readonly Pick<PeerCase, 'id' | 'asserts'>[] {
  return [...cases, ...(receiver?.cases ?? [])];
}
