import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import { type TestMessage, TestSender } from '../testing/messages.ts';
import { type PostedAnswer, post } from '../testing/post.ts';
import { removeDirectory, startReceiver } from '../testing/receiver.ts';
import { Gate } from './gate.ts';
import { Sources } from './sources.ts';
import { Stay } from './stay.ts';
import { Strangers } from './strangers.ts';

/** What a commit waits for. The receiver is real in everything else, and no product code knows of this. */
const disk = vi.hoisted(() => ({ ready: Promise.resolve() }));
vi.mock('../receive.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('../receive.ts')>();
  const createReceive: typeof original.createReceive = (o) =>
    original.createReceive({
      ...o,
      store: { ...o.store, accept: (message) => disk.ready.then(() => o.store.accept(message)) },
    });
  return { ...original, createReceive };
});

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** Comes again as long as the gate is full, as a sender would. */
async function admitted(url: string, message: TestMessage): Promise<PostedAnswer> {
  for (;;) {
    const answer = await post(url, message);
    if (!answer.body.includes('The receiver is busy') && !answer.body.includes('from this address at a time')) {
      return answer;
    }
    await pause(5);
  }
}

it('copies that wait for another one take no place of the messages that are worked on, and have a limit of their own', async () => {
  const settings = { 'http.inFlight': '3', 'http.inFlightPerSource': '2', 'http.waiting': '6' };
  const receiver = await startReceiver({ settings });
  cleanUps.push(() => receiver.stop().finally(() => removeDirectory(receiver)));
  const sender = new TestSender();
  const [known, next] = [await sender.message(), await sender.message()];
  const receipt = await post(receiver.url, known);

  let commit = (): void => {};
  disk.ready = new Promise((resolve) => {
    commit = resolve;
  });
  const turnedAway: PostedAnswer[] = [];
  let allTurnedAway = (): void => {};
  const onlyWaiting = new Promise<void>((resolve) => {
    allTurnedAway = resolve;
  });
  const copies = Array.from({ length: 10 }, async () => {
    const answer = await admitted(receiver.url, next);
    if (answer.status === 503) turnedAway.push(answer);
    if (turnedAway.length === 3) allTurnedAway();
    return answer;
  });
  // One commits, six wait, three are told that so many wait already: from here on nothing moves.
  await onlyWaiting;
  expect((await post(receiver.url, known)).body.equals(receipt.body)).toBe(true);
  commit();

  const answers = await Promise.all(copies);
  expect(turnedAway.map(({ body }) => body.includes('too many requests wait'))).toEqual([true, true, true]);
  const received = answers.filter(({ status }) => status === 200);
  expect(received).toHaveLength(7);
  expect(received.every(({ body }) => body.equals((received[0] as PostedAnswer).body))).toBe(true);
  expect(await receiver.inbox()).toHaveLength(2);
});

it('a message that goes on after it waited counts again, is counted once, and is waited for when the gate closes', async () => {
  const gate = new Gate(1);
  const sources = new Sources({ inFlight: 1, failuresPerMinute: 0, now: Date.now });
  const come = (): Stay | string => {
    const refusal = sources.enter('a') ?? gate.enter();
    return refusal ?? new Stay(gate, sources, 'a', new Strangers(0), true);
  };
  const first = come() as Stay;
  expect(come()).toBe('source-busy');
  const goOn = first.pause();
  const second = come() as Stay;
  expect(second).toBeInstanceOf(Stay);
  goOn();
  goOn();
  expect(gate.inFlight).toBe(2);
  first.pause();
  let closed = false;
  const closing = gate.close().then(() => {
    closed = true;
  });
  second.end();
  second.end();
  second.pause()();
  await Promise.resolve();
  expect([closed, gate.inFlight, sources.size]).toEqual([false, 0, 0]);
  first.end();
  await closing;
  expect([gate.inFlight, sources.size]).toEqual([0, 0]);
});
