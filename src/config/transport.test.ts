import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { ConfigError } from './config-error.ts';
import { loadConfig } from './load.ts';

async function problemsOf(env: Record<string, string>): Promise<readonly string[]> {
  const variables = Object.fromEntries(Object.entries(env).map(([key, value]) => [`QUITTANCE_${key}`, value]));
  try {
    await loadConfig({ file: null, env: variables, cwd: tmpdir() });
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).problems;
  }
}

test.each([
  ['127.0.0.1', 0],
  ['127.8.8.8', 0],
  ['::1', 0],
  ['localhost', 0],
  ['0.0.0.0', 1],
  ['::', 1],
  ['192.0.2.1', 1],
  ['receiver.example', 1],
  ['127.0.0.1.example', 1],
])('plain HTTP on %s gives %i problems', async (host, count) => {
  const problems = await problemsOf({ HTTP__HOST: host });
  expect(problems).toHaveLength(count);
  for (const problem of problems) expect(problem).toMatch(/tls\.certificate.*http\.allowPlainHttp = true/);
});

test('plain HTTP on a network is allowed to whoever says so, and TLS to everybody', async () => {
  expect(await problemsOf({ HTTP__HOST: '0.0.0.0', HTTP__ALLOW_PLAIN_HTTP: 'true' })).toEqual([]);
  expect(await problemsOf({ HTTP__HOST: '0.0.0.0', TLS__CERTIFICATE: 'a', TLS__KEY: 'b' })).toEqual([]);
  expect(await problemsOf({ HTTP__HOST: '0.0.0.0', TLS__PKCS12: 'a' })).toEqual([]);
  expect(await problemsOf({ HTTP__ALLOW_PLAIN_HTTP: 'yes' })).toEqual([
    'http.allowPlainHttp (from QUITTANCE_HTTP__ALLOW_PLAIN_HTTP) must be true or false, not "yes".',
  ]);
});

test('half a TLS identity, and one twice, are named', async () => {
  expect(await problemsOf({ TLS__CERTIFICATE: 'a' })).toEqual([
    'tls.certificate and tls.key belong together; set both or none.',
  ]);
  expect(await problemsOf({ TLS__KEY: 'a', TLS__PKCS12: 'b' })).toEqual([
    'tls.pkcs12 replaces tls.certificate and tls.key; set either the one or the two.',
  ]);
});

test.each([
  ['10.0.0.1, fd00::/8,::1', 0],
  ['10.0.0.0/33', 1],
  ['10.0.0.1/8/8', 1],
  ['proxy.example', 1],
  ['10.0.0.0/', 1],
])('http.trustProxy = %s gives %i problems', async (proxies, count) => {
  const problems = await problemsOf({ HTTP__TRUST_PROXY: proxies });
  expect(problems).toHaveLength(count);
  for (const problem of problems) expect(problem).toContain('IP addresses and networks');
});
