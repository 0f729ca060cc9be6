import { describe, expect, test } from 'vitest';
import { ClockGuard, type ClockState } from './clock-guard.ts';
import { systemClock } from './system-clock.ts';
import { storeFixture } from './testing/fixture.ts';
import { day, noon, sampleMessage } from './testing/sample.ts';

const hour = 3_600_000;
const actor = { by: 'Alice', reason: 'it was away', osUser: 'alice', host: 'ops' };

/** A clock that a test moves. */
function movable(at = noon) {
  const clock = { wall: at, ran: 0, boot: 0 };
  return {
    now: () => clock.wall,
    monotonic: () => clock.ran,
    sinceBoot: () => clock.boot,
    /** Time goes by. */
    pass(ms: number) {
      clock.wall += ms;
      clock.ran += ms;
      clock.boot += ms;
    },
    /** Somebody sets it. */
    jump(ms: number) {
      clock.wall += ms;
    },
    sleep(ms: number) {
      clock.wall += ms;
      clock.boot += ms;
    },
  };
}
const fresh: ClockState = { newestHeartbeat: null, doubt: null };
const alive = (at: number): ClockState => ({ newestHeartbeat: at, doubt: null });

describe('the clock guard', () => {
  test('time that passes, a small correction and a clock set back are nothing', () => {
    const clock = movable();
    const guard = new ClockGuard(clock, fresh);
    clock.pass(400 * day);
    clock.jump(hour - 1);
    expect(guard.effective(clock.now())).toBe(clock.now());
    clock.jump(-5 * day);
    expect(guard.check()).toBeNull();
  });

  test('more than an hour gained on the monotonic clock stops time where it was last trusted', () => {
    const clock = movable();
    const guard = new ClockGuard(clock, fresh);
    clock.pass(hour);
    clock.jump(400 * day);
    expect(guard.effective(clock.now())).toBe(noon + hour);
    expect(guard.check()?.why).toContain('jumped ahead');
    clock.pass(day);
    expect(guard.effective(clock.now())).toBe(noon + hour);
  });

  test('a machine that booted with a dead clock and is set right soon after is no jump ahead', () => {
    const clock = movable(Date.UTC(2020, 0, 1));
    const guard = new ClockGuard(clock, alive(noon));
    clock.pass(10_000);
    clock.jump(noon + day - clock.now());
    expect(guard.check()).toBeNull();
    expect(guard.effective(clock.now())).toBe(noon + day);
    // From there on a jump is one again; and set to a time that no start would believe, it is one at once.
    clock.jump(day);
    expect(guard.check()).not.toBeNull();
    const wrong = movable(Date.UTC(2020, 0, 1));
    const other = new ClockGuard(wrong, alive(noon));
    wrong.jump(noon + 31 * day - wrong.now());
    expect(other.check()).not.toBeNull();
  });

  test('a clock that comes back is trusted again', () => {
    const clock = movable();
    const guard = new ClockGuard(clock, fresh);
    clock.jump(400 * day);
    expect(guard.check()).not.toBeNull();
    clock.pass(2 * hour);
    clock.jump(-400 * day);
    expect(guard.check()).toBeNull();
    expect(guard.effective(clock.now())).toBe(noon + 2 * hour);
  });

  test('a machine that slept over a weekend is believed: the clock that counts since boot went on', () => {
    const clock = movable();
    const guard = new ClockGuard(clock, fresh);
    clock.sleep(3 * day);
    expect(guard.check()).toBeNull();
    clock.jump(2 * hour);
    expect(guard.check()).not.toBeNull();
  });

  test.each([
    ['a quiet weekend', 3 * day, true],
    ['a day switched off', day, true],
    ['thirty days switched off', 30 * day, true],
    ['a start more than thirty days after the newest heartbeat', 30 * day + 1, false],
  ])('%s', (_, away, trusted) => {
    const guard = new ClockGuard(movable(noon + away), alive(noon));
    expect(guard.check() === null).toBe(trusted);
    expect(guard.effective(noon + away)).toBe(trusted ? noon + away : noon);
  });

  test('a doubt survives a restart with the same wrong clock, and not one with the right clock', () => {
    const doubt = { since: noon + 2 * day, trusted: noon, why: 'it jumped' };
    expect(new ClockGuard(movable(noon + 2 * day + hour), { newestHeartbeat: noon, doubt }).check()).toEqual(doubt);
    expect(new ClockGuard(movable(noon + hour), { newestHeartbeat: noon, doubt }).check()).toBeNull();
  });

  test("the machine's own clocks agree with each other", () => {
    const guard = new ClockGuard(systemClock, fresh);
    expect(guard.check()).toBeNull();
  });
});

