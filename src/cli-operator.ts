import { type Command, InvalidArgumentError } from 'commander';
import { parseInstant } from './commands/instant.ts';
import type { ExitCode, Io } from './commands/io.ts';

interface Common {
  readonly config?: string;
  readonly json: boolean;
}
interface Account {
  readonly by?: string;
  readonly reason?: string;
}

export interface OperatorCli {
  /** Makes a command with the options that all have. */
  readonly command: (parent: Command, name: string, description: string) => Command;
  /** Reads the value of an option that counts. */
  readonly count: (text: string) => number;
  readonly io: Io;
  readonly done: (code: ExitCode) => void;
}

const decisions = [
  ['approve', 'deliver it; of a hand-over of unknown fate: once more'],
  ['reject', 'never deliver it, and settle it'],
  ['confirm', 'of a hand-over of unknown fate: the backend has it'],
] as const;

/** The commands with which an operator decides, looks back and keeps copies. */
export function addOperatorCommands(main: Command, cli: OperatorCli): void {
  addReview(main, cli);
  addExceptions(main, cli);
  addAudit(main, cli);
  const { command, io, done } = cli;
  command(main, 'backup', 'copy the database and its content files, consistently, while the receiver goes on')
    .argument('<file>', 'where to; large payloads go into <file>.content')
    .action(async (file: string, o: Common) => {
      const { backup } = await import('./commands/backup.ts');
      done(await backup({ file, config: o.config ?? null, json: o.json }, io));
    });
}

function addReview(main: Command, { command, count, io, done }: OperatorCli): void {
  const review = main
    .command('review')
    .description('what waits for an operator: kept back, held, unknown, undeliverable');
  command(review, 'list', 'what waits, the oldest first')
    .option('--limit <n>', 'how many', count, 50)
    .action(async (o: Common & { limit: number }) => {
      const { listReviews } = await import('./commands/review.ts');
      done(await listReviews({ ...o, config: o.config ?? null }, io));
    });
  command(review, 'show', 'everything about one of them')
    .argument('<id>', 'as in the list')
    .action(async (id: string, o: Common) => {
      const { showReview } = await import('./commands/review.ts');
      done(await showReview({ ...o, id, config: o.config ?? null }, io));
    });
  for (const [action, description] of decisions) {
    account(command(review, action, description))
      .argument('<id>', 'as in the list')
      .action(async (id: string, o: Common & Account) => {
        const { decideReview } = await import('./commands/review.ts');
        done(await decideReview({ ...o, id, action, config: o.config ?? null }, io));
      });
  }
}

function addExceptions(main: Command, { command, io, done }: OperatorCli): void {
  account(command(main, 'redeliver', 'hand a message over once more, in a directory of its own, marked so'))
    .argument('<id>', 'its number, or its MessageId')
    .action(async (id: string, o: Common & Account) => {
      const { redeliver } = await import('./commands/redeliver.ts');
      done(await redeliver({ ...o, id, config: o.config ?? null }, io));
    });
  command(main, 'ack', 'the backend has it; may be said any number of times')
    .argument('<id>', 'its number, its MessageId, or its directory in the inbox')
    .option('--by <name>', 'an operator who says so for the backend')
    .action(async (id: string, o: Common & { by?: string }) => {
      const { ack } = await import('./commands/ack.ts');
      done(await ack({ ...o, id, config: o.config ?? null }, io));
    });
}

function addAudit(main: Command, { command, io, done }: OperatorCli): void {
  const audit = main.command('audit').description('what was decided, when, by which rule and by whom');
  command(audit, 'show', 'the story of one message, in plain words')
    .argument('<id>', 'its number, or its MessageId')
    .action(async (id: string, o: Common) => {
      const { showAudit } = await import('./commands/audit.ts');
      done(await showAudit({ ...o, id, config: o.config ?? null }, io));
    });
  command(audit, 'export', 'all decisions of a span of time, one a line')
    .requiredOption('--from <time>', 'from this moment on, such as 2026-11-01 or 2026-11-01T10:15 (UTC)', instant)
    .requiredOption('--to <time>', 'up to, and without, this moment', instant)
    .option('--format <format>', 'jsonl or csv', format, 'jsonl')
    .option('--output <file>', 'into this new file (default: stdout)')
    .action(async (o: Common & { from: number; to: number; format: 'jsonl' | 'csv'; output?: string }) => {
      const { exportAudit } = await import('./commands/audit.ts');
      done(await exportAudit({ ...o, config: o.config ?? null, output: o.output ?? null }, io));
    });
  command(audit, 'verify', 'whether the decisions are those that were recorded').action(async (o: Common) => {
    const { verifyAudit } = await import('./commands/audit.ts');
    done(await verifyAudit({ ...o, config: o.config ?? null }, io));
  });
}

/** The command itself refuses when one is missing, so that both are named at once. */
function account(command: Command): Command {
  return command.option('--by <name>', 'who decides (needed)').option('--reason <text>', 'why (needed)');
}

function instant(text: string): number {
  const ms = parseInstant(text);
  if (ms === null)
    throw new InvalidArgumentError('It must be a date or a time such as 2026-11-01 or 2026-11-01T10:15.');
  return ms;
}

function format(text: string): 'jsonl' | 'csv' {
  if (text !== 'jsonl' && text !== 'csv') throw new InvalidArgumentError('It must be jsonl or csv.');
  return text;
}
