import { readFileSync } from 'node:fs';
import { DeliveryError } from './delivery-error.ts';

/**
 * A group's number out of /etc/group: Node has no getgrnam.
 * @param group name or number; empty: null
 * @throws {DeliveryError} `trouble` when there is no such group
 */
export function groupId(group: string): number | null {
  if (group === '') return null;
  if (/^\d+$/.test(group)) return Number(group);
  const line = readFileSync('/etc/group', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${group}:`));
  if (line === undefined)
    throw new DeliveryError(
      'trouble',
      `there is no group ${group} on this machine; set delivery.group to one that exists`,
    );
  return Number(line.split(':')[2]);
}
