import closeWithGrace from 'close-with-grace';
import { type Logger, pino } from 'pino';
import { createQuittance } from '../app.ts';
import { loadConfig } from '../config/load.ts';
import type { Io } from './io.ts';

export interface ServeOptions {
  readonly config: string | null;
  /** The operator says that this database is a restored copy (architecture §4). */
  readonly restored: boolean;
}

/** More than the requests in flight get, so that the store and the delivery can close after them. */
const CLOSING = 10_000;

/**
 * Runs the receiver until a signal or a fatal error. The log is JSON on stdout, one object a line.
 * The process ends in here: with 0 after a signal, with 1 after a fatal error. A start that fails rejects.
 */
export async function serve(o: ServeOptions, io: Io): Promise<never> {
  const { config, file } = await loadConfig({ file: o.config, env: io.env, cwd: io.cwd });
  const log = pino({ level: config.log.level, base: { pid: process.pid } });
  const receiver = await createQuittance({ config, log, env: io.env, restored: o.restored });

  // The second signal, and a close that takes too long, exit at once: close-with-grace does that by itself.
  const grace = closeWithGrace(
    { delay: config.http.shutdownTimeout + CLOSING, logger: closingLog(log) },
    async ({ signal, err }) => {
      if (err) log.fatal({ err }, 'unexpected error');
      else log.info({ signal }, 'stopping');
      await receiver.close();
      log.info('stopped');
    },
  );
  try {
    const url = await receiver.listen();
    if (config.environment === 'test') {
      log.warn({ certificate: config.identity.certificate || config.identity.pkcs12 }, 'test certificates');
    }
    log.info({ url, config: file, inbox: config.delivery.inbox }, 'listening');
  } catch (cause) {
    grace.uninstall();
    await receiver.close();
    throw cause;
  }
  // Signals end the process through close-with-grace; only this returns.
  const err = await receiver.onFatal;
  log.fatal({ err }, 'fatal');
  // Nothing that the store says can be trusted now, so there is no orderly end.
  return process.exit(1);
}

/** What close-with-grace says of itself goes into the same log. */
function closingLog(log: Logger): { error: (what: unknown) => void } {
  return {
    error: (what) =>
      log.fatal(what instanceof Error ? { err: what } : {}, what instanceof Error ? 'stopping failed' : String(what)),
  };
}
