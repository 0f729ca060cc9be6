import { loadConfig } from '../config/load.ts';
import type { Store } from '../store/types.ts';
import { type Account, actorOf } from './actor.ts';
import { CommandError, type ExitCode, type Io } from './io.ts';
import { longestWindow, withStore } from './with-store.ts';

export interface PurgeOptions extends Account {
  readonly config: string | null;
  readonly json: boolean;
  readonly dryRun: boolean;
  /** The clock jumped, so that nothing expires any more, and the operator says that it is right. */
  readonly clockIsRight?: boolean;
}

/** Removes what has expired. Only space is at stake: windows are decided at look-up, so a purge that never runs changes no answer. */
export async function purge(o: PurgeOptions, io: Io): Promise<ExitCode> {
  const actor = o.clockIsRight ? actorOf(o) : null;
  if (actor === null && (o.by ?? o.reason) !== undefined) {
    throw new CommandError('--by and --reason belong to --clock-is-right; a purge by itself needs neither.', 2);
  }
  if (actor !== null && o.dryRun) {
    throw new CommandError('--clock-is-right is recorded at once; give it without --dry-run.', 2);
  }
  const { config } = await loadConfig({ file: o.config, env: io.env, cwd: io.cwd });
  if (!o.json)
    io.err(o.dryRun ? 'Looking for what has expired…' : 'Removing what has expired; the receiver may go on working…');
  const window = await longestWindow(config);
  const work = async (store: Store) => {
    const now = Date.now();
    if (actor !== null) await store.clockIsRight(actor, now);
    return store.purge({
      now,
      payloadRetention: config.retention.payload,
      evidenceRetention: config.retention.evidence,
      // A suppression must be explained for as long as it happens, whatever rule it came under.
      auditRetention: Math.max(config.retention.audit, window),
      dryRun: o.dryRun,
    });
  };
  const report = await withStore(config, work, window);
  if (o.json) io.out(JSON.stringify({ dryRun: o.dryRun, ...report }));
  else {
    io.out(
      `${o.dryRun ? 'Would remove' : 'Removed'} ${report.keys} keys, ${report.messages} messages, ${report.payloads} payloads ` +
        `(${report.files} of them files), the evidence of ${report.evidence} messages and ${report.decisions} decisions.`,
    );
  }
  return 0;
}
