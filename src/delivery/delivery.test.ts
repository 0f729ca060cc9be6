import { createHash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { XMLParser } from 'fast-xml-parser';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { NewMessage, Outbox } from '../store/types.ts';
import { Bench, message, payload, sbd } from './testing/harness.ts';

let bench: Bench;
beforeEach(() => {
  bench = new Bench();
});
afterEach(() => bench.close());

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const text = (entry: string, name: string): string => readFileSync(join(bench.inbox, entry, name), 'utf8');

describe('a message in the folder', () => {
  it('is one directory with the payload decompressed, the document and the metadata', async () => {
    const content = sbd(undefined, 10_000);
    await bench.accept(message('m-1', { payloads: [payload(content)] }));
    await bench.deliver();
    expect(bench.entries()).toEqual(['20261130T101500.123Z_m-1_1']);
    const [entry] = bench.entries() as [string];
    expect(readdirSync(join(bench.inbox, entry)).sort()).toEqual(['document.xml', 'metadata.json', 'payload.xml']);
    expect(readFileSync(join(bench.inbox, entry, 'payload.xml')).equals(content)).toBe(true);
    expect(bench.entries(bench.staging)).toEqual([]);
    expect((await (await bench.store()).counts()).delivered).toBe(1);
  });

  it('names every file with its size and digest', async () => {
    await bench.accept(message('m-1'));
    await bench.deliver();
    const [entry] = bench.entries() as [string];
    const { files } = bench.metadata(entry);
    expect(files.map((file) => file.name)).toEqual(['payload.xml', 'document.xml']);
    for (const { name, bytes, sha256: digest } of files) {
      const content = readFileSync(join(bench.inbox, entry, name));
      expect({ bytes, digest }).toEqual({ bytes: content.length, digest: sha256(content) });
    }
  });

  it('has a document that stands alone: it declares the namespaces that it inherited', async () => {
    await bench.accept(message());
    await bench.deliver();
    const [entry] = bench.entries() as [string];
    const document = text(entry, 'document.xml');
    expect(document).toContain('xmlns:inherited="urn:test:inherited"');
    expect(new XMLParser().parse(document, true)).toHaveProperty('Invoice');
  });

  it.each([
    ['Application/EDIFACT', 'document.edi'],
    ['application/pdf', 'document.pdf'],
    ['text/x-shellscript', 'document.bin'],
    ['../../evil', 'document.bin'],
  ])('has the document of a wrapper of type %s as %s', async (mimeType, name) => {
    const wrapped = Buffer.from('UNB+UNOC:3').toString('base64');
    const wrapper = `<BinaryContent xmlns="http://peppol.eu/xsd/ticc/envelope/1.0" mimeType="${mimeType}">${wrapped}</BinaryContent>`;
    await bench.accept(message('m-1', { payloads: [payload(sbd(wrapper))] }));
    await bench.deliver();
    const [entry] = bench.entries() as [string];
    expect(text(entry, name)).toBe('UNB+UNOC:3');
    expect(bench.metadata(entry).files[1]).toMatchObject({ name, role: 'document', mime: mimeType });
  });

  it.each(['application/octet-stream', 'text/plain', 'application/gzip', 'x'])(
    'has payload.xml and its document when the first payload is called %s: the receiver has read it as an SBD',
    async (mimeType) => {
      const adjunct = payload(Buffer.from('%PDF'), { mimeType: 'application/pdf', compressed: false });
      await bench.accept(message('m-1', { payloads: [payload(sbd(), { mimeType })] }));
      await bench.accept(message('m-2', { payloads: [payload(sbd(), { mimeType }), adjunct] }));
      await bench.deliver();
      const [one, two] = bench.entries() as [string, string];
      expect(bench.metadata(one).files).toMatchObject([
        { name: 'payload.xml', role: 'payload', mime: mimeType },
        { name: 'document.xml', role: 'document', mime: 'application/xml' },
      ]);
      const names = bench.metadata(two).files.map((file) => file.name);
      expect(names).toEqual(['payload-1.xml', 'document.xml', 'payload-2.pdf']);
      expect(text(one, 'payload.xml')).toBe(sbd().toString());
    },
  );

  it('has several payloads numbered in PartInfo order, the document from the first', async () => {
    const pdf = Buffer.from('%PDF-1.7');
    const second = payload(pdf, { mimeType: 'application/pdf', compressed: false, characterSet: null });
    const third = payload(Buffer.from('<x/>'), { mimeType: 'text/xml', compressed: false });
    await bench.accept(message('m-1', { payloads: [payload(sbd()), second, third] }));
    await bench.deliver();
    const [entry] = bench.entries() as [string];
    const { files } = bench.metadata(entry);
    expect(files.map((file) => file.name)).toEqual(['payload-1.xml', 'document.xml', 'payload-2.pdf', 'payload-3.xml']);
    expect(files.map((file) => file.part)).toEqual([1, 1, 2, 3]);
    expect(text(entry, 'payload-2.pdf')).toBe('%PDF-1.7');
  });

  it('has a large payload as sent, streamed from its content file', async () => {
    const content = sbd(undefined, 6_000_000);
    const spooled = join(bench.root, 'spooled');
    const one = payload(content);
    writeFileSync(spooled, one.data as Uint8Array);
    await bench.accept(message('m-1', { payloads: [{ ...one, data: { file: spooled } }] }));
    await bench.deliver();
    const [entry] = bench.entries() as [string];
    expect(sha256(readFileSync(join(bench.inbox, entry, 'payload.xml')))).toBe(sha256(content));
    expect(statSync(join(bench.inbox, entry, 'document.xml')).size).toBeGreaterThan(5_900_000);
  });

  it('has the permissions and the group that are configured, whatever the umask, and so has the inbox', async () => {
    const gid = process.getuid?.() === 0 ? 4321 : (process.getgid?.() ?? 0);
    await bench.accept(message());
    await bench.deliver({ mode: 0o770, group: String(gid) });
    const [entry] = bench.entries() as [string];
    const permissions = (path: string): string => (statSync(path).mode & 0o777).toString(8);
    expect(permissions(join(bench.inbox, entry))).toBe('770');
    expect(permissions(join(bench.inbox, entry, 'metadata.json'))).toBe('660');
    expect(statSync(bench.inbox).mode & 0o770).toBe(0o770);
    for (const path of [bench.inbox, join(bench.inbox, entry), join(bench.inbox, entry, 'document.xml')]) {
      expect(statSync(path).gid).toBe(gid);
    }
  });

  it('says that there is no group of a name instead of leaving the group as it is', async () => {
    await expect(bench.delivery({ group: 'no-such-group' })).rejects.toThrow(/there is no group no-such-group/);
  });
});

describe('batches', () => {
  it('deliver everything once and in commit order, more than one batch and while messages come in', async () => {
    const delivery = await bench.delivery();
    await delivery.start();
    for (let at = 0; at < 5; at++) {
      await bench.accept(...Array.from({ length: 30 }, () => message()));
      delivery.wake();
    }
    await delivery.idle();
    const numbers = bench.entries().map((entry) => bench.metadata(entry).sequence);
    expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 150 }, (_, at) => at + 1));
    expect(delivery.degraded()).toEqual([]);
  });

  it('are found by the poll when another process accepted the message', async () => {
    const delivery = await bench.delivery();
    await delivery.start();
    await delivery.idle();
    await bench.accept(message());
    await expect.poll(() => bench.entries().length, { timeout: 10_000 }).toBe(1);
  });

  it('leave out a message that was superseded while it was written, and remove its directory', async () => {
    await bench.accept(message('keep'), message('superseded'));
    const { outbox } = await bench.store();
    const racing: Outbox = {
      ...outbox,
      async startHandingOver(rows, bootId, at) {
        await outbox.reconcile(2, 'lost', at);
        return outbox.startHandingOver(rows, bootId, at);
      },
    };
    await bench.deliver({ outbox: racing });
    expect(bench.entries()).toEqual([expect.stringContaining('_keep_1')]);
    expect(bench.entries(bench.staging)).toEqual([]);
    expect(await (await bench.store()).counts()).toMatchObject({ delivered: 1, unknown: 1 });
  });
});

