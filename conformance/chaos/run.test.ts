import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startQuittance } from '../target/quittance.ts';
import type { Target } from '../target/target.ts';
import { chaos } from './run.ts';

let quittance: Target;

beforeAll(async () => {
  quittance = await startQuittance();
});
afterAll(() => quittance.stop());

it('a receiver that loses, doubles and invents deliveries when it is killed does not come through', async () => {
  const inbox = quittance.inbox?.directory ?? '';
  let planted = false;
  const faulty: Target = {
    ...quittance,
    get url() {
      return quittance.url;
    },
    restart: async () => {
      await quittance.restart?.();
      const [doubled, ...others] = readdirSync(inbox).filter((name) => !name.startsWith('.'));
      if (planted || doubled === undefined || others.length < 5) return;
      planted = true;
      cpSync(join(inbox, doubled), join(inbox, `${doubled}-again`), { recursive: true });
      for (const name of others.slice(0, 5)) rmSync(join(inbox, name), { recursive: true });
      mkdirSync(join(inbox, 'invented'));
    },
  };
  const { wrong, counts, kills } = await chaos({ seconds: 4, seed: 4711, target: faulty, rest: 2_000 });
  expect(planted).toBe(true);
  expect(kills).toBeGreaterThan(0);
  expect(counts.receipts).toBeGreaterThan(0);
  expect(wrong.filter((each) => each.includes('is 2 times in the folder'))).toHaveLength(1);
  expect(wrong.some((each) => each.includes('has a receipt and is not in the folder'))).toBe(true);
  expect(wrong).toContain('invented in the folder is nothing that was sent');
}, 120_000);
