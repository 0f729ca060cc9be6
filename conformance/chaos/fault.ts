/** The two directions of a connection: what the sender says, and what the receiver says. */
export type Side = 'request' | 'answer';

/**
 * What happens to a connection once `at` octets of one side have passed. `drop`: it is reset, both ways. `truncate`: that side ends there in an orderly
 * way, as if there were no more. `delay`: what follows comes `ms` later. `duplicate`: the request is sent a second time on a connection of its own;
 * while the first is still under way when `side` is the request, after its answer has begun when it is the answer.
 */
export type Fault =
  | { readonly kind: 'drop' | 'truncate' | 'duplicate'; readonly side: Side; readonly at: number }
  | { readonly kind: 'delay'; readonly side: Side; readonly at: number; readonly ms: number };

export type FaultKind = Fault['kind'];

/** About as long as most requests and answers are, so that most faults come to pass, at any place. */
const USUAL_OCTETS = { request: 16_000, answer: 7_000 } as const;

/** Faults for one connection: for about every other one none. */
export function randomFaults(random: () => number): Fault[] {
  if (random() < 0.5) return [];
  const kinds: readonly FaultKind[] = ['drop', 'drop', 'truncate', 'delay', 'duplicate'];
  const faults = [randomFault(kinds, random)];
  // A copy and a cut together: the copy is committed, and the sender knows of nothing.
  if (random() < 0.3) faults.push(randomFault(kinds, random));
  return faults;
}

function randomFault(kinds: readonly FaultKind[], random: () => number): Fault {
  const kind = kinds[Math.floor(random() * kinds.length)] ?? 'drop';
  const side = random() < 0.5 ? 'request' : 'answer';
  const at = random() < 0.1 ? 0 : Math.floor(random() * USUAL_OCTETS[side]);
  return kind === 'delay' ? { kind, side, at, ms: Math.floor(random() * 500) } : { kind, side, at };
}
