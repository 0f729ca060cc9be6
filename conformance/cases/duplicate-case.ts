import { randomUUID } from 'node:crypto';
import type { Case, Need } from '../case.ts';
import type { MessageSpec } from '../message.ts';
import type { Trial } from '../runner/trial.ts';

/** AS4's chapter about retries. */
export const RETRY = 'AS4 §3.2';
/** What another message under a known MessageId gets. */
export const CONFLICT = { codes: ['0003'] } as const;

/**
 * A case about what comes twice under one MessageId. No norm says what a duplicate is answered with (facts §2.1.8), but for
 * AS4_CP_TA10, which is content with any receipt; so most of them are our reading.
 */
export function duplicate(
  id: string,
  source: string,
  asserts: string,
  run: (trial: Trial) => Promise<void>,
  o: { readonly basis?: Case['basis']; readonly needs?: readonly Need[]; readonly when?: 'alone' } = {},
): Case {
  return { id: `Q-DUP-${id}`, source, asserts, basis: 'reading', ...o, run };
}

/** A message that comes out the same each time it is made, but for keys, IVs and what comes of them. */
export function repeatable(): () => MessageSpec {
  const seed = randomUUID();
  const timestamp = new Date().toISOString();
  return () => {
    let count = 0;
    return {
      newId: () => `${seed}-${++count}`,
      header: { timestamp },
      sbd: { instanceIdentifier: seed, created: timestamp },
    };
  };
}

/** A MessageId to be used more than once. */
export function named(): MessageSpec {
  return { header: { messageId: `${randomUUID()}@sender.example` } };
}

/** Breaks the signature of an envelope. */
export function breakSignature(xml: string): string {
  return xml.replace(/(<ds:SignatureValue>)(.)/, (_, tag, c) => tag + (c === 'A' ? 'B' : 'A'));
}
