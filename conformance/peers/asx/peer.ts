import { cpSync } from 'node:fs';
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
  },
  driver: (folder) => ({
    program: join(folder, 'target/release/interop-asx'),
    args: [CERTS],
    directory: folder,
  }),
  cases: ASX_CASES,
};
