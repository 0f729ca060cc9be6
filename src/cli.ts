#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { addOperatorCommands } from './cli-operator.ts';
import { CommandError, type ExitCode, type Io } from './commands/io.ts';
import type { SendArguments } from './commands/send.ts';

/** Wires commander to one file per command; each is loaded only when it runs. */
function program(io: Io, done: (code: ExitCode) => void): Command {
  const main = new Command('quittance')
    .description('Receives Peppol AS4 messages: every retry gets the stored receipt, every document is delivered once.')
    .version(version())
    .showHelpAfterError('(--help shows what there is)')
    .exitOverride();

  command(main, 'serve', 'run the receiver; logs JSON on stdout, stops cleanly on SIGTERM')
    .option(
      '--restored',
      'this database is a restored copy: hand-overs whose fate it cannot know are kept for review',
      false,
    )
    .action(async (o: { config?: string; restored: boolean }) => {
      const { serve } = await import('./commands/serve.ts');
      await serve({ config: o.config ?? null, restored: o.restored }, io);
    });

  command(main, 'init', 'write a configuration file with every key and its comment')
    .argument('[file]', 'where to; "-" is stdout (default: ./quittance.toml)')
    .option('--force', 'overwrite a file that exists', false)
    .action(async (file: string | undefined, o: { config?: string; force: boolean; json: boolean }) => {
      const { init } = await import('./commands/init.ts');
      done(await init({ file: file ?? o.config, force: o.force, json: o.json }, io));
    });

  command(main, 'check', 'load everything, say what is wrong, exit 1 if anything is').action(
    async (o: { config?: string; json: boolean }) => {
      const { check } = await import('./commands/check.ts');
      done(await check({ config: o.config ?? null, json: o.json }, io));
    },
  );

  const messages = command(
    main,
    'messages',
    'list the messages received, latest first; "messages show ID" tells all of one',
  )
    .option('--limit <n>', 'how many', count, 50)
    .option('--sender <id>', 'only of this sender (its seat id, the CN of its certificate)')
    .option('--message-id <id>', 'only with this MessageId')
    .action(async (o: { config?: string; json: boolean; limit: number; sender?: string; messageId?: string }) => {
      const { listMessages } = await import('./commands/messages.ts');
      done(await listMessages({ ...o, config: o.config ?? null }, io));
    });

  command(messages, 'show', 'everything that is known of one message')
    .argument('<id>', 'its number in the list, or its MessageId')
    .option(
      '--evidence <dir>',
      'write envelope, certificates and receipts there, with a README on how to verify them elsewhere',
    )
    .action(async (id: string, _: unknown, self: Command) => {
      // The parent has the same options, and commander gives those on either side to whoever came first.
      const o = self.optsWithGlobals<{ config?: string; json: boolean; evidence?: string }>();
      const { showMessage } = await import('./commands/messages.ts');
      done(await showMessage({ id, config: o.config ?? null, json: o.json, evidence: o.evidence ?? null }, io));
    });

  command(main, 'refusals', 'list what was refused, latest first: which access point, which message, why')
    .option('--limit <n>', 'how many', count, 50)
    .option('--sender <id>', 'only of this access point, authenticated (its seat id, the CN of its certificate)')
    .action(async (o: { config?: string; json: boolean; limit: number; sender?: string }) => {
      const { listRefusals } = await import('./commands/refusals.ts');
      done(await listRefusals({ ...o, config: o.config ?? null }, io));
    });

  command(
    main,
    'purge',
    'remove what has expired: keys after their window, payloads and evidence after their retention',
  )
    .option('--dry-run', 'only say what would go', false)
    .option('--clock-is-right', 'after it jumped: windows and purge go on by the clock as it is', false)
    .option('--by <name>', 'with --clock-is-right: who says so')
    .option('--reason <text>', 'with --clock-is-right: why')
    .action(
      async (o: {
        config?: string;
        json: boolean;
        dryRun: boolean;
        clockIsRight: boolean;
        by?: string;
        reason?: string;
      }) => {
        const { purge } = await import('./commands/purge.ts');
        done(await purge({ ...o, config: o.config ?? null }, io));
      },
    );

  addOperatorCommands(main, { command, count, io, done });

  const policy = main
    .command('policy')
    .description('the rules of duplicate detection: which applies, do they do what is meant, what are they');
  policyCommand(policy, 'explain', 'print which rule applies to a message and why')
    .option('--sender <id>', 'the sending access point (its seat id, the CN of its certificate)')
    .option('--original-sender <participant>', 'such as 0088:7300010000001, with its scheme or without')
    .option('--recipient <participant>', 'finalRecipient')
    .option('--process <id>', 'process identifier')
    .option('--doctype <id>', 'document type identifier')
    .option('--payload-kind <kind>', 'xml, edifact, x12, pdf, binary or text')
    .action(async (o: PolicyArguments & ExplainArguments) => {
      const { explainPolicy } = await import('./commands/policy.ts');
      const facts = {
        senderAp: o.sender,
        originalSender: o.originalSender,
        finalRecipient: o.recipient,
        process: o.process,
        documentType: o.doctype,
        payloadKind: o.payloadKind,
      };
      done(await explainPolicy({ ...policyOptions(o), facts: given(facts) }, io));
    });
  policyCommand(policy, 'test', 'try a table of cases, exit 1 when one fails')
    .argument('<file>', 'the table: TOML, see docs/policy.md')
    .action(async (file: string, o: PolicyArguments) => {
      const { testPolicy } = await import('./commands/policy.ts');
      done(await testPolicy({ ...policyOptions(o), file }, io));
    });
  policyCommand(policy, 'show', 'print the rules in force as a file')
    .option('--shipped', 'the rules that ship with the program, whatever is in force', false)
    .action(async (o: PolicyArguments & { shipped: boolean }) => {
      const { showPolicy } = await import('./commands/policy.ts');
      done(await showPolicy({ ...policyOptions(o), shipped: o.shipped }, io));
    });

  command(main, 'send', 'send a test message, show the answers and verify them')
    .option('--url <url>', 'to where (default: the receiver of the configuration)')
    .option('--repeat <n>', 'send the same bytes this often', count, 1)
    .option('--message-id <id>', 'the MessageId (default: a new one)')
    .option('--document <file>', 'the business document, XML (default: a small invoice)')
    .option('--sender-cert <file>', 'certificate of the sender, PEM (default: the test one)')
    .option('--sender-key <file>', 'its private key')
    .option('--receiver-cert <file>', 'certificate to encrypt for (default: that of the configuration)')
    .option('--sender <participant>', 'originalSender, such as 0088:7300010000001')
    .option('--receiver <participant>', 'finalRecipient')
    .option('--instance-id <id>', 'InstanceIdentifier of the SBDH (default: a new one)')
    .option('--no-compress', 'leave the payload uncompressed')
    .option('--ping', 'a ping of the test service, without payload', false)
    .option('--save <file>', 'keep the bytes that were sent')
    .option('--replay <file>', 'send bytes kept by --save')
    .action(async (o: SendArguments) => {
      const { send } = await import('./commands/send.ts');
      done(await send(o, io));
    });
  return main;
}

