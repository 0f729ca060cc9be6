import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Peer } from '../peer.ts';
import { CERTS, tool } from '../tools.ts';
import { AS4_CASES } from './cases.ts';

const PACKAGE = 'as4==0.2.0';

/** The Python package as4, the strictest of all about receipts. */
export const as4: Peer = {
  name: 'as4',
  product: 'as4 0.2.0',
  licence: 'Apache-2.0',
  tools: [['python3', '--version']],
  fetch: async (folder) => {
    const python = join(folder, 'venv/bin/python');
    if (!existsSync(python)) await tool('python3', ['-m', 'venv', join(folder, 'venv')], folder);
    await tool(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', PACKAGE], folder);
  },
  driver: (folder) => ({
    program: join(folder, 'venv/bin/python'),
    args: ['-B', join(import.meta.dirname, 'driver.py'), CERTS],
    directory: folder,
  }),
  cases: AS4_CASES,
};
