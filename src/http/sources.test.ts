import { describe, expect, it } from 'vitest';
import { Sources, sourceOf } from './sources.ts';

function sources(o: { inFlight?: number; failuresPerMinute?: number; capacity?: number } = {}) {
  let at = 0;
  const made = new Sources({ inFlight: 2, failuresPerMinute: 3, now: () => at, ...o });
  const fail = (address: string): void => {
    expect(made.enter(address)).toBeNull();
    made.failed(address);
    made.leave(address);
  };
  return {
    made,
    fail,
    pass(ms: number) {
      at += ms;
    },
  };
}

describe('one source address', () => {
  it('has at most so many requests inside, whatever others have', () => {
    const { made } = sources();
    expect([made.enter('a'), made.enter('a'), made.enter('a'), made.enter('b')]).toEqual([
      null,
      null,
      'source-busy',
      null,
    ]);
    made.leave('a');
    expect(made.enter('a')).toBeNull();
  });

  it('that fails too often is turned away, others are not, and after a while it may come again', () => {
    const { made, fail, pass } = sources();
    for (let i = 0; i < 3; i += 1) fail('a');
    expect([made.enter('a'), made.enter('b')]).toEqual(['source-failing', null]);
    pass(20_000);
    expect(made.enter('a')).toBeNull();
    made.failed('a');
    expect(made.enter('a')).toBe('source-failing');
  });

  it('is never turned away for what succeeds, and forgotten then', () => {
    const { made } = sources();
    for (let i = 0; i < 1000; i += 1) {
      expect(made.enter('a')).toBeNull();
      made.leave('a');
    }
    expect(made.size).toBe(0);
  });

  it('owes no more than one burst, however long it went on', () => {
    const { made, fail, pass } = sources();
    for (let i = 0; i < 3; i += 1) fail('a');
    for (let i = 0; i < 1000; i += 1) made.failed('a');
    pass(60_000);
    for (let i = 0; i < 3; i += 1) fail('a');
    expect(made.enter('a')).toBe('source-failing');
  });

  it('is not counted with 0 failures a minute', () => {
    const { made, fail } = sources({ failuresPerMinute: 0 });
    for (let i = 0; i < 1000; i += 1) fail('a');
    expect(made.enter('a')).toBeNull();
  });
});

it('so many sources are remembered; the one that failed longest ago goes first, one with a request inside never', () => {
  const { made, fail } = sources({ failuresPerMinute: 1, capacity: 3 });
  made.enter('inside');
  for (const address of ['a', 'b', 'c', 'd']) fail(address);
  expect(made.size).toBe(3);
  expect(made.enter('d')).toBe('source-failing');
  expect(made.enter('c')).toBe('source-failing');
  expect(made.enter('a')).toBeNull();
  made.leave('inside');
});

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:2::9', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ['', ''],
])('%s counts as %s', (address, source) => {
  expect(sourceOf(address)).toBe(source);
});

describe('a source is known', () => {
  it('from its receipt until it has failed ten times, with all addresses of its network', () => {
    const { made } = sources();
    expect(made.isKnown('2001:db8::1')).toBe(false);
    made.proven('2001:db8::1');
    expect([made.isKnown('2001:db8::2'), made.isKnown('2001:db9::1')]).toEqual([true, false]);
    for (let n = 0; n < 9; n++) made.failed('2001:db8::3');
    expect(made.isKnown('2001:db8::1')).toBe(true);
    made.proven('2001:db8::1');
    for (let n = 0; n < 9; n++) made.failed('2001:db8::3');
    expect(made.isKnown('2001:db8::1')).toBe(true);
    made.failed('2001:db8::3');
    expect(made.isKnown('2001:db8::1')).toBe(false);
  });

  it('also where failures are not counted', () => {
    const { made } = sources({ failuresPerMinute: 0 });
    made.proven('a');
    for (let n = 0; n < 10; n++) made.failed('a');
    expect(made.isKnown('a')).toBe(false);
  });

  it('until so many others got theirs later', () => {
    const { made } = sources({ capacity: 2 });
    for (const address of ['a', 'b', 'a', 'c']) made.proven(address);
    expect(['a', 'b', 'c'].filter((address) => made.isKnown(address))).toEqual(['a', 'c']);
  });
});
