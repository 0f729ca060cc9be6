import type { ConfigKey } from './keys.ts';
import { nearest } from './nearest.ts';

/** One value of an environment variable, in the form that the schema takes. */
export interface EnvironmentValue {
  readonly key: ConfigKey;
  readonly variable: string;
  readonly value: unknown;
}

const PREFIX = 'QUITTANCE_';

/**
 * The configuration keys among the environment variables: `QUITTANCE_HTTP__MAX_BODY` and `QUITTANCE_HTTP__MAXBODY` are http.maxBody.
 * Names without `__` are left alone (but QUITTANCE_ENVIRONMENT): Kubernetes sets QUITTANCE_PORT and the like for a service of that name.
 */
export function readEnvironment(
  env: NodeJS.ProcessEnv,
  keys: readonly ConfigKey[],
): { values: EnvironmentValue[]; problems: string[] } {
  const values = new Map<ConfigKey, EnvironmentValue>();
  const problems: string[] = [];
  for (const [variable, raw] of Object.entries(env)) {
    if (raw === undefined || !variable.toUpperCase().startsWith(PREFIX)) continue;
    const name = plain(variable.slice(PREFIX.length));
    const key = keys.find((k) => plain(variableName(k).slice(PREFIX.length)) === name);
    if (!key) {
      if (!variable.includes('__')) continue;
      const near = nearest(variable, keys.map(variableName));
      problems.push(
        `The environment variable ${variable} names no key of the configuration${near ? `; did you mean ${near}?` : '.'}`,
      );
      continue;
    }
    const other = values.get(key);
    if (other)
      problems.push(`The environment variables ${other.variable} and ${variable} both set ${key.dotted}; remove one.`);
    values.set(key, { key, variable, value: convert(raw, key) });
  }
  return { values: [...values.values()], problems };
}

/** `QUITTANCE_HTTP__MAX_BODY` for http.maxBody. */
export function variableName(key: ConfigKey): string {
  const name = key.name.replaceAll(/[A-Z]/g, (c) => `_${c}`).toUpperCase();
  return key.section === null ? PREFIX + name : `${PREFIX}${key.section.toUpperCase()}__${name}`;
}

/** Upper case, with the separator of section and key kept and every other underscore gone. */
function plain(name: string): string {
  const at = name.indexOf('__');
  const parts = at < 0 ? [name] : [name.slice(0, at), name.slice(at + 2)];
  return parts.map((p) => p.replaceAll('_', '').toUpperCase()).join('__');
}

function convert(raw: string, key: ConfigKey): unknown {
  const text = raw.trim();
  if (key.about.kind === 'secret') return raw;
  if (key.about.kind === 'integer') return /^\d+$/.test(text) ? Number(text) : raw;
  if (key.about.kind === 'flag') return text === 'true' ? true : text === 'false' ? false : raw;
  if (key.about.kind === 'paths' || key.about.kind === 'list') {
    return text === '' ? [] : text.split(',').map((item) => item.trim());
  }
  return text;
}
