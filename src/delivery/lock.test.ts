import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { DeliveryLock } from './lock.ts';

const file = (): string => join(mkdtempSync(join(tmpdir(), 'quittance-lock-')), 'db.delivery-lock');

it('one holds the lock, and the next one can once it is released', () => {
  const path = file();
  const first = new DeliveryLock(path);
  const second = new DeliveryLock(path);
  expect(first.acquire()).toBe(true);
  expect(first.acquire()).toBe(true);
  expect(second.acquire()).toBe(false);
  first.release();
  expect(second.acquire()).toBe(true);
  second.release();
});

it('the operating system releases the lock of a process that is killed', async () => {
  const path = file();
  const script = `import { DeliveryLock } from '${new URL('./lock.ts', import.meta.url).href}';
    console.log(new DeliveryLock('${path}').acquire()); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  expect(line.toString().trim()).toBe('true');
  const lock = new DeliveryLock(path);
  expect(lock.acquire()).toBe(false);
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
  expect(lock.acquire()).toBe(true);
  lock.release();
});

it('a lock file that cannot be made is an error, not a lock that somebody else holds', () => {
  expect(() => new DeliveryLock('/nowhere/at/all/lock').acquire()).toThrow(/directory does not exist/);
});
