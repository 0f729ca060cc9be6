import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Identity, loadIdentity } from '../pki/identity.ts';
import { TrustStore } from '../pki/trust.ts';
import { parseXml } from '../xml/parse.ts';
import { unwrapKeys } from './content-keys.ts';
import { openBuffer, openPart } from './open.ts';
import { readSample, SAMPLES_PRESENT, sampleNames, samplePki, sampleSha256 } from './testing/samples.ts';
import { trustEverything } from './testing/trust.ts';
import { verifyEnvelope } from './verify.ts';

const AT = Date.UTC(2026, 10, 30, 10);
const REFUSED: Readonly<Record<string, string>> = {
  'phase4-12-sign-ski-key-id.as4': 'subject key identifier',
  'phase4-13-sha512.as4': 'rsa-sha512',
  'phase4-10x-aes256-short-key.as4': 'aes256-gcm',
};

describe.skipIf(!SAMPLES_PRESENT)('messages that other products sent', () => {
  let identity: Identity;
  let trust: TrustStore;
  beforeAll(async () => {
    identity = await loadIdentity({ certificate: samplePki('receiver.crt'), key: samplePki('receiver.key') });
    trust = await TrustStore.load({
      issuers: samplePki('trust.pem'),
      crls: [],
      revocation: 'off',
      environment: 'test',
      now: () => AT,
    });
  });

  test.each(sampleNames('real'))('%s: SignatureValue and the digests of Messaging and Body hold', (name) => {
    const { envelope } = readSample('real', name);
    const verified = verifyEnvelope(parseXml(envelope), trustEverything, AT);
    expect(verified.references.filter((r) => r.kind === 'same-document')).toHaveLength(2);
    expect(verified.attachments.size).toBe(1);
    expect([...verified.encryption.cids]).toEqual([...verified.attachments.keys()]);
  });

  test.each(sampleNames('peers').filter((name) => !(name in REFUSED)))(
    '%s: verifies, decrypts and has the digest that was signed, in memory and as a stream',
    async (name) => {
      const { envelope, parts } = readSample('peers', name);
      const verified = verifyEnvelope(parseXml(envelope), trust, AT);
      expect(verified.signer.commonName).toBe('PBE000001');
      const cids = [...verified.encryption.cids];
      expect(cids).toEqual([...parts.keys()]);
      const keys = await unwrapKeys(verified.encryption, cids, identity);
      for (const cid of cids) {
        const reference = verified.attachments.get(cid)!;
        const cipher = parts.get(cid)!;
        const { plain, sha256, bytes } = await openBuffer(cipher, cid, keys, reference);
        const payload = plain.readUInt16BE(0) === 0x1f8b ? gunzipSync(plain) : plain;
        expect(createHash('sha256').update(payload).digest('hex')).toBe(sampleSha256(name));
        const chunks: Buffer[] = [];
        const streamed = await openPart(pieces(cipher, 7001), cid, keys, reference, (chunk) => void chunks.push(chunk));
        expect(streamed).toEqual({ bytes, sha256 });
        expect(Buffer.concat(chunks).equals(plain)).toBe(true);
      }
    },
  );

  test.each(Object.entries(REFUSED))('%s: EBMS:0103 that names %s', (name, words) => {
    const doc = parseXml(readSample('peers', name).envelope);
    expect(() => verifyEnvelope(doc, trust, AT)).toThrow(
      expect.objectContaining({ code: 'EBMS:0103', message: expect.stringContaining(words) }),
    );
  });
});

async function* pieces(whole: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < whole.length; at += size) yield whole.subarray(at, at + size);
}
