import { expect, test } from 'vitest';
import { groupId } from './group-id.ts';

test('a group is found by name and by number, and an empty one is none', async () => {
  expect(await groupId('root')).toBe(0);
  expect(await groupId('1234')).toBe(1234);
  expect(await groupId('')).toBeNull();
});

test('a group that is not there is an error that names it', async () => {
  await expect(groupId('no-such-group')).rejects.toThrow(
    'delivery.group: there is no group "no-such-group" on this machine.',
  );
});
