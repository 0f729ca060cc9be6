import { existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { loadConfig } from '../config/load.ts';
import { CommandError, type ExitCode, type Io } from './io.ts';
import { withStore } from './with-store.ts';

export interface BackupOptions {
  readonly file: string;
  readonly config: string | null;
  readonly json: boolean;
}

/** Between two lines of progress, ms. */
const pace = 2000;

/** Copies the database and its content files while the receiver goes on. Never overwrites. */
export async function backup(o: BackupOptions, io: Io): Promise<ExitCode> {
  const { config } = await loadConfig({ file: o.config, env: io.env, cwd: io.cwd });
  const file = resolve(io.cwd, o.file);
  for (const path of [file, `${file}.content`]) {
    if (existsSync(path)) throw new CommandError(`${path} exists; give another name, a backup is not overwritten.`);
  }
  const directory = dirname(file);
  if (!existsSync(directory)) throw new CommandError(`There is no directory ${directory}; make it first.`);
  io.err('Copying; the receiver may go on working…');
  // The store writes beside the name, and renames when the copy is whole.
  const progress = setInterval(() => {
    const { size } = statSync(`${file}.part`, { throwIfNoEntry: false }) ?? { size: 0 };
    io.err(`… ${megabytes(size)} of the database so far`);
  }, pace);
  try {
    const report = await withStore(config, (store) => store.backup(file));
    if (o.json) io.out(JSON.stringify({ file, ...report }));
    else {
      io.out(
        `${file} and ${file}.content: ${megabytes(report.bytes)}, ${report.files} content files` +
          `${report.missing > 0 ? ` (${report.missing} were purged meanwhile, and the copy says so)` : ''}. ` +
          'Start a restored copy with "quittance serve --restored".',
      );
    }
  } finally {
    clearInterval(progress);
  }
  return 0;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
