import { afterEach, expect, it } from 'vitest';
import { Driver } from './driver.ts';

const running: Driver[] = [];
afterEach(async () => {
  for (const driver of running.splice(0)) await driver.end();
});

function driver(script: string): Driver {
  const started = new Driver({ program: process.execPath, args: ['-e', script], directory: process.cwd() });
  running.push(started);
  return started;
}

const ECHO = `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  console.log('chatter of a library');
  console.log(JSON.stringify({ accepted: true, verdict: JSON.parse(line).word, checks: {} }));
});`;

it('an order gets its judgement, whatever else the product prints', async () => {
  const echo = driver(ECHO);
  expect(await echo.send({ word: 'one' })).toEqual({ accepted: true, verdict: 'one', checks: {} });
  expect((await echo.send({ word: 'two' })).verdict).toBe('two');
  expect(echo.said).toContain('chatter of a library');
});

it('a driver that dies over an order is told with what it said', async () => {
  const dying = driver(
    `process.stdin.on('data', () => { console.error('out of ideas'); process.exitCode = 3; process.stdin.destroy(); })`,
  );
  await expect(dying.send({})).rejects.toThrow(/ended with 3[\s\S]*out of ideas/);
  expect(dying.over).toBe(true);
  await expect(dying.send({})).rejects.toThrow('ended with 3');
});

it('a driver that cannot be started is told', async () => {
  const none = new Driver({ program: '/there/is/no/such/program', args: [], directory: process.cwd() });
  await expect(none.send({})).rejects.toThrow('ENOENT');
});
