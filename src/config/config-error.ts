/**
 * - `unreadable`: the file is not there or cannot be read;
 * - `not-toml`: it is no TOML;
 * - `invalid`: at least one key is unknown or has a value that it cannot have.
 */
export type ConfigErrorCode = 'unreadable' | 'not-toml' | 'invalid';

/** Everything that is wrong with a configuration at once: an operator should not have to start five times to hear of five mistakes. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly code: ConfigErrorCode;
  /** One sentence each, which names the key, where its value came from, and what it should be. */
  readonly problems: readonly string[];

  constructor(code: ConfigErrorCode, problems: readonly string[], cause?: unknown) {
    super(problems.join('\n'), cause === undefined ? undefined : { cause });
    this.code = code;
    this.problems = problems;
  }
}
