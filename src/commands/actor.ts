import { hostname, userInfo } from 'node:os';
import type { Actor } from '../store/operator-types.ts';
import { CommandError } from './io.ts';

/** What the operator says of an exception. Both are asked for, each time: an exception without them cannot be explained later. */
export interface Account {
  readonly by?: string | undefined;
  readonly reason?: string | undefined;
}

/** More is a letter, not a reason. */
const longest = 1000;

/**
 * Who decides, and why; with what the operating system knows of it, since anybody can write anything after `--by`.
 * @throws CommandError exit code 2, when one of them is missing or empty
 */
export function actorOf(account: Account): Actor {
  const by = account.by?.trim() ?? '';
  const reason = account.reason?.trim() ?? '';
  const missing = [...(by === '' ? ['--by (who decides)'] : []), ...(reason === '' ? ['--reason (why)'] : [])];
  if (missing.length > 0) {
    throw new CommandError(`${missing.join(' and ')} must be given, and not be empty: both are recorded for good.`, 2);
  }
  if (by.length > longest || reason.length > longest) {
    throw new CommandError(`--by and --reason may have at most ${longest} characters.`, 2);
  }
  return { by, reason, osUser: osUser(), host: hostname() };
}

/** A container may run under a number that has no name. */
function osUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
