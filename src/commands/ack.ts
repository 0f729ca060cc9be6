import { basename } from 'node:path';
import { loadConfig } from '../config/load.ts';
import { isDirectoryName } from '../delivery/names.ts';
import { actorOf } from './actor.ts';
import type { ExitCode, Io } from './io.ts';
import { doneJson, doneOr } from './outcome.ts';
import { oneLine } from './plain.ts';
import { withStore } from './with-store.ts';

export interface AckOptions {
  /** Number, MessageId, or a directory of the inbox: its name, or a path that ends in it. */
  readonly id: string;
  /** An operator who says it for the backend. */
  readonly by?: string | undefined;
  readonly config: string | null;
  readonly json: boolean;
}

/** The backend says that it has a message. Again and again is the same as once. */
export async function ack(o: AckOptions, io: Io): Promise<ExitCode> {
  const actor = o.by === undefined ? null : actorOf({ by: o.by, reason: 'said for the backend' });
  const { config } = await loadConfig({ file: o.config, env: io.env, cwd: io.cwd });
  const last = basename(o.id);
  const id = isDirectoryName(last) ? last : o.id;
  const done = doneOr(await withStore(config, (store) => store.acknowledge(id, actor, Date.now())));
  io.out(
    o.json
      ? JSON.stringify(doneJson(done))
      : `${oneLine(done.messageId)} is acknowledged (hand-over ${done.handOver})${done.already ? '; it was already' : ''}.`,
  );
  return 0;
}
