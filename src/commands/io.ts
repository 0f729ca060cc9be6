/** What a command sees of the world; tests pass their own. */
export interface Io {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** A line for whoever reads stdout. */
  readonly out: (line: string) => void;
  /** A sentence on stderr. */
  readonly err: (line: string) => void;
}

/** 0 done, 1 refused or failed, 2 wrong usage. */
export type ExitCode = 0 | 1 | 2;

/** A failure that the operator can mend: its message is a sentence that says how. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: 1 | 2 = 1, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.exitCode = exitCode;
  }
}
