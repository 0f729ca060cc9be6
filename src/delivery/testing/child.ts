import { Bench } from './harness.ts';

// A process that delivers, for tests that kill it: `child.ts <bench directory> once|forever [crash setting]`. It says "ready" when it
// has started; `once` ends when nothing is waiting.

const [root = '', mode = 'once', crashAt] = process.argv.slice(2);
const bench = new Bench(root);
const delivery = await bench.delivery({ crashAt });
await delivery.start();
console.log('ready');
if (mode === 'once') {
  await delivery.idle();
  await delivery.stop();
  await bench.closeStore();
}
