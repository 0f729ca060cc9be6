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
