import { afterEach, expect, it } from 'vitest';
import { StoreError } from './store/types.ts';
import { removeDirectory, startReceiver, type TestReceiver } from './testing/receiver.ts';

let receiver: TestReceiver | null = null;
afterEach(() => {
  if (receiver) removeDirectory(receiver);
});

it('a store that cannot be asked makes the receiver not ready, and is named', async () => {
  receiver = await startReceiver();
  const ready = () => fetch(new URL('/health/ready', receiver?.url));
  expect((await ready()).status).toBe(200);
  // The store goes away under the receiver, as when its thread has ended.
  await receiver.quittance.store.close();
  await expect(receiver.quittance.store.counts()).rejects.toBeInstanceOf(StoreError);
  const answer = await ready();
  expect(answer.status).toBe(503);
  const said = (await answer.json()) as { status: string; degraded: { what: string }[] };
  expect(said.status).toBe('unavailable');
  expect(said.degraded).toContainEqual({
    what: expect.stringMatching(/^the store does not answer: /),
    since: expect.any(String),
  });
  await receiver.stop();
});

it('a store that cannot be asked leaves the other numbers of the metrics readable, and its own out', async () => {
  receiver = await startReceiver();
  const metrics = async () => {
    const answer = await fetch(new URL('/metrics', receiver?.url));
    expect(answer.status).toBe(200);
    return answer.text();
  };
  const ofTheStore = /^quittance_(hand_overs|reviews_waiting|review_oldest_seconds)[{ ]/m;
  const ofOthers = /^quittance_(resident_bytes|cpu_seconds_total|in_flight|certificate_days_to_expiry)[{ ]/gm;
  expect(await metrics()).toMatch(ofTheStore);
  await receiver.quittance.store.close();
  const text = await metrics();
  expect(text).not.toMatch(ofTheStore);
  expect(new Set([...text.matchAll(ofOthers)].map(([, name]) => name)).size).toBe(4);
  await receiver.stop();
});
