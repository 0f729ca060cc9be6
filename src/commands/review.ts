import { loadConfig } from '../config/load.ts';
import type { ReviewAction, ReviewDetail, ReviewItem } from '../store/operator-types.ts';
import type { StoredPayload } from '../store/types.ts';
import { type Account, actorOf } from './actor.ts';
import { CommandError, type ExitCode, type Io } from './io.ts';
import { type Done, doneJson, doneOr } from './outcome.ts';
import { moment, oneLine, span, table } from './plain.ts';
import { withStore } from './with-store.ts';

interface Common {
  readonly config: string | null;
  readonly json: boolean;
}

/** What waits for an operator, the oldest first. */
export async function listReviews(o: Common & { readonly limit: number }, io: Io): Promise<ExitCode> {
  const { config } = await loadConfig({ file: o.config, env: io.env, cwd: io.cwd });
  // One more than asked for, to be able to say that there is more.
  const found = await withStore(config, (store) => store.reviews({ limit: o.limit + 1 }));
  const items = found.slice(0, o.limit);
  if (o.json) io.out(JSON.stringify(items.map(itemJson)));
  else if (items.length === 0) io.out('Nothing waits for a decision.');
  else {
    const now = Date.now();
    const rows = items.map((i) => [i.id, kinds[i.kind].short(i), span(now - i.since), i.sender, oneLine(i.messageId)]);
    const [head, ...lines] = table(['id', 'what', 'waits', 'sender', 'message id'], rows);
    io.out(head!);
    items.forEach((item, at) => {
      io.out(lines[at]!);
      for (const line of explained(item)) io.out(`    ${line}`);
    });
    if (found.length > items.length) io.err(`There are more than ${o.limit}; --limit shows them.`);
  }
  return 0;
}

/** Everything about one of them. */
export async function showReview(o: Common & { readonly id: string }, io: Io): Promise<ExitCode> {
  const { config } = await loadConfig({ file: o.config, env: io.env, cwd: io.cwd });
  const found = await withStore(config, (store) => store.reviewDetail(o.id));
  if (!found) {
    throw new CommandError(`Nothing waits for a decision under ${o.id}; "quittance review list" shows what does.`);
  }
  if (o.json) io.out(JSON.stringify(detailJson(found)));
  else for (const line of details(found)) io.out(line);
  return 0;
}

/** An operator's decision about one of them, recorded with who and why. */
export async function decideReview(
  o: Common & Account & { readonly id: string; readonly action: ReviewAction },
  io: Io,
): Promise<ExitCode> {
  const actor = actorOf(o);
  const { config } = await loadConfig({ file: o.config, env: io.env, cwd: io.cwd });
  const outcome = await withStore(config, (store) => store.review(o.id, o.action, actor, Date.now()));
  const done = doneOr(outcome);
  io.out(o.json ? JSON.stringify(doneJson(done)) : decided(o.action, done));
  return 0;
}

/** What each kind is in a list, and what the two answers do to it. */
const kinds: Readonly<
  Record<ReviewItem['kind'], { short: (i: ReviewItem) => string; choices: (i: ReviewItem) => string }>
> = {
  message: {
    short: () => 'kept back',
    choices: () => 'approve: it goes to the inbox. reject: it is never delivered.',
  },
  held: {
    short: (i) => (i.told === 'failure' ? 'conflict' : 'held copy'),
    choices: (i) =>
      i.told === 'failure'
        ? 'Its sender was told that it failed, so it cannot be approved. reject: it is settled and leaves this list.'
        : 'approve: it goes to the inbox as well. reject: it is never delivered.',
  },
  unknown: {
    short: () => 'fate unknown',
    choices: () =>
      'Look whether the backend has it. confirm: it has. approve: it is handed over again, marked as a possible duplicate. reject: it is settled without a delivery.',
  },
  undeliverable: {
    short: () => 'undeliverable',
    choices: () => 'approve: it is handed over again. reject: it is settled without a delivery.',
  },
};

