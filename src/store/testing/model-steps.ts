import fc from 'fast-check';
import type { HandOverEvent } from '../states.ts';
import type { Policy } from './model.ts';
import type { Orders } from './model-hand-overs.ts';
import type { CrashPoint } from './model-store.ts';

/** A form that has not been sent before; small numbers, so that they meet. */
export interface FormStep {
  readonly sender: 0 | 1;
  /** Null: a MessageId of its own. */
  readonly id: number | null;
  readonly content: number;
  readonly instance: number | null;
  readonly interchanges: readonly { readonly reference: number; readonly order: number; readonly dateTime: number }[];
  /** Days between the signed timestamp and now. */
  readonly age: number;
  readonly purpose: 'deliver' | 'review' | 'test';
}
/** How the journey comes to know of a copy: by its body, by its references, or only in the transaction, together with another one. */
export type Path = 'body' | 'references' | 'race';

export type Step =
  | { readonly do: 'send'; readonly form: FormStep; readonly path: Path }
  | { readonly do: 'again'; readonly nth: number; readonly path: Path; readonly times: number }
  | { readonly do: 'rebuild'; readonly nth: number; readonly newId: boolean; readonly path: Path }
  | {
      readonly do: 'crash';
      readonly at: CrashPoint | null;
      readonly off: number;
      readonly form: FormStep;
      readonly nth: number | null;
    }
  | { readonly do: 'pass'; readonly days: number }
  | { readonly do: 'jump'; readonly days: number }
  | { readonly do: 'back' }
  | { readonly do: 'clockIsRight' }
  | { readonly do: 'purge' }
  | { readonly do: 'review'; readonly nth: number; readonly action: Orders }
  | { readonly do: 'reviewHeld'; readonly nth: number; readonly action: Orders }
  | { readonly do: 'redeliver'; readonly nth: number }
  | { readonly do: 'deliver'; readonly nth: number }
  | {
      readonly do: 'event';
      readonly nth: number;
      /** Its hand-over is begun just before. */
      readonly begun: boolean;
      /** Failures, of which the fifth is the last. */
      readonly times: number;
      readonly event: Exclude<HandOverEvent, 'release' | 'reject' | 'confirm' | 'supersede' | 'acknowledge' | 'giveUp'>;
    }
  | { readonly do: 'acknowledge'; readonly nth: number; readonly by: 'message' | 'directory' };

const small = fc.nat({ max: 2 });
const nth = fc.nat({ max: 30 });
const path = fc.constantFrom<Path>('body', 'references', 'race');
const action = fc.constantFrom<Orders>('approve', 'reject', 'confirm');
const mostly = <T>(usual: T, ...others: T[]) =>
  fc.oneof({ weight: 8, arbitrary: fc.constant(usual) }, { weight: 2, arbitrary: fc.constantFrom(...others) });

const form: fc.Arbitrary<FormStep> = fc.record({
  sender: mostly<0 | 1>(0, 1),
  id: fc.option(small),
  content: small,
  instance: fc.option(fc.nat({ max: 1 }), { freq: 2 }),
  interchanges: fc.array(fc.record({ reference: fc.nat({ max: 1 }), order: small, dateTime: fc.nat({ max: 1 }) }), {
    maxLength: 2,
  }),
  age: mostly(0, 100, -2),
  purpose: mostly<FormStep['purpose']>('deliver', 'review', 'test'),
});

const of = <T extends object>(weight: number, what: Step['do'], rest: fc.Arbitrary<T>) => ({
  weight,
  arbitrary: rest.map((r) => ({ do: what, ...r }) as unknown as Step),
});

export const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    of(8, 'send', fc.record({ form, path })),
    of(5, 'again', fc.record({ nth, path, times: mostly(1, 2, 3) })),
    of(3, 'rebuild', fc.record({ nth, newId: fc.boolean(), path })),
    of(
      2,
      'crash',
      fc.record({
        at: fc.constantFrom('before-commit', 'after-commit', null),
        off: mostly(0, 3, 40),
        form,
        nth: fc.option(nth),
      }),
    ),
    of(2, 'pass', fc.record({ days: fc.constantFrom(0.01, 1, 31, 89, 91, 400) })),
    of(1, 'jump', fc.record({ days: fc.constantFrom(400, 2, -1, -400) })),
    of(1, 'back', fc.constant({})),
    of(1, 'clockIsRight', fc.constant({})),
    of(2, 'purge', fc.constant({})),
    of(3, 'review', fc.record({ nth, action })),
    of(2, 'reviewHeld', fc.record({ nth, action })),
    of(2, 'redeliver', fc.record({ nth })),
    of(5, 'deliver', fc.record({ nth })),
    of(
      4,
      'event',
      fc.record({
        nth,
        begun: fc.boolean(),
        times: mostly(1, 5),
        event: fc.constantFrom(
          'handOver',
          'delivered',
          'fail',
          'lost',
          'restored',
          'redeliverAfterPowerLoss',
          'reviewAfterPowerLoss',
        ),
      }),
    ),
    of(2, 'acknowledge', fc.record({ nth, by: fc.constantFrom('message', 'directory') })),
  ),
  { minLength: 1, maxLength: 30, size: 'max' },
);

/** The rules that a sequence goes by. */
export const policies: fc.Arbitrary<Omit<Policy, 'window'>> = fc.record({
  conflict: fc.constantFrom('reject', 'hold'),
  outsideWindow: mostly<Policy['outsideWindow']>('deliver', 'review'),
  staleTimestamp: fc.constantFrom('review', 'deliver', 'refuse'),
  onConflict: fc.constantFrom('review', 'allow', 'suppress'),
  replacePending: fc.boolean(),
  rebuilt: mostly<Policy['rebuilt']>('own-receipt', 'first-receipt'),
});
