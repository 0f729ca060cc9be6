import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ConfigError } from './config-error.ts';
import { variableName } from './environment.ts';
import { configKeys } from './keys.ts';
import { loadConfig, PACKAGE_ROOT } from './load.ts';
import { renderConfig } from './render.ts';

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'quittance-config-'));
});
afterAll(() => rmSync(cwd, { recursive: true }));

function load(toml: string | null, env: NodeJS.ProcessEnv = {}) {
  if (toml === null) return loadConfig({ file: null, env, cwd });
  const file = join(cwd, 'given.toml');
  writeFileSync(file, toml);
  return loadConfig({ file, env, cwd });
}

async function problemsOf(toml: string | null, env: NodeJS.ProcessEnv = {}): Promise<readonly string[]> {
  const error = await load(toml, env).then(
    () => null,
    (e: unknown) => e,
  );
  expect(error).toBeInstanceOf(ConfigError);
  return (error as ConfigError).problems;
}

test('without a file everything has a default: test certificates from the package, the rest below the working directory', async () => {
  const { config, file } = await load(null);
  expect(file).toBeNull();
  expect(config.environment).toBe('test');
  expect(config.http).toMatchObject({
    host: '127.0.0.1',
    port: 8080,
    path: '/as4',
    maxBody: 110_000_000,
    waitForCopy: 20_000,
  });
  expect(config.identity.certificate).toBe(join(PACKAGE_ROOT, 'certs/receiver.crt'));
  expect(config.trust.crls).toEqual([join(PACKAGE_ROOT, 'certs/ap-ca.crl')]);
  expect(config.store.url).toBe(`sqlite:${join(cwd, 'var/quittance.db')}`);
  expect(config.delivery).toMatchObject({
    inbox: join(cwd, 'var/inbox'),
    staging: join(cwd, 'var/staging'),
    mode: 0o770,
  });
  expect(config.duplicates.window).toBe(90 * 86_400_000);
  expect(config.limits.envelope).toBe(262_144);
});

test('./quittance.toml is read when it is there and no other is named', async () => {
  const file = join(cwd, 'quittance.toml');
  writeFileSync(file, '[http]\nport = 9001\n');
  const loaded = await loadConfig({ file: null, env: {}, cwd });
  rmSync(file);
  expect(loaded.file).toBe(file);
  expect(loaded.config.http.port).toBe(9001);
});

test('relative paths of a file start at its own directory', async () => {
  writeFileSync(
    join(cwd, 'elsewhere.toml'),
    '[identity]\ncertificate = "own.crt"\nkey = "/k/own.key"\n[store]\nurl = "sqlite:data/q.db"\n',
  );
  const { config } = await loadConfig({ file: 'elsewhere.toml', env: {}, cwd });
  expect(config.identity.certificate).toBe(join(cwd, 'own.crt'));
  expect(config.identity.key).toBe('/k/own.key');
  expect(config.store.url).toBe(`sqlite:${join(cwd, 'data/q.db')}`);
});

test('an environment variable wins over the file, in any case and with or without inner underscores', async () => {
  const { config } = await load('[http]\nport = 9001\nmaxBody = "1MB"\nhost = "::1"\n', {
    QUITTANCE_HTTP__PORT: '9002',
    QUITTANCE_HTTP__MAX_BODY: '2MB',
    QUITTANCE_HTTP__WAITFORCOPY: '5s',
    QUITTANCE_delivery__afterPowerLoss: 'review',
    QUITTANCE_TRUST__CRLS: 'a.crl, /b.crl',
    QUITTANCE_IDENTITY__PREVIOUS_KEY: '',
    QUITTANCE_ENVIRONMENT: 'test',
  });
  expect(config.http).toMatchObject({ port: 9002, maxBody: 2_000_000, waitForCopy: 5000, host: '::1' });
  expect(config.delivery.afterPowerLoss).toBe('review');
  expect(config.trust.crls).toEqual([join(cwd, 'a.crl'), '/b.crl']);
});

test('every key can be set by the variable that the documentation names for it', async () => {
  const env = Object.fromEntries(
    configKeys().map((k) => [
      variableName(k),
      Array.isArray(k.about.default) ? k.about.default.join(',') : String(k.about.default),
    ]),
  );
  const { config } = await load(null, env);
  const { config: defaults } = await load(null);
  // A stand-in that is set by hand is a path like any other.
  expect({ ...config, identity: 0, trust: 0 }).toEqual({ ...defaults, identity: 0, trust: 0 });
  expect(config.identity.certificate).toBe(join(cwd, 'certs/receiver.crt'));
});

test('variables that Kubernetes sets for a service named quittance are left alone', async () => {
  const { config } = await load(null, {
    QUITTANCE_PORT: 'tcp://10.0.0.1:80',
    QUITTANCE_SERVICE_HOST: '10.0.0.1',
    QUITTANCE_CRASH_AT: 'staged',
  });
  expect(config.http.port).toBe(8080);
});

