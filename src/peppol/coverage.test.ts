import { describe, expect, it } from 'vitest';
import type { UserMessage } from '../ebms/user-message.ts';
import { checkCoverage } from './coverage.ts';

const message = (...hrefs: string[]): UserMessage =>
  ({
    payloadInfo: hrefs.map((href) => ({ href, partProperties: [{ name: 'MimeType', value: 'text/xml' }] })),
  }) as unknown as UserMessage;
const cover = (named: string[], signed: string[], encrypted: string[]) =>
  checkCoverage(message(...named), new Map(signed.map((cid) => [cid, null])), new Set(encrypted));

describe('checkCoverage', () => {
  it('returns the parts in PartInfo order, whatever the order of signature and encryption', () => {
    const parts = cover(['cid:b', 'cid:a'], ['cid:a', 'cid:b'], ['cid:a', 'cid:b']);
    expect(parts.map(({ href }) => href)).toEqual(['cid:b', 'cid:a']);
    expect(parts[0]).toMatchObject({ mimeType: 'text/xml', compressed: false, characterSet: null });
  });

  it('has nothing to cover in a message without payload', () => {
    expect(cover([], [], [])).toEqual([]);
  });

  const refused: Record<string, [string[], string[], string[]]> = {
    'a part that is not signed': [['cid:a', 'cid:b'], ['cid:a'], ['cid:a', 'cid:b']],
    'a part that is not encrypted': [['cid:a', 'cid:b'], ['cid:a', 'cid:b'], ['cid:a']],
    'a signed part that no PartInfo names': [['cid:a'], ['cid:a', 'cid:x'], ['cid:a']],
    'an encrypted part that no PartInfo names': [['cid:a'], ['cid:a'], ['cid:a', 'cid:x']],
    'another spelling in the signature': [['cid:a@b'], ['cid:a%40b'], ['cid:a@b']],
    'another spelling in the encryption': [['cid:a@b'], ['cid:a@b'], ['cid:a%40b']],
  };
  it.each(Object.keys(refused))('answers EBMS:0103 to %s', (name) => {
    expect(() => cover(...refused[name]!)).toThrowError(expect.objectContaining({ code: 'EBMS:0103' }));
  });
});
