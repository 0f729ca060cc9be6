import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { certFile } from '../certs/read.ts';
import { makeSmallPki, threeKeys } from './pki/testing/small-pki.ts';
import { startReceiver } from './testing/receiver.ts';

const directory = mkdtempSync(join(tmpdir(), 'quittance-production-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it('in production the receiver does not start with a certificate of a test CA, whose key everybody may have, and does with another', async () => {
  const { root, ca, leaf } = makeSmallPki('PEPPOL', { keys: threeKeys() });
  const file = (name: string, text: string): string => {
    writeFileSync(join(directory, name), text);
    return join(directory, name);
  };
  const settings = {
    environment: 'production',
    'trust.issuers': file('trust.pem', ca.pem + root.pem),
    'trust.revocation': 'off',
    'identity.certificate': certFile('receiver.crt'),
    'identity.key': certFile('receiver.key'),
  };
  await expect(startReceiver({ directory, settings })).rejects.toMatchObject({
    code: 'test-identity-in-production',
    message: expect.stringMatching(/CN=POP000002.* is issued by a test CA \(CN=QUITTANCE.*\), .*name our production/),
  });
  const own = { 'identity.certificate': file('own.crt', leaf.pem), 'identity.key': file('own.key', leaf.keyPem) };
  const receiver = await startReceiver({ directory, settings: { ...settings, ...own } });
  await receiver.stop();
});
