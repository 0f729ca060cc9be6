import { execFileSync } from 'node:child_process';
import { ConfigError } from './config-error.ts';

/**
 * The number of delivery.group, which may be a name; the system's own look-up also knows the groups of a directory service.
 * @returns null when none is set
 * @throws ConfigError `invalid` when there is no such group
 */
export function groupId(group: string): number | null {
  if (group === '') return null;
  if (/^\d+$/.test(group)) return Number(group);
  try {
    const entry = execFileSync('getent', ['group', '--', group], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return Number(entry.split(':')[2]);
  } catch (cause) {
    throw new ConfigError(
      'invalid',
      [`delivery.group: there is no group ${JSON.stringify(group)} on this machine; set one that exists, or "".`],
      cause,
    );
  }
}
