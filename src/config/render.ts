import { variableName } from './environment.ts';
import { configKeys } from './keys.ts';

const HEAD = `# Configuration of Quittance. Every key is here with its default.
# Each can also be set by an environment variable, which wins: http.port is QUITTANCE_HTTP__PORT, delivery.afterPowerLoss is
# QUITTANCE_DELIVERY__AFTER_POWER_LOSS; lists are comma-separated. Relative paths start at this file's directory.
# Durations: "90d", "12h", "5m", "30s", "500ms". Sizes: "110MB" (decimal), "256KiB" (binary).
`;

/**
 * The whole configuration as a commented file.
 * @param values written instead of the default, by dotted key (`identity.certificate`)
 */
export function renderConfig(
  values: Readonly<Record<string, string | number | boolean | readonly string[]>> = {},
): string {
  const lines = [HEAD];
  let section: string | null = null;
  for (const key of configKeys()) {
    if (key.section !== section) {
      lines.push('', `[${key.section}]`);
      section = key.section;
    }
    const expects = /^"[^"]*"(, "[^"]*")*( or "[^"]*")?$/.test(key.about.expects)
      ? ` One of: ${key.about.expects}.`
      : '';
    lines.push(`# ${key.about.comment}${expects}`, `${key.name} = ${toml(values[key.dotted] ?? key.about.default)}`);
  }
  return `${lines.join('\n')}\n`;
}

/** The keys with their environment variables, for `init --json`. */
export function describeKeys(): {
  key: string;
  variable: string;
  default: unknown;
  expects: string;
  comment: string;
}[] {
  return configKeys().map((k) => ({
    key: k.dotted,
    variable: variableName(k),
    default: k.about.default,
    expects: k.about.expects,
    comment: k.about.comment,
  }));
}

function toml(value: string | number | boolean | readonly string[]): string {
  // A JSON string is a TOML basic string, but for DEL, which nobody has in a path.
  return Array.isArray(value) ? `[${value.map((v) => JSON.stringify(v)).join(', ')}]` : JSON.stringify(value);
}