function explained(item: ReviewItem): string[] {
  const parties = `from ${item.originalSender ?? '-'} to ${item.finalRecipient ?? '-'}`;
  const same = item.same.length === 0 ? [] : [sameIn(item)];
  return [oneLine(item.why), oneLine(`${parties}, document type ${item.documentType ?? '-'}`), ...same];
}

/** What a decision about it means for others. */
function sameIn({ kind, same }: Pick<ReviewItem, 'kind' | 'same'>): string {
  const names = named(same);
  return kind === 'held'
    ? `An interchange of it came in ${names} as well: approved, it is delivered once more.`
    : `Suppressed as its repeat: ${names}. Rejected, none of them is delivered.`;
}

function named(messages: ReviewItem['same']): string {
  return messages.map((m) => `${oneLine(m.messageId)} (number ${m.id})`).join(', ');
}

function details({ item, routing, warnings, payloads, contentDigest }: ReviewDetail): string[] {
  const name = (p: { scheme: string | null; value: string } | null) =>
    p ? oneLine(`${p.value}${p.scheme ? ` (${p.scheme})` : ''}`) : '-';
  const other = item.existing;
  return [
    `id              ${item.id} (${kinds[item.kind].short(item)})`,
    `why             ${oneLine(item.why)}`,
    `message id      ${oneLine(item.messageId)}`,
    `sender          ${item.sender}, was told: ${item.told === 'failure' ? 'it failed' : 'received (receipt)'}`,
    `received        ${moment(item.receivedAt)}`,
    `waits since     ${moment(item.since)}`,
    ...item.same.map((m) => `same in         ${oneLine(m.messageId)} (number ${m.id})`),
    ...(other ? [`compared with   ${oneLine(other.messageId)} (number ${other.id})`] : []),
    `from            ${name(routing.originalSender)}`,
    `to              ${name(routing.finalRecipient)}`,
    `document type   ${name(routing.documentType)}`,
    `process         ${name(routing.process)}`,
    `instance        ${oneLine(routing.instanceIdentifier ?? '-')}`,
    `repeats         ${item.repeats}`,
    `content         sha256 ${hex(contentDigest)}`,
    ...payloads.map((p, at) => `payload ${String(at + 1).padEnd(8)}${payload(p)}`),
    ...warnings.map((w) => `warning         ${oneLine(w)}`),
    '',
    kinds[item.kind].choices(item),
  ];
}

function payload(p: StoredPayload): string {
  return oneLine(
    `${p.mimeType}, ${p.bytes} bytes, sha256 ${hex(p.sha256)}${p.data === null ? ', not kept (any more)' : ''}`,
  );
}

function decided(action: ReviewAction, { messageId, handOver, already, same = [] }: Done): string {
  const name = oneLine(messageId);
  const number = handOver === null ? '' : ` (hand-over ${handOver})`;
  if (already) return `${name}${number}: that was decided already; nothing was changed.`;
  if (action === 'approve') {
    const twice =
      same.length === 0 ? '' : ` An interchange of it came in ${named(same)} as well, and is delivered once more.`;
    return `${name} is approved${number}: the running receiver puts it into the inbox.${twice}`;
  }
  if (action === 'confirm') return `${name} counts as delivered${number}.`;
  const lost =
    same.length === 0
      ? ''
      : ` Nor is what was suppressed as its repeat: ${named(same)}. If that was wrong: quittance redeliver.`;
  return `${name} is settled${number}: it is not delivered.${lost}`;
}

function itemJson(item: ReviewItem): object {
  return { ...item, receivedAt: new Date(item.receivedAt).toISOString(), since: new Date(item.since).toISOString() };
}

/** Without the octets of the payloads: what waits is sealed. */
function detailJson({ item, routing, warnings, payloads, contentDigest }: ReviewDetail): object {
  return {
    ...itemJson(item),
    routing,
    warnings,
    contentDigest: hex(contentDigest),
    payloads: payloads.map(({ data, sha256, ...p }) => ({ ...p, sha256: hex(sha256), kept: data !== null })),
  };
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
