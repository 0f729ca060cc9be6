import type { Case, Need } from '../case.ts';
import type { MessageSpec } from '../message.ts';
import type { ErrorDemand } from '../runner/judge.ts';
import type { Target } from '../target/target.ts';

/** A message, or how it is made for a target. */
export type Spec = MessageSpec | ((target: Target) => MessageSpec);

interface Common {
  readonly basis?: Case['basis'];
  readonly needs?: readonly Need[];
}

/** One message that must get a receipt and be delivered. */
export function accept(
  id: string,
  source: string,
  asserts: string,
  spec: Spec = {},
  o: Common & { readonly delivered?: number; readonly warning?: boolean } = {},
): Case {
  return {
    ...base(id, source, asserts, o, spec),
    async run(trial) {
      const message = trial.make(specFor(spec, trial.target));
      await trial.accepted(message);
      const delivered = o.delivered ?? (message.payloads.length > 0 ? 1 : 0);
      if (delivered === 0) trial.nothing(message);
      else trial.delivered(message, delivered, { warning: o.warning ?? false });
    },
  };
}

/** One message that must get an error signal and leave nothing. `codes`: without `EBMS:`, parted by blanks; '' is any code. */
export function refuse(
  id: string,
  source: string,
  asserts: string,
  codes: string,
  spec: Spec,
  o: Common & Omit<ErrorDemand, 'codes'> = {},
): Case {
  const demand: ErrorDemand = { ...o, codes: codes === '' ? [] : codes.split(' ') };
  return {
    ...base(id, source, asserts, o, spec),
    async run(trial) {
      const message = trial.make(specFor(spec, trial.target));
      trial.error(await trial.send(message), message, demand);
      trial.nothing(message);
    },
  };
}

/** One request that must be turned away without a signal. */
export function turnAway(
  id: string,
  source: string,
  asserts: string,
  statuses: readonly number[],
  spec: Spec,
  o: Common = {},
): Case {
  return {
    ...base(id, source, asserts, o, spec),
    async run(trial) {
      const message = trial.make(specFor(spec, trial.target));
      trial.noSignal(await trial.send(message), statuses);
      trial.nothing(message);
    },
  };
}

/** A case that is listed and not run. */
export function notApplicable(id: string, source: string, asserts: string, reason: string): Case {
  return { id, source, asserts, basis: 'norm', notApplicable: reason, run: async () => {} };
}

function specFor(spec: Spec, target: Target): MessageSpec {
  return typeof spec === 'function' ? spec(target) : spec;
}

function base(id: string, source: string, asserts: string, o: Common, spec: Spec): Omit<Case, 'run'> {
  const as = typeof spec === 'function' ? undefined : spec.as;
  const needs: Need[] = [...(o.needs ?? []), ...(as === undefined || as === 'sender' ? [] : [as])];
  return { id, source, asserts, basis: o.basis ?? 'norm', needs };
}
