import { ConfigError } from '../config/config-error.ts';
import { loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { ServicedList } from '../peppol/serviced.ts';
import { checkDatabase } from './check-database.ts';
import { checkPki } from './check-pki.ts';
import { checkPlaces } from './check-places.ts';
import { error, type Finding, ok, warning } from './finding.ts';
import type { ExitCode, Io } from './io.ts';

/**
 * Loads everything that `serve` would, asks the servers of lists and the OCSP responder, and changes nothing, also beside a running
 * receiver. Exits 1 when anything is wrong.
 */
export async function check(o: { readonly config: string | null; readonly json: boolean }, io: Io): Promise<ExitCode> {
  const findings = await findAll(o.config, io);
  const wrong = findings.filter((f) => f.level === 'error').length;
  const warnings = findings.filter((f) => f.level === 'warning').length;
  if (o.json) io.out(JSON.stringify({ ok: wrong === 0, errors: wrong, warnings, findings }));
  else for (const f of findings) io.out(`${MARKS[f.level]}  ${f.what.padEnd(11)}  ${f.text}`);
  if (wrong > 0)
    io.err(
      `${wrong === 1 ? 'One thing is' : `${wrong} things are`} wrong; the receiver would not work as it should. See above.`,
    );
  return wrong > 0 ? 1 : 0;
}

const MARKS = { ok: 'ok     ', warning: 'warning', error: 'WRONG  ' } as const;

async function findAll(file: string | null, io: Io): Promise<Finding[]> {
  let config: Config;
  let from: string | null;
  try {
    ({ config, file: from } = await loadConfig({ file, env: io.env, cwd: io.cwd }));
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause;
    return cause.problems.map((p) => error('config', p));
  }
  return [
    ok('config', from ?? 'no file: defaults and environment variables'),
    ...(config.environment === 'test' ? [warning('config', 'environment is "test": test CAs are accepted.')] : []),
    ...(await checkPki(config, Date.now())),
    ...(await checkPlaces(config)),
    await checkDatabase(config),
    await checkServiced(config.serviced.file),
  ];
}

async function checkServiced(file: string): Promise<Finding> {
  if (file === '') return ok('serviced', 'everything (serviced.file is not set)');
  try {
    const list = await ServicedList.load(file);
    list.close();
    return ok('serviced', `${file} is readable`);
  } catch (cause) {
    return error('serviced', (cause as Error).message);
  }
}
