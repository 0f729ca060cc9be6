import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { loadConfig } from '../config/load.ts';
import { type AuditFormat, auditLines } from './audit-format.ts';
import { tellStory } from './audit-story.ts';
import { CommandError, type ExitCode, type Io } from './io.ts';
import { withStore } from './with-store.ts';

interface Common {
  readonly config: string | null;
  readonly json: boolean;
}

/** What happened to one message, told in order of time. */
export async function showAudit(o: Common & { readonly id: string }, io: Io): Promise<ExitCode> {
  const { config } = await loadConfig({ file: o.config, env: io.env, cwd: io.cwd });
  const story = await withStore(config, (store) => store.audit(o.id));
  if (!story) throw new CommandError(`There is no message ${o.id}; "quittance messages" lists those that there are.`);
  if (o.json) io.out(JSON.stringify(story));
  else for (const line of tellStory(story)) io.out(line);
  return 0;
}

export interface ExportOptions extends Common {
  /** Epoch ms; the first decision that is taken in, and the first that is not. */
  readonly from: number;
  readonly to: number;
  readonly format: AuditFormat;
  /** Null for stdout. */
  readonly output: string | null;
}

/** Decisions of a span of time, one a line, however many there are. A file that exists is left alone; a failed one is removed. */
export async function exportAudit(o: ExportOptions, io: Io): Promise<ExitCode> {
  if (o.to <= o.from) throw new CommandError('--to must be later than --from.', 2);
  const { config } = await loadConfig({ file: o.config, env: io.env, cwd: io.cwd });
  await withStore(config, async (store) => {
    const lines = auditLines(store.auditRange(o.from, o.to), o.format);
    if (o.output === null) {
      // Writing to a pipe or a file blocks on Linux, so a slow reader does not make us gather lines.
      for await (const line of lines) io.out(line);
      return;
    }
    const file = resolve(io.cwd, o.output);
    const count = await writeLines(lines, file);
    if (o.json) io.out(JSON.stringify({ file, decisions: count }));
    else io.err(`${count} decisions are in ${file}.`);
  });
  return 0;
}

async function writeLines(lines: AsyncIterable<string>, file: string): Promise<number> {
  let count = 0;
  async function* counted() {
    for await (const line of lines) {
      yield `${line}\n`;
      count++;
    }
  }
  const target = createWriteStream(file, { flags: 'wx', mode: 0o600 });
  let ours = false;
  target.on('open', () => {
    ours = true;
  });
  try {
    await pipeline(Readable.from(counted()), target);
  } catch (cause) {
    if (ours) await rm(file, { force: true });
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw new CommandError(`${file} exists; give another name, it is not overwritten.`);
    if (code === undefined) throw cause;
    throw new CommandError(`The decisions cannot be written to ${file}: ${message}.`, 1, cause);
  }
  return count;
}

/** Goes over the whole running hash; exit code 1 when a decision was changed or taken away behind our back. */
export async function verifyAudit(o: Common, io: Io): Promise<ExitCode> {
  const { config } = await loadConfig({ file: o.config, env: io.env, cwd: io.cwd });
  const result = await withStore(config, async (store) => {
    const fault = await store.verifyAudit();
    return { fault, hash: fault === null ? await store.auditHash(Date.now()) : null };
  });
  if (o.json) io.out(JSON.stringify(result));
  else if (result.hash !== null) {
    const { upTo, hash, since } = result.hash;
    const start = since === 0 ? 'from the first one on' : `after number ${since}, up to which they were purged`;
    io.out(`All decisions agree with the running hash, ${start}. At number ${upTo} it is ${hash}.`);
  }
  if (result.fault !== null) {
    throw new CommandError(`${result.fault} Compare with the hashes in the log and with a backup.`);
  }
  return 0;
}
