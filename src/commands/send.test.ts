import type { SecureContextOptions } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { certFile } from '../../certs/read.ts';
import { PACKAGE_ROOT } from '../config/load.ts';
import type { Server } from '../http/server.ts';
import { startTestServer } from '../http/testing/start.ts';
import { loadTls } from '../http/tls.ts';
import { send } from './send.ts';

const TLS = { certificate: certFile('sender-2.crt'), key: certFile('sender-2.key'), pkcs12: '', password: '' };
let server: Server | null = null;
afterEach(async () => {
  await server?.stop(0);
  server = null;
});

/** The failure of a ping to the receiver that these settings describe. */
function failure(env: Record<string, string>): Promise<unknown> {
  const io = { env, cwd: PACKAGE_ROOT, out: () => {}, err: () => {} };
  const settings = { repeat: 1, compress: true, ping: true, json: false };
  return send(settings, io).then(
    () => null,
    (cause: unknown) => cause,
  );
}

test('without --url it goes where the receiver of the configuration listens: https with [tls], http without', async () => {
  const port = { QUITTANCE_HTTP__PORT: '9' };
  const tls = { QUITTANCE_TLS__CERTIFICATE: TLS.certificate, QUITTANCE_TLS__KEY: TLS.key };
  const pkcs12 = { QUITTANCE_TLS__PKCS12: certFile('sender.p12'), QUITTANCE_TLS__PASSWORD: 'test' };
  const said = [];
  for (const env of [port, { ...port, ...tls }, { ...port, ...pkcs12 }]) said.push(String(await failure(env)));
  expect(said).toEqual([
    expect.stringContaining('Nothing listens at http://127.0.0.1:9/as4'),
    expect.stringContaining('Nothing listens at https://127.0.0.1:9/as4'),
    expect.stringContaining('Nothing listens at https://127.0.0.1:9/as4'),
  ]);
});

test('a TLS certificate that does not hold for the host is an error that says what to do', async () => {
  server = await startTestServer({ tls: (await loadTls(TLS, null)) as SecureContextOptions });
  const env = {
    QUITTANCE_HTTP__PORT: String(server.port),
    QUITTANCE_TLS__CERTIFICATE: TLS.certificate,
    QUITTANCE_TLS__KEY: TLS.key,
  };
  expect(await failure(env)).toMatchObject({
    name: 'CommandError',
    message: expect.stringMatching(/does not hold \(.*\); pass --url with the host name .* NODE_EXTRA_CA_CERTS/),
  });
});
