import { createPrivateKey, createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { get } from 'node:https';
import { connect, type SecureContextOptions, type TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { certFile } from '../../certs/read.ts';
import { PkiError } from '../pki/errors.ts';
import type { Server } from './server.ts';
import { startTestServer } from './testing/start.ts';
import { loadTls, type TlsOptions } from './tls.ts';

const none: TlsOptions = { certificate: '', key: '', pkcs12: '', password: '' };
const other: TlsOptions = { ...none, certificate: certFile('other.crt'), key: certFile('other.key') };
const sender2: TlsOptions = { ...none, certificate: certFile('sender-2.crt'), key: certFile('sender-2.key') };
const identity = createPublicKey(createPrivateKey(readFileSync(certFile('receiver.key'))));

const servers: Server[] = [];
const sockets: TLSSocket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(servers.splice(0).map((server) => server.stop(0)));
});

async function start(tls: TlsOptions): Promise<Server> {
  const server = await startTestServer({ tls: (await loadTls(tls, identity)) as SecureContextOptions });
  servers.push(server);
  return server;
}

function open(server: Server, o: object = {}): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false, ...o });
    sockets.push(socket);
    socket.once('secureConnect', () => resolve(socket));
    socket.once('error', reject);
  });
}

/** Sends one request on an open connection; resolves with the status line. */
function ask(socket: TLSSocket, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    socket.once('data', (data: Buffer) => resolve(data.toString('latin1').split('\r\n')[0] as string));
    socket.once('close', () => reject(new Error('closed')));
    socket.write(bytes);
  });
}

const live = 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n';

describe('HTTPS', () => {
  it('is spoken with a certificate of PEM files, and with one of a PKCS#12 file', async () => {
    const pkcs12 = { ...none, pkcs12: certFile('sender.p12'), password: 'test' };
    for (const tls of [other, pkcs12]) {
      const server = await start(tls);
      expect(server.url).toMatch(/^https:/);
      const status = await new Promise((resolve, reject) => {
        const asking = get(`${server.url}/health/live`, { rejectUnauthorized: false, agent: false }, (response) => {
          response.resume();
          resolve(response.statusCode);
        });
        asking.on('error', reject);
      });
      expect(status).toBe(200);
    }
  });

  it('takes TLS 1.2 and 1.3 and nothing older, and no cipher without forward secrecy', async () => {
    const server = await start(other);
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const socket = await open(server, { minVersion: version, maxVersion: version });
      expect(socket.getProtocol()).toBe(version);
    }
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' };
    await expect(open(server, old)).rejects.toThrow();
    await expect(open(server, { maxVersion: 'TLSv1.2', ciphers: 'AES128-GCM-SHA256' })).rejects.toThrow();
    await expect(open(server, { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-RSA-AES128-SHA' })).rejects.toThrow();
  });

  it('gets a new certificate without closing a connection', async () => {
    const server = await start(other);
    const before = await open(server);
    expect(await ask(before, live)).toContain('200');
    server.setTls((await loadTls(sender2, identity)) as SecureContextOptions);
    const after = await open(server);
    expect(before.getPeerCertificate().fingerprint256).not.toBe(after.getPeerCertificate().fingerprint256);
    expect(await ask(before, live)).toContain('200');
  });

  it('mends a folded Content-Type too', async () => {
    const socket = await open(await start(other));
    const folded =
      'POST /as4 HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/related;\r\n boundary=b\r\nContent-Length: 1\r\n\r\nx';
    expect(await ask(socket, folded)).toContain('200');
  });

  it('plain HTTP on its port ends with the connection, and the next client is served', async () => {
    const reasons: string[] = [];
    const tls = (await loadTls(other, identity)) as SecureContextOptions;
    const server = await startTestServer({ tls, onRefused: ({ reason }) => reasons.push(reason) });
    servers.push(server);
    await expect(fetch(server.url.replace('https', 'http'))).rejects.toThrow();
    expect(await ask(await open(server), live)).toContain('200');
    expect(reasons).toEqual(['tls']);
  });
});

describe('TLS files', () => {
  it('are none when none are named', async () => {
    expect(await loadTls(none, identity)).toBeNull();
  });

  it.each<[string, Partial<TlsOptions>, string, RegExp]>([
    ['a key of another certificate', { key: certFile('sender.key') }, 'key-mismatch', /does not belong/],
    ['a file that is not there', { certificate: '/nowhere.crt' }, 'unreadable-file', /does not exist/],
    ['a file without a certificate', { certificate: certFile('other.key') }, 'bad-certificate', /tls\.certificate/],
    ['a file without a key', { key: certFile('other.crt') }, 'bad-key', /tls\.key/],
    ['a wrong password', { pkcs12: certFile('sender.p12'), password: 'x' }, 'bad-password', /tls\.password/],
    [
      'the key of our access point',
      { certificate: certFile('receiver.crt'), key: certFile('receiver.key') },
      'bad-identity',
      /of its own/,
    ],
  ])('%s is refused with a sentence that says what to do', async (_, files, code, text) => {
    const failure = await loadTls({ ...other, ...files }, identity).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(PkiError);
    expect((failure as PkiError).code).toBe(code);
    expect((failure as PkiError).message).toMatch(text);
  });
});
