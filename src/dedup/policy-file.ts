import { readFile, stat } from 'node:fs/promises';
import { parseDuration } from '../config/duration.ts';
import { DEFAULT_WINDOW } from '../config/schema.ts';
import { makePolicy, type Policy, type RuleValues } from './policy.ts';
import { DEFAULT_POLICY } from './policy-default.ts';
import { PolicyError } from './policy-error.ts';
import { parsePolicy } from './policy-toml.ts';

export interface PolicyFileOptions {
  /** How often the file is looked at, in milliseconds; default 2000. */
  readonly pollEvery?: number;
  /** Epoch milliseconds. */
  readonly now?: () => number;
  /** Called with each policy that comes into force after the first. */
  readonly onChange?: (policy: Policy) => void;
}

/** Source of the rules that ship with the program. */
export const SHIPPED = 'the rules that ship with quittance';

/**
 * The policy in force. With a file, it is read again when it changes; a file that breaks leaves the last good rules in force.
 */
export class PolicyFile {
  #policy: Policy;
  readonly #file: string;
  readonly #defaults: RuleValues;
  readonly #options: PolicyFileOptions;
  #signature: string | null;
  #fault: string | null = null;
  readonly #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | null = null;

  private constructor(file: string, defaults: RuleValues, first: Loaded, options: PolicyFileOptions) {
    this.#file = file;
    this.#defaults = defaults;
    this.#policy = first.policy;
    this.#signature = first.signature;
    this.#options = options;
    if (file !== '') {
      this.#timer = setInterval(() => void this.reload(), options.pollEvery ?? 2000);
      this.#timer.unref();
    }
  }

  /**
   * @param file `''`: the rules that ship with the program
   * @param defaults what a rule leaves out, see policyDefaults
   * @throws {PolicyError} when the file cannot be read or understood
   */
  static async load(file: string, defaults: RuleValues, options: PolicyFileOptions = {}): Promise<PolicyFile> {
    return new PolicyFile(file, defaults, await load(file, defaults), options);
  }

  get policy(): Policy {
    return this.#policy;
  }

  /** Reads the file again if it has changed. Never rejects: a fault shows in {@link degraded}. */
  reload(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  /** A sentence with the time since when the file has been unusable; null when the policy in force is the file's. */
  degraded(): string | null {
    return this.#fault;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    if (this.#file === '') return;
    try {
      if ((await signatureOf(this.#file)) === this.#signature) return;
      const { policy, signature } = await load(this.#file, this.#defaults);
      // It is still being written: half a file may be a valid one with half the rules.
      if ((await signatureOf(this.#file)) !== signature) return;
      const changed = policy.version !== this.#policy.version;
      this.#policy = policy;
      this.#signature = signature;
      this.#fault = null;
      if (changed) this.#options.onChange?.(policy);
    } catch (error) {
      this.#signature = null; // look again, even if it comes back unchanged
      const since = new Date((this.#options.now ?? Date.now)()).toISOString();
      const what = error instanceof Error ? error.message.replaceAll('\n', ' ') : String(error);
      this.#fault ??= `${what} The last good policy is in force (since ${since}).`;
    }
  }
}

interface Loaded {
  readonly policy: Policy;
  readonly signature: string | null;
}

async function load(file: string, defaults: RuleValues): Promise<Loaded> {
  if (file === '') return { policy: shippedPolicy(defaults), signature: null };
  // Taken before the file is read: a change in between is seen at the next look.
  const signature = await signatureOf(file);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    throw unreadable(file, cause);
  }
  return { policy: parsePolicy(text, file, defaults), signature };
}

/**
 * What holds without a file: the shipped rules as long as duplicates.window has its default. An operator who has changed that, and
 * has no rules, means it for every message.
 */
export function shippedPolicy(defaults: RuleValues): Policy {
  if (defaults.window === parseDuration(DEFAULT_WINDOW)) return parsePolicy(DEFAULT_POLICY, SHIPPED, defaults);
  const note = `duplicates.window is not ${DEFAULT_WINDOW}, so it holds for every message, and ${SHIPPED} do not.`;
  return makePolicy('[duplicates] alone', [], defaults, [note]);
}

async function signatureOf(file: string): Promise<string> {
  try {
    const { ino, mtimeMs, ctimeMs, size } = await stat(file);
    return `${ino} ${mtimeMs} ${ctimeMs} ${size}`;
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

function unreadable(file: string, cause: unknown): PolicyError {
  const { code, message } = cause as NodeJS.ErrnoException;
  const what = code === 'ENOENT' ? 'does not exist' : `cannot be read (${message})`;
  return new PolicyError([`The policy ${file} ${what}; "quittance policy show > ${file}" writes one.`], cause);
}
