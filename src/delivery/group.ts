import { groupId as systemGroupId } from '../config/group-id.ts';
import { DeliveryError } from './delivery-error.ts';

/**
 * A group's number, found as `quittance check` finds it.
 * @param group name or number; empty: null
 * @throws {DeliveryError} `trouble` when there is no such group
 */
export function groupId(group: string): number | null {
  try {
    return systemGroupId(group);
  } catch (cause) {
    throw new DeliveryError(
      'trouble',
      `there is no group ${group} on this machine; set delivery.group to one that exists`,
      cause,
    );
  }
}
