import { expect, test } from 'vitest';
import { untilNextFetch, untilRetry } from './fetch-schedule.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

test.each([
  ['after the interval', HOUR, null, 7 * DAY, HOUR],
  ['no earlier for a server that says less', HOUR, 60, 7 * DAY, HOUR],
  ['later when the server says so', HOUR, 4 * 3600, 7 * DAY, 4 * HOUR],
  ['but not later than half of what is left of the list', HOUR, 7 * 86_400, 8 * HOUR, 4 * HOUR],
  ['nor later than a day', HOUR, 90 * 86_400, 300 * DAY, DAY],
  ['soon when the list is about to end', HOUR, null, 10 * MINUTE, 5 * MINUTE],
  ['every minute when it has ended', HOUR, 86_400, -DAY, MINUTE],
  ['never more often than that', 0, 0, 7 * DAY, MINUTE],
])('a list is fetched again %s', (_, interval, maxAge, left, expected) => {
  expect(untilNextFetch(interval, maxAge, left)).toBe(expected);
});

test('a failed fetch is tried again after a minute, then after twice as long each time, up to the interval', () => {
  expect([1, 2, 3, 7, 2000].map((failures) => untilRetry(HOUR, failures))).toEqual(
    [1, 2, 4, 60, 60].map((minutes) => minutes * MINUTE),
  );
  expect(untilRetry(1000, 1)).toBe(MINUTE);
});
