import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ConfigError } from './config-error.ts';

const run = promisify(execFile);

/**
 * The number of delivery.group, which may be a name; the system's own look-up also knows groups out of a directory service.
 * @returns null when none is set
 * @throws ConfigError `invalid` when there is no such group
 */
export async function groupId(group: string): Promise<number | null> {
  if (group === '') return null;
  if (/^\d+$/.test(group)) return Number(group);
  try {
    const { stdout } = await run('getent', ['group', '--', group]);
    return Number(stdout.split(':')[2]);
  } catch (cause) {
    throw new ConfigError(
      'invalid',
      [`delivery.group: there is no group ${JSON.stringify(group)} on this machine.`],
      cause,
    );
  }
}
