import { loadConfig } from '../config/load.ts';
import { type Account, actorOf } from './actor.ts';
import type { ExitCode, Io } from './io.ts';
import { doneJson, doneOr } from './outcome.ts';
import { oneLine } from './plain.ts';
import { withStore } from './with-store.ts';

export interface RedeliverOptions extends Account {
  /** Number or MessageId. */
  readonly id: string;
  readonly config: string | null;
  readonly json: boolean;
}

/** Hands one message over once more: a new directory, marked so, with the reason. Changes this message only, never a rule. */
export async function redeliver(o: RedeliverOptions, io: Io): Promise<ExitCode> {
  const actor = actorOf(o);
  const { config } = await loadConfig({ file: o.config, env: io.env, cwd: io.cwd });
  const done = doneOr(await withStore(config, (store) => store.redeliver(o.id, actor, Date.now())));
  io.out(
    o.json
      ? JSON.stringify(doneJson(done))
      : `${oneLine(done.messageId)} is handed over again (hand-over ${done.handOver}): the running receiver puts it into the inbox, in a directory of its own.`,
  );
  return 0;
}
