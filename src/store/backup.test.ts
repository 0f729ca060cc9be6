import { existsSync, readdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { storeFixture } from './testing/fixture.ts';
import { actor } from './testing/operator.ts';
import { noon, sampleMessage } from './testing/sample.ts';

describe('a backup', () => {
  const fixture = storeFixture();
  const copy = () => join(fixture.directory, 'backup', 'copy.db');

  test('restored backup: made while messages arrive it holds all that was receipted before it, and payload files', async () => {
    const store = await fixture.open();
    await mkdir(join(fixture.directory, 'backup'));
    const file = join(fixture.directory, 'large');
    await writeFile(file, 'large payload');
    const [payload] = sampleMessage('m').payloads;
    await store.accept(sampleMessage('large', { payloads: [{ ...payload!, data: { file } }] }));
    for (let i = 0; i < 50; i++) await store.accept(sampleMessage(`m${i}`));
    const [report] = await Promise.all([
      store.backup(copy()),
      ...Array.from({ length: 200 }, (_, i) => store.accept(sampleMessage(`later${i}`))),
    ]);
    expect(report).toMatchObject({ files: 1, missing: 0 });
    expect(readdirSync(`${copy()}.content`)).toHaveLength(1);
    const restored = await fixture.open({ url: `sqlite:${copy()}` });
    for (const id of ['large', 'm0', 'm49']) {
      const message = sampleMessage(id);
      const found = await restored.find(message, message.referenceSet, noon);
      expect(Buffer.from(found!.receipt!.body)).toEqual(message.receipt.body);
    }
    const [first] = await restored.outbox.pending(1);
    expect(first?.payloads[0]?.data).toEqual({ file: expect.stringContaining('copy.db.content') });
    // `serve --restored` does this to each row that was pending.
    await restored.outbox.reconcile(1, 'restored', noon);
    expect(await restored.reviews({ limit: 1 })).toMatchObject([{ kind: 'unknown', messageId: 'large' }]);
  });

  test('overwrites nothing, and leaves nothing half-made', async () => {
    const store = await fixture.open();
    await store.accept(sampleMessage('m1'));
    const target = join(fixture.directory, 'copy.db');
    await store.backup(target);
    await expect(store.backup(target)).rejects.toThrow('is there already');
    await expect(store.backup(join(fixture.directory, 'no', 'copy.db'))).rejects.toThrow();
    expect(existsSync(`${target}.part`)).toBe(false);
  });

  test('says of a payload file that purge took meanwhile that it is purged', async () => {
    const store = await fixture.open();
    const file = join(fixture.directory, 'large');
    await writeFile(file, 'large payload');
    const [payload] = sampleMessage('m').payloads;
    await store.accept(sampleMessage('large', { payloads: [{ ...payload!, data: { file } }] }));
    const [name] = readdirSync(`${fixture.path}.content`);
    const { rm } = await import('node:fs/promises');
    await rm(join(`${fixture.path}.content`, name!));
    const target = join(fixture.directory, 'copy.db');
    expect(await store.backup(target)).toMatchObject({ files: 0, missing: 1 });
    const restored = await fixture.open({ url: `sqlite:${target}` });
    await restored.outbox.reconcile(1, 'restored', noon);
    expect(await restored.review('large', 'approve', actor, noon)).toMatchObject({ reason: 'payload-purged' });
  });
});
