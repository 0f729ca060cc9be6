import { loadConfig } from '../config/load.ts';
import type { ExitCode, Io } from './io.ts';
import { withStore } from './with-store.ts';

export interface PurgeOptions {
  readonly config: string | null;
  readonly json: boolean;
  readonly dryRun: boolean;
}

/** Removes what has expired. Only space is at stake: windows are decided at look-up, so a purge that never runs changes no answer. */
export async function purge(o: PurgeOptions, io: Io): Promise<ExitCode> {
  const { config } = await loadConfig({ file: o.config, env: io.env, cwd: io.cwd });
  if (!o.json)
    io.err(o.dryRun ? 'Looking for what has expired…' : 'Removing what has expired; the receiver may go on working…');
  const report = await withStore(config, (store) =>
    store.purge({
      now: Date.now(),
      payloadRetention: config.retention.payload,
      evidenceRetention: config.retention.evidence,
      dryRun: o.dryRun,
    }),
  );
  if (o.json) io.out(JSON.stringify({ dryRun: o.dryRun, ...report }));
  else {
    io.out(
      `${o.dryRun ? 'Would remove' : 'Removed'} ${report.keys} keys, ${report.messages} messages, ${report.payloads} payloads ` +
        `(${report.files} of them files) and the evidence of ${report.evidence} messages.`,
    );
  }
  return 0;
}