test('all problems are told at once, each a sentence that names the key, its source, what it should be and what it is', async () => {
  const toml = `
colour = "red"
htpp = 1
[http]
prot = 80
port = 70000
requestTimeout = 30
maxBody = "110"
path = "as4"
inbox = "x"
[identity]
password = 12
[trust]
crls = ["a.crl", 3]
revocation = "maybe"
[store]
url = "postgres://db/q"
[delivery]
mode = "07"
[peppol]
nonsense = true
`;
  expect(
    await problemsOf(toml, { QUITTANCE_HTTP__HEADERS_TIMEOUT: 'soon', QUITTANCE_HTPP__PORT: '1' }),
  ).toMatchInlineSnapshot(`
    [
      "The environment variable QUITTANCE_HTPP__PORT names no key of the configuration; did you mean QUITTANCE_HTTP__PORT?",
      "http.port must be a whole number from 0 to 65535, not 70000.",
      "http.path must be a path that begins with "/", not "as4".",
      "http.maxBody must be a size such as "110MB" (decimal) or "256KiB" (binary), not "110".",
      "http.headersTimeout (from QUITTANCE_HTTP__HEADERS_TIMEOUT) must be a duration such as "90d", "12h", "5m", "30s" or "500ms", not "soon".",
      "http.requestTimeout must be a duration such as "90d", "12h", "5m", "30s" or "500ms", not 30.",
      "http.prot is not a key of the configuration; did you mean http.port?",
      "http.inbox is not a key of the configuration; did you mean delivery.inbox?",
      "identity.password must be text in quotes.",
      "trust.crls, item 2, must be a path in quotes, not 3.",
      "trust.revocation must be "hard", "soft" or "off", not "maybe".",
      "store.url must be "sqlite:" followed by a path, such as "sqlite:var/quittance.db" (the only kind of store there is so far).",
      "delivery.mode must be permissions in octal such as "0770", of which the owner has all, not "07".",
      "peppol.nonsense is not a key of the configuration; [peppol] has sbdh.",
      "colour is not a key of the configuration.",
      "htpp is not a key of the configuration; did you mean http?",
    ]
  `);
});

test('a section that is written as a value is explained', async () => {
  expect(await problemsOf('http = 3\n')).toEqual([
    'http must be a section: write [http] on a line of its own, and its keys below.',
  ]);
});

test('a password is never shown, not even a wrong one', async () => {
  const problems = await problemsOf('[identity]\npassword = 4711\n');
  expect(problems).toEqual(['identity.password must be text in quotes.']);
});

test('broken TOML is told with its line', async () => {
  expect(await problemsOf('[http]\nport = = 3\n')).toEqual([
    expect.stringMatching(/given\.toml, line 2, column \d+: not valid TOML: .+\.$/),
  ]);
});

test('a file that is named and not there is an error that says how to get one', async () => {
  await expect(loadConfig({ file: 'no.toml', env: {}, cwd })).rejects.toThrow(
    `The configuration file ${join(cwd, 'no.toml')} does not exist; "quittance init ${join(cwd, 'no.toml')}" writes one.`,
  );
});

test('production never runs on the test certificates by default', async () => {
  const problems = await problemsOf(null, { QUITTANCE_ENVIRONMENT: 'production' });
  expect(problems).toHaveLength(2);
  expect(problems[0]).toContain('identity.certificate');
  expect(problems[1]).toContain('trust.issuers');
});

test('an own certificate without a key does not get the key of the test certificate', async () => {
  expect(await problemsOf('[identity]\ncertificate = "own.crt"\n')).toEqual([
    'identity.key is empty; name the private key of identity.certificate.',
  ]);
});

test('a PKCS#12 file replaces certificate and key, and an own trust file does not get the revocation list of the test CA', async () => {
  const { config } = await load('[identity]\npkcs12 = "own.p12"\n[trust]\nissuers = "own.pem"\n');
  expect(config.identity).toMatchObject({ pkcs12: join(cwd, 'own.p12'), certificate: '', key: '' });
  expect(config.trust.crls).toEqual([]);
});

test('staging may be neither the inbox nor inside it, nor around it', async () => {
  for (const [inbox, staging] of [
    ['a', 'a'],
    ['a', 'a/b'],
    ['a/b', 'a'],
  ]) {
    const problems = await problemsOf(`[delivery]\ninbox = "${inbox}"\nstaging = "${staging}"\n`);
    expect(problems).toEqual([expect.stringContaining('delivery.staging')]);
  }
});

test('decisions are kept longer than the window that they explain', async () => {
  const problems = await problemsOf('[duplicates]\nwindow = "100d"\n[retention]\naudit = "100d"\n');
  expect(problems).toEqual([expect.stringContaining('retention.audit')]);
});

test('nothing in a configuration can be changed', async () => {
  const { config } = await load(null);
  expect(() => Object.assign(config.http, { port: 1 })).toThrow(TypeError);
  expect(() => (config.trust.crls as string[]).push('x')).toThrow(TypeError);
});

test('what init writes parses back to the defaults, with every key in it', async () => {
  const written = renderConfig();
  for (const key of configKeys()) expect(written).toMatch(new RegExp(`^# .+\\n${key.name} = `, 'm'));
  const { config } = await load(written);
  const { config: defaults } = await load(null);
  expect({ ...config, identity: 0, trust: 0 }).toEqual({ ...defaults, identity: 0, trust: 0 });
  expect(config.identity.certificate).toBe(join(cwd, 'certs/receiver.crt'));
});

test('init can write other values, also ones that need escaping', async () => {
  const { config } = await load(renderConfig({ 'delivery.inbox': '/srv/in "box"\\x', 'http.port': 1 }));
  expect(config.delivery.inbox).toBe('/srv/in "box"\\x');
  expect(config.http.port).toBe(1);
});
