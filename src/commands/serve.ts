import closeWithGrace from 'close-with-grace';
import { type Logger, pino } from 'pino';
import { createQuittance } from '../app.ts';
import { loadConfig } from '../config/load.ts';
import { CommandError, type Io } from './io.ts';

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
  const grace = closeWithGrace(
    {
      delay: config.http.shutdownTimeout + CLOSING,
      logger: closingLog(log),
      skip: ['SIGHUP'],
      onSecondSignal: () => endAtOnce(log, 'second signal, ending at once'),
      onTimeout: () => endAtOnce(log, 'stopping took too long, ending at once'),
    },
    async ({ signal, err }) => {
      if (err) log.fatal({ err }, 'unexpected error');
      else log.info({ signal }, 'stopping');
      const { stuck } = await receiver.close();
      if (stuck) endAtOnce(log, 'the file system of the inbox does not answer, ending without it');
      log.info('stopped');
    },
  );
  process.on('SIGHUP', () => void receiver.reload());
  try {
    const url = await receiver.listen();
    if (config.environment === 'test') {
      log.warn({ certificate: config.identity.certificate || config.identity.pkcs12 }, 'test certificates');
    }
    log.info({ url, config: file, inbox: config.delivery.inbox }, 'listening');
  } catch (cause) {
    grace.uninstall();
    await receiver.close();
    throw explain(cause, config.http);
  }
  // Signals end the process through close-with-grace; only this returns.
  const err = await receiver.onFatal;
  log.fatal({ err }, 'fatal');
  // Nothing that the store says can be trusted now, so there is no orderly end.
  return process.exit(1);
}

/** What the operating system says when the port cannot be had. */
function explain(cause: unknown, { host, port }: { readonly host: string; readonly port: number }): unknown {
  const { code } = cause as NodeJS.ErrnoException;
  const where = `http.port ${port} of ${host}`;
  if (code === 'EADDRINUSE')
    return new CommandError(`${where} is in use; stop what listens there, or set another port.`);
  if (code === 'EACCES') return new CommandError(`${where} is not allowed to this user; set one above 1023.`);
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new CommandError(`http.host ${host} is no address of this machine.`);
  return cause;
}

/**
 * Not process.exit(): it waits for threads, and one may hang in a file call. A signal with its default action does not. Nothing that
 * was receipted depends on an orderly end.
 */
function endAtOnce(log: Logger, why: string): void {
  log.warn(why);
  process.removeAllListeners('SIGTERM');
  process.kill(process.pid, 'SIGTERM');
}

/** What close-with-grace says of itself goes into the same log. */
function closingLog(log: Logger): { error: (what: unknown) => void } {
  return {
    error: (what) => {
      if (what instanceof Error) log.fatal({ err: what }, 'stopping failed');
      else log.fatal(String(what));
    },
  };
}
