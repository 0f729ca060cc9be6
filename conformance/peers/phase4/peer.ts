import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Peer } from '../peer.ts';
import { CERTS, tool } from '../tools.ts';
import { PHASE4_CASES } from './cases.ts';
import { phase4Receiver } from './receiver.ts';
import { PHASE4_RECEIVER_CASES } from './receiver-cases.ts';

const HERE = import.meta.dirname;
/** The keystores live in the cache folder and hold nothing but public test keys. */
const PASSWORD = 'interop';
const IDENTITIES = ['sender', 'sender-2', 'revoked', 'expired', 'receiver'];
const SOURCES = ['Driver', 'Shipment', 'Receiver', 'Keep'];
/** The JVM lives for a few messages: it is to start fast. */
const JVM = ['-XX:TieredStopAtLevel=1'];

/** phase4, the most widely used AS4 library of Peppol; its driver and its receiver are compiled against the jars of Maven Central. */
export const phase4: Peer = {
  name: 'phase4',
  product: 'phase4-peppol-client 4.4.1',
  licence: 'Apache-2.0',
  tools: [
    ['mvn', '--version'],
    ['javac', '-version'],
    ['java', '-version'],
    ['keytool', '-help'],
    ['openssl', 'version'],
  ],
  fetch: fetchJars,
  build: async (folder) => {
    mkdirSync(join(folder, 'classes'), { recursive: true });
    const sources = SOURCES.map((name) => join(HERE, 'interop', `${name}.java`));
    const jars = join(folder, 'lib', '*');
    await tool('javac', ['--release', '17', '-nowarn', '-d', join(folder, 'classes'), '-cp', jars, ...sources], folder);
    await makeKeystores(join(folder, 'keys'));
  },
  driver: (folder) => ({
    program: 'java',
    args: [
      ...JVM,
      '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
      '-cp',
      [join(folder, 'classes'), join(folder, 'lib', '*')].join(delimiter),
      'interop.Driver',
      join(folder, 'keys'),
    ],
    directory: folder,
  }),
  cases: PHASE4_CASES,
  receiver: {
    command: (folder, inbox) => phase4Receiver(folder, inbox, JVM),
    cases: PHASE4_RECEIVER_CASES,
  },
};

/** About 110 jars; they are fetched again when the list of them has changed. */
async function fetchJars(folder: string): Promise<void> {
  const [wanted, had] = [join(HERE, 'pom.xml'), join(folder, 'pom.xml')];
  if (existsSync(had) && existsSync(join(folder, 'lib')) && readFileSync(wanted).equals(readFileSync(had))) return;
  cpSync(wanted, had);
  const jars = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${join(folder, 'lib')}`];
  await tool('mvn', ['-q', '-B', '-f', had, ...jars], folder);
}

/** Every access point as PKCS#12 with its key, and what phase4 trusts as another one; made anew each time, because the test PKI may have been. */
async function makeKeystores(keys: string): Promise<void> {
  mkdirSync(keys, { recursive: true });
  cpSync(join(CERTS, 'receiver.crt'), join(keys, 'receiver.crt'));
  const cert = (name: string) => join(CERTS, `${name}.crt`);
  for (const name of IDENTITIES) {
    const what = ['-inkey', join(CERTS, `${name}.key`), '-in', cert(name), '-certfile', cert('ap-ca')];
    const form = ['-name', 'ap', '-passout', `pass:${PASSWORD}`, '-out', join(keys, `${name}.p12`)];
    await tool('openssl', ['pkcs12', '-export', ...what, ...form], keys);
  }
  const trust = join(keys, 'trust.p12');
  rmSync(trust, { force: true });
  for (const name of ['root', 'ap-ca']) {
    const store = ['-keystore', trust, '-storetype', 'PKCS12', '-storepass', PASSWORD];
    await tool('keytool', ['-importcert', '-noprompt', '-alias', name, '-file', cert(name), ...store], keys);
  }
}
