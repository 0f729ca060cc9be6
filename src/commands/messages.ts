import { resolve } from 'node:path';
import { loadConfig } from '../config/load.ts';
import type { Evidence, MessageSummary } from '../store/types.ts';
import { writeEvidence } from './evidence.ts';
import { CommandError, type ExitCode, type Io } from './io.ts';
import { withStore } from './with-store.ts';

export interface ListOptions {
  readonly config: string | null;
  readonly json: boolean;
  readonly limit: number;
  readonly sender?: string;
  readonly messageId?: string;
}

/** Lists messages, latest first. */
export async function listMessages(o: ListOptions, io: Io): Promise<ExitCode> {
  const { config } = await loadConfig({ file: o.config, env: io.env, cwd: io.cwd });
  const found = await withStore(config, (store) =>
    store.messages({
      limit: o.limit,
      ...(o.sender === undefined ? {} : { sender: o.sender }),
      ...(o.messageId === undefined ? {} : { messageId: o.messageId }),
    }),
  );
  if (o.json) io.out(JSON.stringify(found.map(summaryJson)));
  else if (found.length === 0) io.out('No messages.');
  else for (const line of table(found)) io.out(line);
  return 0;
}

export interface ShowOptions {
  readonly id: string;
  readonly config: string | null;
  readonly json: boolean;
  /** Directory to write the evidence to; null for none. */
  readonly evidence: string | null;
}

/** Shows one message; with `evidence` also writes what proves it. */
export async function showMessage(o: ShowOptions, io: Io): Promise<ExitCode> {
  const { config } = await loadConfig({ file: o.config, env: io.env, cwd: io.cwd });
  const found = await withStore(config, (store) => store.evidence(o.id));
  if (!found) throw new CommandError(`There is no message ${o.id}; "quittance messages" lists those that there are.`);
  const directory = o.evidence === null ? null : resolve(io.cwd, o.evidence);
  const files = directory === null ? [] : await writeEvidence(found, directory);
  if (o.json)
    io.out(
      JSON.stringify({ ...detailsJson(found), ...(directory === null ? {} : { evidence: { directory, files } }) }),
    );
  else {
    for (const line of details(found)) io.out(line);
    if (directory !== null) io.out(`Evidence is in ${directory}; its README.txt says how to verify it.`);
  }
  return 0;
}

function table(messages: readonly MessageSummary[]): string[] {
  const rows = messages.map((m) => [
    String(m.id),
    time(m.receivedAt),
    m.sender,
    m.state,
    String(m.receipts),
    String(m.suppressions),
    m.messageId,
  ]);
  const head = ['no', 'received', 'sender', 'state', 'receipts', 'repeats', 'message id'];
  const widths = head.map((h, i) => Math.max(h.length, ...rows.map((r) => r[i]!.length)));
  return [head, ...rows].map((r) =>
    r
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join('  ')
      .trimEnd(),
  );
}

function details(e: Evidence): string[] {
  const { summary: m, routing: r } = e;
  const participant = (p: { scheme: string | null; value: string } | null) =>
    p ? `${p.value}${p.scheme ? ` (${p.scheme})` : ''}` : '-';
  return [
    `message id      ${m.messageId}`,
    `sender          ${m.sender}`,
    `received        ${time(m.receivedAt)}`,
    `purpose         ${m.purpose}`,
    `state           ${m.state}`,
    `from            ${participant(r.originalSender)}`,
    `to              ${participant(r.finalRecipient)}`,
    `document type   ${participant(r.documentType)}`,
    `process         ${participant(r.process)}`,
    `instance        ${r.instanceIdentifier ?? '-'}`,
    `receipts        ${m.receipts}`,
    `repeats         ${m.suppressions}`,
    ...e.warnings.map((w) => `warning         ${w}`),
    ...e.handOvers.map((h) =>
      `hand-over ${String(h.number).padEnd(6)}${time(h.at)}  ${h.state}  ${h.directory ?? ''}`.trimEnd(),
    ),
    ...e.decisions.map((d) => `decision        ${time(d.at)}  ${d.decision}${d.detail ? `: ${d.detail}` : ''}`),
  ];
}

function summaryJson(m: MessageSummary): object {
  return { ...m, receivedAt: time(m.receivedAt) };
}

/** Without the octets: those are what `--evidence` is for. */
function detailsJson(e: Evidence): object {
  return {
    ...summaryJson(e.summary),
    routing: e.routing,
    warnings: e.warnings,
    handOvers: e.handOvers.map((h) => ({ ...h, at: time(h.at) })),
    decisions: e.decisions.map((d) => ({ ...d, at: time(d.at) })),
  };
}

function time(ms: number): string {
  return new Date(ms).toISOString();
}
