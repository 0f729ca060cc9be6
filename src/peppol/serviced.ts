import { readFile, stat } from 'node:fs/promises';
import { parse } from 'smol-toml';
import { z } from 'zod';
import { As4Error } from '../as4-error.ts';
import { quote } from '../ebms/quote.ts';
import { type Pattern, patternOf } from './pattern.ts';
import type { Identifier, Routing } from './routing.ts';

export interface ServicedListOptions {
  /** How often the file is looked at, in milliseconds; default 2000. A look is one stat, which no rename can escape. */
  readonly pollEvery?: number;
  /** Epoch milliseconds. */
  readonly now?: () => number;
}

/** A serviced list that cannot be used; the message says what to do. */
export class ServicedListError extends Error {
  override readonly name = 'ServicedListError';
}

const entry = z.strictObject({
  participant: z.string().min(1),
  documentType: z.string().min(1).default('*'),
  process: z.string().min(1).default('*'),
});
const schema = z.strictObject({ serviced: z.array(entry) });

interface Rule {
  readonly participant: Pattern;
  readonly documentType: Pattern;
  readonly process: Pattern;
}

/** Rules of exactly one participant are found by its name, so that a long list costs nothing. */
interface Rules {
  readonly exact: ReadonlyMap<string, readonly Rule[]>;
  readonly wild: readonly Rule[];
}

/**
 * Who is serviced, from a TOML file that is read again when it changes:
 *
 * ```toml
 * [[serviced]]
 * participant = "iso6523-actorid-upis::0088:123*"
 * documentType = "busdox-docid-qns::urn:oasis:…::Invoice##*"   # both default to "*"
 * process = "cenbii-procid-ubl::urn:fdc:peppol.eu:2017:poacc:billing:01:1.0"
 * ```
 *
 * `*` stands for any characters. Participants are compared case-insensitively (PFUOI policy 1). A file that breaks leaves the last
 * good list in force.
 */
export class ServicedList {
  #rules: Rules;
  readonly #file: string;
  #signature: string | null;
  #fault: string | null = null;
  readonly #now: () => number;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | null = null;

  private constructor(file: string, rules: Rules, signature: string, options: ServicedListOptions) {
    this.#file = file;
    this.#rules = rules;
    this.#signature = signature;
    this.#now = options.now ?? Date.now;
    this.#timer = setInterval(() => void this.reload(), options.pollEvery ?? 2000);
    this.#timer.unref();
  }

  /** @throws {ServicedListError} when the file cannot be read or understood */
  static async load(file: string, options: ServicedListOptions = {}): Promise<ServicedList> {
    const signature = await signatureOf(file);
    return new ServicedList(file, await readRules(file), signature, options);
  }

  isServiced(participant: Identifier, documentType: Identifier, process: Identifier): boolean {
    const name = written(participant).toLowerCase();
    const matches = (rule: Rule): boolean =>
      rule.documentType.matches(written(documentType)) && rule.process.matches(written(process));
    return (
      this.#rules.exact.get(name)?.some(matches) === true ||
      this.#rules.wild.some((rule) => rule.participant.matches(name) && matches(rule))
    );
  }

  /** Reads the file again if it has changed. Never rejects: a fault shows in {@link degraded}. */
  reload(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  /** A sentence with the time since when the file has been unusable; null when the list in force is the file's. */
  degraded(): string | null {
    return this.#fault;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    try {
      const signature = await signatureOf(this.#file);
      if (signature === this.#signature) return;
      this.#rules = await readRules(this.#file);
      this.#signature = signature;
      this.#fault = null;
    } catch (error) {
      this.#signature = null; // look again, even if it comes back unchanged
      const since = new Date(this.#now()).toISOString();
      this.#fault ??= `${error instanceof Error ? error.message : String(error)}; the last good list is in force (since ${since})`;
    }
  }
}

/** The refusal that Peppol prescribes (Peppol AS4 Profile §4, facts §4.3); its detail is this very token. */
export function notServiced({ receiver, documentType, process }: Routing): As4Error {
  return new As4Error(
    'EBMS:0004',
    `The receiver ${quote(written(receiver))} is not serviced here for ${quote(written(documentType))} and ${quote(written(process))}`,
    { detail: 'PEPPOL:NOT_SERVICED', reason: 'not-serviced' },
  );
}

async function signatureOf(file: string): Promise<string> {
  try {
    const { ino, mtimeMs, ctimeMs, size } = await stat(file);
    return `${ino} ${mtimeMs} ${ctimeMs} ${size}`;
  } catch (error) {
    throw new ServicedListError(`serviced list ${file} cannot be read`, { cause: error });
  }
}

async function readRules(file: string): Promise<Rules> {
  let content: unknown;
  try {
    content = parse(await readFile(file, 'utf8'));
  } catch (error) {
    const what = error instanceof Error ? error.message.split('\n')[0] : '';
    throw new ServicedListError(`serviced list ${file} cannot be read: ${what}`, { cause: error });
  }
  const checked = schema.safeParse(content);
  if (!checked.success) {
    const [issue] = checked.error.issues;
    throw new ServicedListError(`serviced list ${file}: ${issue?.path.join('.')}: ${issue?.message}`);
  }
  const exact = new Map<string, Rule[]>();
  const wild: Rule[] = [];
  for (const { participant, documentType, process } of checked.data.serviced) {
    for (const value of [participant, documentType, process]) {
      if (!value.includes('*') && !value.includes('::')) {
        throw new ServicedListError(`serviced list ${file}: ${quote(value)} is not of the form scheme::value`);
      }
    }
    const name = participant.toLowerCase();
    const rule = { participant: patternOf(name), documentType: patternOf(documentType), process: patternOf(process) };
    if (name.includes('*')) {
      wild.push(rule);
      continue;
    }
    const same = exact.get(name);
    if (same === undefined) exact.set(name, [rule]);
    else same.push(rule);
  }
  return { exact, wild };
}

function written({ scheme, value }: Identifier): string {
  return `${scheme}::${value}`;
}
