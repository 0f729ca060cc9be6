import { expect, test } from 'vitest';
import { groupId } from './group-id.ts';

test('a group is found by name and by number, and an empty one is none', () => {
  expect(groupId('root')).toBe(0);
  expect(groupId('1234')).toBe(1234);
  expect(groupId('')).toBeNull();
});

test('a group that is not there is an error that names it', () => {
  expect(() => groupId('no-such-group')).toThrow('delivery.group: there is no group "no-such-group" on this machine');
});
