import type { AuditRow } from '../store/operator-types.ts';

export type AuditFormat = 'jsonl' | 'csv';

/** Columns of both formats, in this order; more are only ever added at the end. */
const columns = {
  id: (r) => r.id,
  at: (r) => new Date(r.at).toISOString(),
  message: (r) => r.message,
  sender: (r) => r.sender,
  messageId: (r) => r.messageId,
  layer: (r) => r.layer,
  key: (r) => r.key,
  decision: (r) => r.decision,
  rule: (r) => r.rule,
  policyVersion: (r) => r.policyVersion,
  stateBefore: (r) => r.stateBefore,
  stateAfter: (r) => r.stateAfter,
  existingMessage: (r) => r.existing?.id ?? null,
  existingMessageId: (r) => r.existing?.messageId ?? null,
  windowExpires: (r) => (r.windowExpires === null ? null : new Date(r.windowExpires).toISOString()),
  remoteAddress: (r) => r.remoteAddress,
  fingerprint: (r) => r.fingerprint,
  referenceSet: (r) => r.referenceSet,
  by: (r) => r.actor?.by ?? null,
  osUser: (r) => r.actor?.osUser ?? null,
  host: (r) => r.actor?.host ?? null,
  reason: (r) => r.reason,
  detail: (r) => r.detail,
} as const satisfies Readonly<Record<string, (r: AuditRow) => unknown>>;

/** One line a decision, without its line end; CSV (RFC 4180) with a line of names before. */
export async function* auditLines(rows: AsyncIterable<AuditRow>, format: AuditFormat): AsyncGenerator<string> {
  if (format === 'csv') yield Object.keys(columns).join(',');
  for await (const row of rows) yield format === 'csv' ? csv(row) : jsonl(row);
}

function jsonl(row: AuditRow): string {
  return JSON.stringify(Object.fromEntries(Object.entries(columns).map(([name, of]) => [name, of(row)])));
}

function csv(row: AuditRow): string {
  return Object.values(columns)
    .map((of) => cell(of(row)))
    .join(',');
}

function cell(value: unknown): string {
  if (value === null) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  // A MessageId is the sender's: a spreadsheet must not take it for a formula.
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
