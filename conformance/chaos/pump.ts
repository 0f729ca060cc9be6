import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from './fault.ts';

export interface PumpOptions {
  readonly from: Socket;
  readonly to: Socket;
  /** Of this side. */
  readonly faults: readonly Fault[];
  /** Called when the octet of a fault has come; says what becomes of this side. */
  readonly happen: (fault: Fault) => 'go on' | 'end here' | 'stop';
  /** Sees what `from` says, and null once it says nothing more. */
  readonly passed?: (piece: Buffer | null) => void;
}

/** Passes octets on from one socket to another, and lets each fault happen in front of the octet that it is due at. Never rejects. */
export async function pump({ from, to, faults, happen, passed }: PumpOptions): Promise<void> {
  const due = [...faults].sort((a, b) => a.at - b.at);
  let position = 0;
  let ended = false;
  try {
    for await (const chunk of from.iterator({ destroyOnReturn: false })) {
      let piece = chunk as Buffer;
      passed?.(piece);
      for (let next = due[0]; next !== undefined && next.at < position + piece.length; next = due[0]) {
        due.shift();
        if (ended) continue;
        await write(to, piece.subarray(0, next.at - position));
        piece = piece.subarray(next.at - position);
        position = next.at;
        // A reset overtakes octets that are still under way, and then it would not matter where it comes.
        if (next.kind === 'drop' && next.at > 0) await sleep(5);
        const then = happen(next);
        if (then === 'stop') return;
        if (then === 'end here') {
          ended = true;
          to.end();
        }
        if (next.kind === 'delay') await sleep(next.ms);
      }
      // The rest of a side that was ended is read all the same: its speaker must not notice.
      if (!ended) await write(to, piece);
      position += piece.length;
    }
    if (!ended) to.end();
  } catch {
    // One of the two sockets broke; neither is of use without the other.
    from.destroy();
    to.destroy();
  } finally {
    passed?.(null);
  }
}

async function write(to: Socket, piece: Buffer): Promise<void> {
  if (piece.length === 0) return;
  if (to.destroyed) throw new Error('the other side is gone');
  if (to.write(piece) || !to.writableNeedDrain) return;
  const gone = new AbortController();
  const abort = (): void => gone.abort();
  to.once('close', abort);
  try {
    await once(to, 'drain', { signal: gone.signal });
  } finally {
    to.off('close', abort);
  }
}
