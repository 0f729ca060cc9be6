import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The test PKI. */
export const CERTS = join(import.meta.dirname, '../../certs');

/** Names of those that cannot be run here. */
export async function missing(tools: readonly (readonly [string, string])[]): Promise<string[]> {
  const there = await Promise.all(
    tools.map(([program, argument]) =>
      run(program, [argument]).then(
        () => true,
        () => false,
      ),
    ),
  );
  return tools.filter((_, index) => !there[index]).map(([program]) => program);
}

/**
 * Runs a tool to its end, at most 20 minutes.
 * @throws Error with the last of what it said
 */
export async function tool(program: string, args: readonly string[], cwd: string): Promise<void> {
  try {
    await run(program, args, { cwd, timeout: 1_200_000, maxBuffer: 1 << 26 });
  } catch (error) {
    const { message, stdout = '', stderr = '' } = error as Error & { stdout?: string; stderr?: string };
    throw new Error(`${program} failed: ${`${stdout}\n${stderr}`.trim().slice(-600) || message}`);
  }
}