describe('a message that cannot be written', () => {
  it('is undeliverable after five attempts of its own, and holds nobody else up', async () => {
    const broken = payload(Buffer.from('not gzip'), { compressed: false });
    await bench.accept(message('a'), message('broken', { payloads: [{ ...broken, compressed: true }] }), message('b'));
    const errors: object[] = [];
    const log = { info() {}, warn() {}, error: (fields: object) => void errors.push(fields) };
    await bench.deliver({ log });
    expect(bench.entries().map((entry) => bench.metadata(entry).messageId)).toEqual(['a', 'b']);
    expect(await (await bench.store()).counts()).toMatchObject({ delivered: 2, undeliverable: 1, received: 0 });
    expect(errors).toHaveLength(5);
    expect(errors[4]).toMatchObject({ messageId: 'broken', attempts: 5, state: 'undeliverable' });
    expect(bench.entries(bench.staging)).toEqual([]);
  });

  const content = (): string => `${bench.database}.content`;
  const log = (errors: { error?: string }[]) => ({
    info() {},
    warn() {},
    error: (fields: object) => void errors.push(fields),
  });

  /** Two messages with content files and one without; gives the path of the first one's file. */
  async function acceptLarge(): Promise<string> {
    const large = (id: string): NewMessage => {
      const spooled = join(bench.root, `spooled-${id}`);
      const one = payload(sbd());
      writeFileSync(spooled, one.data as Uint8Array);
      return message(id, { payloads: [{ ...one, data: { file: spooled } }] });
    };
    await bench.accept(large('bad'));
    const [name] = readdirSync(content());
    await bench.accept(large('good'), message('small'));
    return join(content(), name ?? '');
  }

  // Not by permissions: the super-user, as whom tests may run, reads everything.
  it.each<[string, (file: string) => void]>([
    ['is gone (ENOENT)', (file) => rmSync(file)],
    [
      'cannot be read (EIO)',
      (file) => {
        rmSync(file);
        // Reads of unmapped memory fail like those of a bad sector.
        symlinkSync('/proc/self/mem', file);
      },
    ],
    [
      'cannot be read at all (EISDIR)',
      (file) => {
        rmSync(file);
        mkdirSync(file);
      },
    ],
  ])('is one whose content file %s: it alone is undeliverable, and the reason names the file', async (_, spoil) => {
    const file = await acceptLarge();
    spoil(file);
    const errors: { error?: string }[] = [];
    await bench.deliver({ log: log(errors) });
    expect(bench.entries().map((entry) => bench.metadata(entry).messageId)).toEqual(['good', 'small']);
    expect(await (await bench.store()).counts()).toMatchObject({ delivered: 2, undeliverable: 1, received: 0 });
    expect(errors.map(({ error }) => error?.includes(file))).toEqual(Array(5).fill(true));
  });

  it.runIf(process.getuid?.() !== 0)('is one whose content file this user may not read (EACCES)', async () => {
    chmodSync(await acceptLarge(), 0);
    await bench.deliver();
    expect(await (await bench.store()).counts()).toMatchObject({ delivered: 2, undeliverable: 1, received: 0 });
  });

  it('is none of them when the whole content folder is away: deliveries wait, and say which folder', async () => {
    await acceptLarge();
    const away = `${content()}.away`;
    renameSync(content(), away);
    const delivery = await bench.delivery();
    await delivery.start();
    await expect.poll(() => delivery.degraded(), { timeout: 10_000 }).toHaveLength(1);
    const [said] = delivery.degraded();
    expect(said?.what).toContain(content());
    expect(said?.what).not.toMatch(/inbox/);
    // Long enough for more tries than would make a message undeliverable.
    await new Promise((resolve) => setTimeout(resolve, 500));
    renameSync(away, content());
    await delivery.idle();
    expect(await (await bench.store()).counts()).toMatchObject({ delivered: 3, undeliverable: 0 });
    expect((await (await bench.store()).outbox.inState('delivered', 9)).map((row) => row.attempts)).toEqual([0, 0, 0]);
  });
});
