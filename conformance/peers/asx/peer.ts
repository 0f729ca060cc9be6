import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Peer } from '../peer.ts';
import { CERTS, tool } from '../tools.ts';
import { ASX_CASES } from './cases.ts';

/** asx-rs. It cannot write MessageProperties nor Service/@type, so no message of its is a valid Peppol one. */
export const asx: Peer = {
  name: 'asx',
  product: 'asx-rs 0.16.2',
  licence: 'MIT OR Apache-2.0',
  onlyWhenAsked: 'its build takes minutes and 1.2 GB',
  tools: [
    ['cargo', '--version'],
    ['pkg-config', '--version'],
    ['openssl', 'version'],
  ],
  fetch: async (folder) => {
    // Copied, so that cargo's lock file and everything else that it writes stays out of the tree.
    for (const part of ['Cargo.toml', 'src']) {
      cpSync(join(import.meta.dirname, part), join(folder, part), { recursive: true, preserveTimestamps: true });
    }
    await tool('cargo', ['fetch', '--quiet'], folder);
  },
  build: async (folder) => {
    await tool('cargo', ['build', '--quiet', '--release'], folder);
    await makeCa(folder);
  },
  driver: (folder) => ({
    program: join(folder, 'target/release/interop-asx'),
    args: [CERTS],
    directory: folder,
  }),
  cases: ASX_CASES,
};

/** asx wants to know of the CA, too, where its revocation is to be asked; the certificate of the test CA does not say it, so here is one that does. */
async function makeCa(folder: string): Promise<void> {
  const cert = (name: string) => join(CERTS, `${name}.crt`);
  const key = (name: string) => join(CERTS, `${name}.key`);
  const extensions = join(folder, 'ap-ca.ext');
  const request = join(folder, 'ap-ca.csr');
  writeFileSync(
    extensions,
    [
      'basicConstraints = critical, CA:TRUE, pathlen:0',
      'keyUsage = critical, keyCertSign, cRLSign',
      'subjectKeyIdentifier = hash',
      'authorityKeyIdentifier = keyid',
      'crlDistributionPoints = URI:http://crl.quittance.test/root.crl',
    ].join('\n'),
  );
  const subject = ['-x509toreq', '-in', cert('ap-ca'), '-signkey', key('ap-ca'), '-out', request];
  await tool('openssl', ['x509', ...subject], folder);
  const issuer = ['-CA', cert('root'), '-CAkey', key('root'), '-set_serial', '4096', '-days', '3650', '-sha256'];
  const what = ['-req', '-in', request, '-extfile', extensions, '-out', join(folder, 'ap-ca.crt')];
  await tool('openssl', ['x509', ...what, ...issuer], folder);
}
