import { writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { configKeys } from '../config/keys.ts';
import { DEFAULT_FILE, PACKAGE_ROOT } from '../config/load.ts';
import { describeKeys, renderConfig } from '../config/render.ts';
import { CommandError, type ExitCode, type Io } from './io.ts';

export interface InitOptions {
  /** Where to; `-` is stdout. */
  readonly file: string | undefined;
  readonly force: boolean;
  readonly json: boolean;
}

/** Writes a configuration with every key and its comment, that works as it is: with the test certificates of this package. */
export async function init(o: InitOptions, io: Io): Promise<ExitCode> {
  const file = resolve(io.cwd, o.file === '-' ? DEFAULT_FILE : (o.file ?? DEFAULT_FILE));
  const source = renderConfig(testCertificates(dirname(file)));
  if (o.file === '-') {
    io.out(o.json ? JSON.stringify({ file: null, toml: source, keys: describeKeys() }) : source.trimEnd());
    return 0;
  }
  try {
    // A password may be written into it, so it is not for everyone to read.
    await writeFile(file, source, { flag: o.force ? 'w' : 'wx', mode: 0o640 });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'EEXIST')
      throw new CommandError(`${file} exists already; name another file, or overwrite it with --force.`);
    if (code === 'ENOENT') throw new CommandError(`The directory ${dirname(file)} does not exist; create it first.`);
    throw new CommandError(`${file} cannot be written: ${message}.`, 1, cause);
  }
  if (o.json) io.out(JSON.stringify({ file, keys: describeKeys() }));
  else {
    const named = dirname(file) === io.cwd && file.endsWith(`/${DEFAULT_FILE}`) ? '' : ` --config ${o.file}`;
    io.out(`Wrote ${file}, with the TEST certificates of this package. Edit it, then:`);
    io.out(`  quittance check${named}`);
    io.out(`  quittance serve${named}`);
    io.out('Rules of duplicate detection by sender, document type and the like: quittance policy show > policy.toml');
  }
  return 0;
}

/** The test certificates as seen from the file: relative inside the package, absolute elsewhere. */
function testCertificates(directory: string): Record<string, string | readonly string[]> {
  const seen = (path: string) => {
    const absolute = join(PACKAGE_ROOT, path);
    const from = relative(directory, absolute);
    return from.startsWith('..') || isAbsolute(from) ? absolute : from;
  };
  const keys = new Map(configKeys().map((k) => [k.dotted, k.about.default]));
  return {
    'identity.certificate': seen(keys.get('identity.certificate') as string),
    'identity.key': seen(keys.get('identity.key') as string),
    'trust.issuers': seen(keys.get('trust.issuers') as string),
    'trust.crls': (keys.get('trust.crls') as readonly string[]).map(seen),
  };
}
