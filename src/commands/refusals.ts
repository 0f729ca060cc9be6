import { loadConfig } from '../config/load.ts';
import type { Refusal } from '../store/types.ts';
import type { ExitCode, Io } from './io.ts';
import { withStore } from './with-store.ts';

export interface RefusalsOptions {
  readonly config: string | null;
  readonly json: boolean;
  readonly limit: number;
  /** Only of this access point: its seat id, the CN of its certificate. */
  readonly sender?: string;
}

/** As many as the ring holds. */
const ALL = 100_000;

/** Lists what was refused, authenticated or not, latest first: which access point, which message, why. */
export async function listRefusals(o: RefusalsOptions, io: Io): Promise<ExitCode> {
  const { config } = await loadConfig({ file: o.config, env: io.env, cwd: io.cwd });
  const { sender } = o;
  const newest = await withStore(config, (store) => store.refusals({ limit: sender === undefined ? o.limit : ALL }));
  const found = sender === undefined ? newest : newest.filter((r) => r.sender === sender).slice(0, o.limit);
  if (o.json) io.out(JSON.stringify(found.map(asJson)));
  else if (found.length === 0) io.out('No refusals.');
  else for (const refusal of found) for (const line of lines(refusal)) io.out(line);
  return 0;
}

function asJson(r: Refusal): object {
  return { ...r, at: new Date(r.at).toISOString(), authenticated: r.sender !== null };
}

function lines(r: Refusal): string[] {
  const who = r.sender === null ? 'not authenticated' : r.sender;
  const id = r.messageId ?? (r.claimedMessageId === null ? '-' : `${r.claimedMessageId} (claimed)`);
  return [
    `${new Date(r.at).toISOString()}  ${r.code}  ${r.reason}  ${printable(who)}  from ${printable(r.remoteAddress)}`,
    `    message ${printable(id)}`,
    `    ${printable(r.text)}`,
  ];
}

/** What a stranger wrote must not move the cursor, colour the terminal or turn the line round. */
function printable(text: string): string {
  return text.trim().replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (c) => `\\u{${c.codePointAt(0)!.toString(16)}}`);
}
