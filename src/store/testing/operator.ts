import type { Actor } from '../operator-types.ts';
import type { Store } from '../types.ts';
import { noon } from './sample.ts';

/** The operator of the tests. */
export const actor: Actor = { by: 'Alice', reason: 'agreed by phone', osUser: 'alice', host: 'ops' };

/** Begins a hand-over. */
export async function handOver(store: Store, number: number, directory = `20261130_m_${number}`): Promise<void> {
  await store.outbox.startHandingOver([{ number, directory }], 'boot', noon);
}

/** Begins a hand-over and marks it delivered. */
export async function deliver(store: Store, number: number, directory?: string): Promise<void> {
  await handOver(store, number, directory);
  await store.outbox.delivered([number], noon);
}
