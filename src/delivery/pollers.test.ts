import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench, message } from './testing/harness.ts';

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));
const hasPython = spawnSync('python3', ['--version']).status === 0;
if (!hasPython) console.warn('skipped: no python3, so docs/pollers/poll.py is not run');

let bench: Bench;
beforeEach(() => {
  bench = new Bench();
});
afterEach(() => bench.close());

const pollers: [name: string, command: string, runs: boolean][] = [
  ['poll.mjs', process.execPath, true],
  ['poll.py', 'python3', hasPython],
];

describe.each(pollers)('docs/pollers/%s', (name, command, runs) => {
  const run = (done: string): string[] => {
    const text = execFileSync(command, [join(docs, 'pollers', name), bench.inbox, done, '--once'], {
      encoding: 'utf8',
    });
    return text.split('\n').filter((line) => line !== '');
  };

  it.runIf(runs)('takes what was delivered out in order of acceptance, and each message once', async () => {
    const ids = Array.from({ length: 12 }, (_, at) => `m-${at}`);
    for (const id of ids) await bench.accept(message(id));
    await bench.deliver();
    const done = join(bench.root, 'done');
    const taken = run(done).map((line) => JSON.parse(line) as { messageId: string; sequence: number; bytes: number });
    expect(taken.map(({ messageId }) => messageId)).toEqual(ids);
    expect(taken[11]).toEqual({ sequence: 12, messageId: 'm-11', bytes: 98 });
    expect(bench.entries()).toEqual([]);
    expect(bench.entries(done)).toHaveLength(12);
    expect(run(done)).toEqual([]);
    // The marker is still there: the next message is delivered.
    await bench.accept(message('later'));
    await bench.deliver();
    expect(run(done)).toHaveLength(1);
  });

  it.runIf(runs)('leaves what it cannot work on in the inbox and goes on', async () => {
    await bench.accept(message('good'));
    await bench.deliver();
    mkdirSync(join(bench.inbox, '20261130T101500.123Z_bad_0'));
    const done = join(bench.root, 'done');
    expect(run(done)).toHaveLength(1);
    expect(bench.entries()).toEqual(['20261130T101500.123Z_bad_0']);
  });

  it('is quoted in docs/backend.md as it is', () => {
    const fence = name.endsWith('.py') ? 'python' : 'js';
    const quoted =
      new RegExp(`\`\`\`${fence}\n([^]*?)\`\`\``).exec(readFileSync(join(docs, 'backend.md'), 'utf8'))?.[1] ?? '';
    const source = readFileSync(join(docs, 'pollers', name), 'utf8')
      .split('\n')
      .map((line) => line.trim());
    const lines = quoted.split('\n').filter((line) => line !== '');
    expect(lines.length).toBeGreaterThan(5);
    for (const line of lines) expect(source).toContain(line.trim());
  });
});