/** A command with the options that all have. */
function command(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .option('--config <file>', 'the configuration (default: ./quittance.toml when there is one)')
    .option('--json', 'the result as JSON', false);
}

interface PolicyArguments {
  readonly config?: string;
  readonly json: boolean;
  readonly policy?: string;
}

type ExplainArguments = Readonly<
  Partial<Record<'sender' | 'originalSender' | 'recipient' | 'process' | 'doctype' | 'payloadKind', string>>
>;

function policyCommand(parent: Command, name: string, description: string): Command {
  return command(parent, name, description).option(
    '--policy <file>',
    'rules that are not in force yet (default: duplicates.policy of the configuration)',
  );
}

function policyOptions(o: PolicyArguments): { config: string | null; json: boolean; policy: string | null } {
  return { config: o.config ?? null, json: o.json, policy: o.policy ?? null };
}

/** Without what was not given. */
function given<K extends string>(values: Readonly<Record<K, string | undefined>>): Partial<Record<K, string>> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<
    Record<K, string>
  >;
}

function count(text: string): number {
  const n = Number(text);
  if (!Number.isSafeInteger(n) || n < 1) throw new InvalidArgumentError('It must be a whole number from 1.');
  return n;
}

function version(): string {
  return (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }).version;
}

/** Their messages are sentences for the operator. */
const FORESEEN: ReadonlySet<string> = new Set([
  'ConfigError',
  'PkiError',
  'StoreError',
  'DeliveryError',
  'ServicedListError',
  'SendError',
  'PolicyError',
]);

/** Errors that were foreseen say what to do; of others the operator must be able to send us the stack. */
function explain(error: unknown, io: Io): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof CommandError) {
    io.err(error.message);
    return error.exitCode;
  }
  const e = error instanceof Error ? error : new Error(String(error));
  const foreseen = FORESEEN.has(e.name);
  io.err(foreseen ? e.message : `Unexpected, please report this: ${e.stack}`);
  return 1;
}

async function main(): Promise<void> {
  const io: Io = {
    env: process.env,
    cwd: process.cwd(),
    out: (line) => process.stdout.write(`${line}\n`),
    err: (line) => process.stderr.write(`${line}\n`),
  };
  // A reader that has seen enough ("quittance messages | head") is no error.
  process.stdout.on('error', (e: NodeJS.ErrnoException) => process.exit(e.code === 'EPIPE' ? 0 : 1));
  try {
    await program(io, (code) => {
      process.exitCode = code;
    }).parseAsync();
  } catch (error) {
    process.exitCode = explain(error, io);
  }
}

await main();
