import { performance } from 'node:perf_hooks';
import type { IncomingRequest } from '../exchange.ts';
import type { PostedSignal } from './posted-signal.ts';

/** What the one log line of a message says; filled as the journey learns it. No payload content, no key, no header dump. */
export interface Trace {
  /** Out of the verified header. */
  messageId: string | null;
  /** Found in a header that nobody has verified (yet). */
  claimedMessageId: string | null;
  envelopeRead: boolean;
  /** Authenticated: subject CN of the signer. */
  sender: string | null;
  fingerprint: string | null;
  /** What was posted when it was no UserMessage. */
  signals: readonly PostedSignal[] | null;
  /** Octets of the body received so far. */
  readonly bytes: number;
  readonly warnings: string[];
  readonly remoteAddress: string;
  readonly steps: Record<string, number>;
  /** Ends the step that was running and starts another. */
  step(name: string): void;
  /** Ends the last step. */
  end(): number;
}

export function startTrace({ body, remoteAddress }: IncomingRequest): Trace {
  const steps: Record<string, number> = {};
  const begin = performance.now();
  let since = begin;
  let running: string | null = null;
  const close = () => {
    const now = performance.now();
    if (running !== null) steps[running] = Math.round(((steps[running] ?? 0) + now - since) * 100) / 100;
    since = now;
    return now;
  };
  return {
    messageId: null,
    claimedMessageId: null,
    envelopeRead: false,
    sender: null,
    fingerprint: null,
    signals: null,
    get bytes() {
      return body.bytes ?? 0;
    },
    warnings: [],
    remoteAddress,
    steps,
    step(name) {
      close();
      running = name;
    },
    end() {
      const now = close();
      running = null;
      return Math.round((now - begin) * 100) / 100;
    },
  };
}