describe('clock +400 days and back', () => {
  const fixture = storeFixture();
  const limits = { payloadRetention: day, evidenceRetention: day, dryRun: false };
  const heartbeats = async () => fixture.value('SELECT count(*) FROM heartbeat');

  test('empties no log: repeats stay repeats, new messages are neither stale nor refused, and nothing is purged', async () => {
    const clock = movable();
    const store = await fixture.open({ clock });
    const message = sampleMessage('m1');
    await store.accept(message);
    clock.jump(400 * day);
    const now = clock.now();
    expect((await store.find(message, message.referenceSet, now))?.receipt).not.toBeNull();
    expect(await store.findRequest(message.requestDigest!, now)).not.toBeNull();
    expect(await store.accept({ ...message, receivedAt: now })).toMatchObject({ kind: 'duplicate' });
    // Its sender's clock is right.
    expect(await store.accept(sampleMessage('m2', { receivedAt: now }))).toMatchObject({ decision: 'allow' });
    await expect(store.purge({ now, ...limits })).rejects.toMatchObject({ code: 'clock' });
    expect(store.degraded()[0]?.what).toMatch(/Nothing expires.*purge --clock-is-right/);
    clock.jump(-400 * day);
    expect(store.degraded()).toEqual([]);
    expect(await store.accept({ ...message, receivedAt: clock.now() })).toMatchObject({ kind: 'duplicate' });
    expect(await store.purge({ now: clock.now(), ...limits })).toMatchObject({ keys: 0 });
    expect(fixture.rows('SELECT decision FROM decision WHERE message IS NULL').map((r) => r.decision)).toEqual([
      'clockDoubted',
      'clockAgrees',
    ]);
  });

  test('another process sees the doubt, and an operator ends it for all of them', async () => {
    const clock = movable();
    const serving = await fixture.open({ clock, heartbeat: true });
    await serving.accept(sampleMessage('m1'));
    expect(await heartbeats()).toBe(1);
    clock.jump(40 * day);
    serving.degraded();
    await serving.counts();
    const command = await fixture.open({ clock });
    await expect(command.purge({ now: clock.now(), ...limits })).rejects.toThrow('clock-is-right');
    await command.clockIsRight(actor, clock.now());
    expect(await command.purge({ now: clock.now(), ...limits })).toMatchObject({ keys: 0 });
    expect(fixture.rows(`SELECT actor, reason FROM decision WHERE decision = 'clockIsRight'`)).toEqual([
      { actor: 'Alice', reason: 'it was away' },
    ]);
    expect(await serving.purge({ now: clock.now(), ...limits })).toMatchObject({ keys: 0 });
    expect(serving.degraded()).toEqual([]);
  });

  test('a start forty days after the newest heartbeat is doubted until an operator says so, also after another start', async () => {
    const first = movable();
    await (await fixture.open({ clock: first, heartbeat: true })).close();
    const later = movable(noon + 40 * day);
    for (let start = 0; start < 2; start++) {
      const store = await fixture.open({ clock: later, heartbeat: true });
      expect(store.degraded()).toHaveLength(1);
      await store.close();
    }
    const store = await fixture.open({ clock: later, heartbeat: true });
    await store.clockIsRight(actor, later.now());
    expect(store.degraded()).toEqual([]);
    await store.close();
    expect((await fixture.open({ clock: later })).degraded()).toEqual([]);
  });
});
