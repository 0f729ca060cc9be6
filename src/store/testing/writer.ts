import { openSqliteStore } from '../sqlite.ts';
import { StoreError } from '../types.ts';
import { carrying, interchange, sampleMessage } from './sample.ts';

/**
 * A process of its own that accepts messages, 16 at a time, and writes one line for each outcome: what it has said is what it must
 * have stored. Arguments: path of the database, ids' prefix, how many, mark of its receipts, QUITTANCE_CRASH_AT or
 * empty; `interchanges`: the n-th message carries the n-th interchange, whatever its id.
 */
async function write(): Promise<void> {
  const [path = '', prefix = '', count = '0', mark = '', crash = '', carries = ''] = process.argv.slice(2);
  const store = await openSqliteStore({ url: `sqlite:${path}`, crashAt: crash || undefined });
  process.stdout.write('ready\n');
  // Both processes begin at the same moment: when the test has heard of both.
  await new Promise((resolve) => process.stdin.once('data', resolve));
  process.stdin.destroy();
  let next = 0;
  const lane = async () => {
    while (next < Number(count)) {
      const n = next++;
      const id = `${prefix}${n}`;
      const carried = carries === 'interchanges' ? carrying(id, [interchange(`${n}`, `order ${n}`)]) : {};
      const message = sampleMessage(id, carried);
      const body = Buffer.from(`receipt of ${id} by ${mark}`);
      const mine = { ...message, receipt: { ...message.receipt, body } };
      const outcome = await store.accept(mine).catch((error: unknown) => {
        if (error instanceof StoreError) return { kind: error.code };
        throw error;
      });
      const answer = 'answer' in outcome ? Buffer.from(outcome.answer.body).toString() : '';
      process.stdout.write(`${outcome.kind}\t${id}\t${answer}\n`);
    }
  };
  await Promise.all(Array.from({ length: 16 }, lane));
  await store.close();
}

await write();
