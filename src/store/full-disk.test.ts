import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openSqliteStore } from './sqlite.ts';
import { noon, sampleMessage } from './testing/sample.ts';
import type { NewMessage, Store } from './types.ts';

let root = '';
let volume = '';
let store: Store | null = null;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'quittance-full-'));
  volume = join(root, 'volume');
  mkdirSync(volume);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'none', volume]);
});
afterEach(async () => {
  await store?.close();
  store = null;
  execFileSync('umount', ['-l', volume]);
  rmSync(root, { recursive: true, force: true });
});

/** A message with a payload of this many bytes in its row. */
function sized(id: string, bytes: number): NewMessage {
  const message = sampleMessage(id);
  return { ...message, payloads: [{ ...message.payloads[0]!, bytes, data: Buffer.alloc(bytes, 1) }] };
}

async function kindOf(message: NewMessage): Promise<string> {
  const outcome = store!.accept(message);
  return outcome.then(
    ({ kind }) => kind,
    (error: { code: string }) => error.code,
  );
}

const canMount = process.getuid?.() === 0 && tryMount();

function tryMount(): boolean {
  const probe = mkdtempSync(join(tmpdir(), 'quittance-mount-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', 'none', probe], { stdio: 'ignore' });
    execFileSync('umount', [probe]);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(probe, { recursive: true, force: true });
  }
}
if (!canMount) console.warn('skipped: no permission to mount, so a full file system under the database is not tried');

describe.runIf(canMount)('a disk that is full for a while (needs mount)', () => {
  test('refuses what does not fit, keeps what it had, and takes messages again once there is room', async () => {
    store = await openSqliteStore({ url: `sqlite:${join(volume, 'q.db')}`, heartbeat: false });
    expect(await kindOf(sampleMessage('before'))).toBe('accepted');
    const ballast = join(volume, 'ballast');
    mkdirSync(ballast);
    for (let at = 0; fill(join(ballast, String(at))); at++);

    for (const id of ['a', 'b', 'c']) expect(await kindOf(sized(id, 250_000))).toMatch(/^(full|io)$/);

    for (const name of readdirSync(ballast)) rmSync(join(ballast, name));
    expect(await kindOf(sampleMessage('before', { receivedAt: noon + 1 }))).toBe('duplicate');
    for (const id of ['a', 'b', 'after']) expect(await kindOf(sized(id, 250_000))).toBe('accepted');
    expect((await store.outbox.pending(9)).map((row) => row.message.messageId)).toEqual(['before', 'a', 'b', 'after']);
  });

  function fill(file: string): boolean {
    try {
      writeFileSync(file, Buffer.alloc(64 * 1024));
      return true;
    } catch {
      // Full, as wanted.
      return false;
    }
  }
});
