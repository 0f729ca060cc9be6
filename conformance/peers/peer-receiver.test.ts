import { existsSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { type PeerReceiver, startPeerReceiver } from './peer-receiver.ts';

const running: PeerReceiver[] = [];
afterEach(async () => {
  for (const receiver of running.splice(0)) await receiver.stop();
});

let folder = '';
async function start(script: string): Promise<PeerReceiver> {
  const receiver = await startPeerReceiver((inbox) => {
    folder = inbox;
    return { program: process.execPath, args: ['-e', script], directory: process.cwd() };
  });
  running.push(receiver);
  return receiver;
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

it('is there once it says that it listens, and gone with its folder after stop', async () => {
  const receiver = await start(
    `console.log('chatter'); console.log('listening http://127.0.0.1:9/as4'); process.stdin.resume();`,
  );
  expect(receiver.url.href).toBe('http://127.0.0.1:9/as4');
  expect(existsSync(receiver.folder)).toBe(true);
  await receiver.stop();
  expect(isAlive(receiver.pid)).toBe(false);
  expect(existsSync(receiver.folder)).toBe(false);
});

it('one that ends before it listens is told with what it said, and leaves no folder', async () => {
  await expect(start(`console.error('no key'); process.exitCode = 3;`)).rejects.toThrow(/ended with 3[\s\S]*no key/);
  expect(existsSync(folder)).toBe(false);
});

it('one that cannot be started is told', async () => {
  const none = startPeerReceiver(() => ({ program: '/there/is/no/such/program', args: [], directory: process.cwd() }));
  await expect(none).rejects.toThrow('ENOENT');
});
