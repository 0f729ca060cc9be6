import { parseArgs } from 'node:util';

export const CHAOS_USAGE = `npm run chaos [-- --seconds N --seed N]

Starts Quittance on a free port with a temporary database; senders send, repeat and rebuild messages while connections are cut and the
server is killed with SIGKILL and started again. Then the balance: every message with a receipt is in the folder exactly once, every receipt for
one reference set is the same, nothing is in the folder without a receipt or a sender that waits for one.

  --seconds N    how long (60)
  --seed N       a whole number that decides what is left to chance; printed by each run

Exit code: 0 the balance is right, 1 it is not, 2 wrong usage, 130 interrupted.
`;

/** Each sender has a seed of its own that is made from it, in 32 bits. */
const MOST_SEED = 2 ** 26 - 1;

/** @throws Error with a sentence for the user */
export function readChaosOptions(
  args: readonly string[],
): { readonly seconds: number; readonly seed: number } | 'help' {
  const { values } = parseArgs({
    args: [...args],
    strict: true,
    allowPositionals: false,
    options: { seconds: { type: 'string' }, seed: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help === true) return 'help';
  const seconds = Number(values.seconds ?? 60);
  if (!(seconds >= 1 && seconds <= 86_400)) throw new Error('--seconds must be a number from 1 to 86400.');
  const seed = Number(values.seed ?? Date.now() % 1_000_000);
  if (!Number.isInteger(seed) || seed < 0 || seed > MOST_SEED) {
    throw new Error(`--seed must be a whole number from 0 to ${MOST_SEED}.`);
  }
  return { seconds, seed };
}
