import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, TomlError } from 'smol-toml';
import { ConfigError } from './config-error.ts';
import { readEnvironment } from './environment.ts';
import { type ConfigKey, configKeys } from './keys.ts';
import { describeIssue } from './problems.ts';
import { contradictions } from './rules.ts';
import { type Config, configSchema } from './schema.ts';

/** The file that is read when none is named, if it is there. */
export const DEFAULT_FILE = 'quittance.toml';

/** Where this package lies: the test certificates ship with it. The same from `src/config/` and from `dist/config/`. */
export const PACKAGE_ROOT = fileURLToPath(new URL('../../', import.meta.url));

export interface LoadOptions {
  /** `--config`; null reads ./quittance.toml when there is one. */
  readonly file: string | null;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

export interface LoadedConfig {
  readonly config: Config;
  /** Absolute path of the file that was read; null when there was none. */
  readonly file: string | null;
}

type Tree = Record<string, unknown>;

/**
 * Reads file and environment (which wins), checks everything at once and makes paths absolute: relative ones start at the file's
 * directory, or at the working directory without a file; the test certificates that stand in for unset keys lie in this package.
 * @throws ConfigError with all problems
 */
export async function loadConfig(o: LoadOptions): Promise<LoadedConfig> {
  const file = findFile(o);
  const tree = file === null ? {} : await readToml(file);
  const keys = configKeys();
  const origins = new Map<string, string>();
  const environment = readEnvironment(o.env, keys);
  for (const { key, variable, value } of environment.values) {
    put(tree, key, value);
    origins.set(key.dotted, variable);
  }
  const given = new Set(keys.filter((k) => get(tree, k) !== undefined).map((k) => k.dotted));
  dropTestStandIns(tree, given);
  const result = configSchema.safeParse(tree);
  if (!result.success) {
    const issues = result.error.issues.flatMap((issue) => describeIssue(issue, { keys, tree, origins, file }));
    throw new ConfigError('invalid', [...environment.problems, ...issues]);
  }
  const config = result.data;
  const base = file === null ? o.cwd : dirname(file);
  for (const key of keys) makeAbsolute(config, key, isTestStandIn(key, given) ? PACKAGE_ROOT : base);
  const problems = [...environment.problems, ...contradictions(config, given)];
  if (problems.length > 0) throw new ConfigError('invalid', problems);
  return { config: freeze(config), file };
}

function findFile(o: LoadOptions): string | null {
  if (o.file !== null) return resolve(o.cwd, o.file);
  const usual = resolve(o.cwd, DEFAULT_FILE);
  return existsSync(usual) ? usual : null;
}

async function readToml(file: string): Promise<Tree> {
  let source: string;
  try {
    source = await readFile(file, 'utf8');
  } catch (cause) {
    const why =
      (cause as NodeJS.ErrnoException).code === 'ENOENT'
        ? 'does not exist'
        : `cannot be read (${(cause as Error).message})`;
    throw new ConfigError(
      'unreadable',
      [`The configuration file ${file} ${why}; "quittance init ${file}" writes one.`],
      cause,
    );
  }
  try {
    return parse(source.replace(/^\uFEFF/, '')) as Tree;
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const what = cause.message.split('\n')[0]!.replace(/^Invalid TOML document: /, '');
    throw new ConfigError(
      'not-toml',
      [`${file}, line ${cause.line}, column ${cause.column}: not valid TOML: ${what}.`],
      cause,
    );
  }
}

function get(tree: Tree, key: ConfigKey): unknown {
  const at = key.section === null ? tree : tree[key.section];
  return typeof at === 'object' && at !== null ? (at as Tree)[key.name] : undefined;
}

function put(tree: Tree, key: ConfigKey, value: unknown): void {
  if (key.section === null) tree[key.name] = value;
  else {
    const at = tree[key.section];
    if (typeof at === 'object' && at !== null) (at as Tree)[key.name] = value;
    else if (at === undefined) tree[key.section] = { [key.name]: value };
    // Anything else is a mistake of the file that the schema reports.
  }
}

/** The defaults that are test certificates. They go together: nobody's own key belongs to our certificate, nor our CRL to their CA. */
const STAND_INS: readonly (readonly string[])[] = [
  ['identity.certificate', 'identity.key', 'identity.pkcs12'],
  ['trust.issuers', 'trust.crls'],
];

function dropTestStandIns(tree: Tree, given: ReadonlySet<string>): void {
  for (const group of STAND_INS) {
    if (!group.some((k) => given.has(k) && k !== 'trust.crls')) continue;
    for (const dotted of group) {
      const [section, name] = dotted.split('.') as [string, string];
      const at = tree[section];
      if (!given.has(dotted) && typeof at === 'object' && at !== null)
        (at as Tree)[name] = dotted === 'trust.crls' ? [] : '';
    }
  }
}

function isTestStandIn(key: ConfigKey, given: ReadonlySet<string>): boolean {
  return !given.has(key.dotted) && STAND_INS.some((group) => group.includes(key.dotted));
}

function makeAbsolute(config: object, key: ConfigKey, base: string): void {
  const at = (key.section === null ? config : (config as Tree)[key.section]) as Tree;
  const value = at[key.name];
  const absolute = (path: string) => (path === '' ? '' : resolve(base, path));
  if (key.about.kind === 'path') at[key.name] = absolute(value as string);
  else if (key.about.kind === 'paths') at[key.name] = (value as string[]).map(absolute);
  else if (key.about.kind === 'store') at[key.name] = `sqlite:${absolute((value as string).slice('sqlite:'.length))}`;
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(freeze);
  return value;
}
