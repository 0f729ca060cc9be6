import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { patternOf } from './pattern.ts';
import { notServiced, ServicedList } from './serviced.ts';

const id = (scheme: string, value: string) => ({ scheme, value });
const someone = id('iso6523-actorid-upis', '0088:ABC');
const invoice = id('busdox-docid-qns', 'urn:x::Invoice##c::2.1');
const billing = id('cenbii-procid-ubl', 'urn:p');
const entry = (participant: string, documentType?: string, process?: string) =>
  `[[serviced]]\nparticipant = "${participant}"\n${documentType === undefined ? '' : `documentType = "${documentType}"\n`}${process === undefined ? '' : `process = "${process}"\n`}`;

let directory: string;
let file: string;
let list: ServicedList | undefined;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'serviced-'));
  file = join(directory, 'serviced.toml');
});
afterEach(async () => {
  list?.close();
  list = undefined;
  await rm(directory, { recursive: true });
});

async function load(text: string): Promise<ServicedList> {
  await writeFile(file, text);
  list = await ServicedList.load(file, { pollEvery: 3_600_000, now: () => Date.UTC(2026, 0, 2) });
  return list;
}

describe('ServicedList', () => {
  it('compares participants case-insensitively, document types and processes exactly', async () => {
    const serviced = await load(
      entry('iso6523-actorid-upis::0088:abc', 'busdox-docid-qns::urn:x::Invoice##c::2.1', 'cenbii-procid-ubl::urn:p'),
    );
    expect(serviced.isServiced(someone, invoice, billing)).toBe(true);
    expect(serviced.isServiced(id('iso6523-actorid-upis', '0088:abcd'), invoice, billing)).toBe(false);
    expect(serviced.isServiced(someone, id('busdox-docid-qns', 'urn:x::INVOICE##c::2.1'), billing)).toBe(false);
    expect(serviced.isServiced(someone, id('other', invoice.value), billing)).toBe(false);
    expect(serviced.isServiced(someone, invoice, id('cenbii-procid-ubl', 'urn:P'))).toBe(false);
  });

  it('understands wildcards, and a missing document type or process as any', async () => {
    const serviced = await load(entry('*::0088:a*', '*::Invoice##*') + entry('iso6523-actorid-upis::0099:x'));
    expect(serviced.isServiced(someone, invoice, billing)).toBe(true);
    expect(serviced.isServiced(someone, id('busdox-docid-qns', 'urn:x::Order##c::2.1'), billing)).toBe(false);
    expect(serviced.isServiced(id('iso6523-actorid-upis', '0099:X'), id('any', 'thing'), billing)).toBe(true);
  });

  it('services nobody with an empty list', async () => {
    expect((await load('serviced = []')).isServiced(someone, invoice, billing)).toBe(false);
  });

  it.each(['not toml [', 'serviced = 1', '[[serviced]]\nparticipan = "x::y"', entry('0088:abc'), ''])(
    'does not start with a file that says %j',
    async (text) => {
      await expect(load(text)).rejects.toThrowError(/serviced list/);
    },
  );

  it('does not start without its file', async () => {
    await expect(ServicedList.load(join(directory, 'nothing.toml'))).rejects.toThrowError(/cannot be read/);
  });

  it('follows a file that is rewritten or replaced by rename', async () => {
    const serviced = await load(entry('iso6523-actorid-upis::0088:abc'));
    await writeFile(file, entry('iso6523-actorid-upis::0088:new'));
    await serviced.reload();
    expect(serviced.isServiced(someone, invoice, billing)).toBe(false);
    await writeFile(`${file}.new`, entry('iso6523-actorid-upis::0088:abc'));
    await rename(`${file}.new`, file);
    await serviced.reload();
    expect(serviced.isServiced(someone, invoice, billing)).toBe(true);
  });

  it('keeps the last good list when the file breaks or goes, says so with since when, and recovers', async () => {
    const serviced = await load(entry('iso6523-actorid-upis::0088:abc'));
    expect(serviced.degraded()).toBeNull();
    await writeFile(file, 'broken [');
    await serviced.reload();
    expect(serviced.isServiced(someone, invoice, billing)).toBe(true);
    expect(serviced.degraded()).toMatch(/cannot be read.*since 2026-01-02T00:00:00.000Z/);
    await rm(file);
    await serviced.reload();
    expect(serviced.degraded()).not.toBeNull();
    await writeFile(file, entry('*'));
    await serviced.reload();
    expect(serviced.degraded()).toBeNull();
    expect(serviced.isServiced(id('x', 'y'), invoice, billing)).toBe(true);
  });

  it('looks by itself', async () => {
    await writeFile(file, entry('*'));
    list = await ServicedList.load(file, { pollEvery: 5 });
    await writeFile(file, 'serviced = []');
    await expect.poll(() => list?.isServiced(someone, invoice, billing)).toBe(false);
  });
});

describe('notServiced', () => {
  it('is EBMS:0004 with exactly the detail of the profile', () => {
    const error = notServiced({ sender: someone, receiver: someone, documentType: invoice, process: billing });
    expect(error).toMatchObject({ code: 'EBMS:0004', detail: 'PEPPOL:NOT_SERVICED' });
    expect(error.message).toContain('0088:ABC');
  });
});

describe('patternOf', () => {
  it.each([
    ['abc', 'abc', true],
    ['abc', 'abcd', false],
    ['*', '', true],
    ['a*', 'a', true],
    ['a*', 'ba', false],
    ['*c', 'abc', true],
    ['a*c', 'abbc', true],
    ['ab*bc', 'abc', false],
    ['a*b*c', 'a1b2c', true],
    ['a*b*c', 'acb', false],
    ['a*b*b', 'ab', false],
    ['a.c', 'abc', false],
    ['**', 'x', true],
  ])('%s against %s is %s', (pattern, value, expected) => {
    expect(patternOf(pattern).matches(value)).toBe(expected);
  });

  it('stays fast on hostile values', () => {
    expect(patternOf(`${'a*'.repeat(50)}b`).matches('a'.repeat(100_000))).toBe(false);
  });
});
