/** A policy that cannot be used. Everything that is wrong with it at once, a sentence each. */
export class PolicyError extends Error {
  override readonly name = 'PolicyError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[], cause?: unknown) {
    super(problems.join('\n'), cause === undefined ? undefined : { cause });
    this.problems = problems;
  }
}
