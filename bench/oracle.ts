import { constants, publicEncrypt } from 'node:crypto';
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { type FixtureSpec, makeFixture, small } from '../fixtures/catalogue/fixture.ts';
import { exchange } from '../fixtures/sender/http.ts';
import { certificateOf } from '../fixtures/sender/keys.ts';
import { startServer } from './server.ts';

/**
 * Whether the time of an answer tells why a decryption failed: bad padding, a key of the wrong length, a bad tag, in turns, so that a
 * busy machine is equally busy for all. The medians must be within 25 %.
 *
 *   npm run bench:oracle -- [--tries 200]
 */
const { values } = parseArgs({ options: { tries: { type: 'string', default: '200' } } });
const tries = Number(values.tries);
const ALLOWED = 0.25;
const receiver = certificateOf('receiver').publicKey;

const wrappedAs = (value: () => Buffer): FixtureSpec => ({
  editEnvelope: (xml) => xml.replace(/(<xenc:CipherValue>)[^<]*/, (_, tag: string) => tag + value().toString('base64')),
});
const oaep = (key: Buffer) =>
  publicEncrypt({ key: receiver, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' }, key);
const CLASSES: Readonly<Record<string, FixtureSpec>> = {
  'bad padding': wrappedAs(() => Buffer.alloc(256, 0x5a)),
  'wrong key length': wrappedAs(() => oaep(Buffer.alloc(15, 1))),
  'another key': wrappedAs(() => oaep(Buffer.alloc(16, 1))),
  'bad tag': {
    editCipher: (octets) => {
      const copy = Buffer.from(octets);
      copy[copy.length - 1] = (copy.at(-1) ?? 0) ^ 1;
      return copy;
    },
  },
};

function requests(): [string, Buffer][] {
  return Object.entries(CLASSES).map(([name, spec]) => {
    const header = { timestamp: new Date().toISOString(), messageId: 'oracle@bench.test' };
    // One length for all: the id of the fixture is in it in many places.
    const { octets } = makeFixture({ id: 'oracle', spec: small({ document: 'order', header, ...spec }) });
    return [name, octets];
  });
}

const server = await startServer({ env: { QUITTANCE_HTTP__FAILURES_PER_MINUTE: '0' } });
try {
  const all = requests();
  const times = new Map<string, number[]>(all.map(([name]) => [name, []]));
  const texts = new Set<string>();
  for (let i = -20; i < tries; i++) {
    // The order changes, so that no class always follows the same one.
    for (let k = 0; k < all.length; k++) {
      const [name, octets] = all[(k + i + 20) % all.length] as [string, Buffer];
      const since = performance.now();
      const answer = await exchange(server.url, octets);
      const ms = performance.now() - since;
      const text = answer.body.toString();
      if (!text.includes('EBMS:0102')) throw new Error(`${name}: ${answer.status} ${text.slice(0, 2000)}`);
      texts.add(/<eb:Error .*<\/eb:Error>/s.exec(text)?.[0] ?? '');
      if (i >= 0) times.get(name)?.push(ms);
    }
  }
  const at = (sorted: number[], share: number) => sorted[Math.floor(sorted.length * share)] ?? 0;
  const rows = [...times].map(([name, list]) => ({ name, sorted: list.sort((a, b) => a - b) }));
  console.table(
    rows.map(({ name, sorted }) => ({
      failed: name,
      tries: sorted.length,
      'p25 ms': at(sorted, 0.25).toFixed(2),
      'median ms': at(sorted, 0.5).toFixed(2),
      'p75 ms': at(sorted, 0.75).toFixed(2),
    })),
  );
  const medians = rows.map(({ sorted }) => at(sorted, 0.5));
  const spread = Math.max(...medians) / Math.min(...medians) - 1;
  console.log(
    `medians within ${(spread * 100).toFixed(0)} % (at most ${ALLOWED * 100} %), ${texts.size === 1 ? 'one text' : `${texts.size} texts`}; load ${loadavg()[0]?.toFixed(1)}`,
  );
  if (spread > ALLOWED || texts.size !== 1) process.exitCode = 1;
} finally {
  await server.stop();
}
