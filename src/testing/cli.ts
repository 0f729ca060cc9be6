import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../config/load.ts';
import { environmentOf } from './receiver.ts';

export interface CliResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs the built `quittance` as an operator does, in a process of its own, with the settings of a site's directory.
 * Nothing of this process's own environment goes into it but PATH.
 */
export function runCli(
  directory: string,
  args: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<CliResult> {
  const env = { PATH: process.env.PATH, ...environmentOf(directory, settings) };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [join(PACKAGE_ROOT, 'dist/cli.js'), ...args],
      { cwd: directory, env, encoding: 'utf8', maxBuffer: 100_000_000 },
      (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}
