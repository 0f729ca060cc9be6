import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Peer } from '../peer.ts';
import { CERTS, tool } from '../tools.ts';
import { N42_CASES } from './cases.ts';

const PACKAGE = '@n42/edelivery';
const VERSION = '0.2.85';

/** @n42/edelivery. Its licence is the AGPL: it is installed outside the tree and runs in a process of its own. */
export const n42: Peer = {
  name: 'n42',
  product: `${PACKAGE} ${VERSION}`,
  licence: 'AGPL-3.0-only',
  tools: [['npm', '--version']],
  fetch: async (folder) => {
    const manifest = join(folder, 'package.json');
    if (!existsSync(manifest)) writeFileSync(manifest, '{ "private": true, "type": "module" }\n');
    if (installed(folder) === VERSION) return;
    const quietly = ['--ignore-scripts', '--no-audit', '--no-fund', '--save-exact'];
    await tool('npm', ['install', ...quietly, `${PACKAGE}@${VERSION}`], folder);
  },
  driver: (folder) => ({
    program: process.execPath,
    args: [join(import.meta.dirname, 'driver.mjs'), CERTS],
    directory: folder,
  }),
  cases: N42_CASES,
};

function installed(folder: string): string | null {
  const manifest = join(folder, 'node_modules', PACKAGE, 'package.json');
  if (!existsSync(manifest)) return null;
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}
