import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { afterEach, expect, it } from 'vitest';
import { certFile } from '../../certs/read.ts';
import { Site, until } from '../testing/site.ts';

const site = new Site();
const sockets: TLSSocket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await site.remove();
});

function open(port: number): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
    sockets.push(socket);
    socket.once('secureConnect', () => resolve(socket));
    socket.once('error', reject);
  });
}

function isAnswered(socket: TLSSocket): Promise<boolean> {
  return new Promise((resolve) => {
    socket.once('data', (data: Buffer) => resolve(data.toString('latin1').startsWith('HTTP/1.1 200')));
    socket.once('close', () => resolve(false));
    socket.write('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n');
  });
}

it('SIGHUP brings a new TLS certificate without closing a connection; a broken one leaves the old in use', async () => {
  const [certificate, key] = [join(site.directory, 'tls.crt'), join(site.directory, 'tls.key')];
  const install = (name: string): void => {
    copyFileSync(certFile(`${name}.crt`), certificate);
    copyFileSync(certFile(`${name}.key`), key);
  };
  install('other');
  const server = await site.serve({ settings: { 'tls.certificate': certificate, 'tls.key': key } });
  const port = Number(new URL(server.url).port);
  const reloads = () => server.log.filter(({ msg }) => msg === 'read TLS and trust files again').length;
  expect(server.url).toMatch(/^https:/);
  const first = await open(port);
  expect(await isAnswered(first)).toBe(true);

  install('sender-2');
  server.signal('SIGHUP');
  await until(() => reloads() === 1);
  const second = await open(port);
  const renewed = second.getPeerCertificate().fingerprint256;
  expect(renewed).not.toBe(first.getPeerCertificate().fingerprint256);

  writeFileSync(certificate, 'broken');
  server.signal('SIGHUP');
  await until(() => reloads() === 2);
  await server.says('the TLS files could not be read again; those from before stay in use');
  expect((await open(port)).getPeerCertificate().fingerprint256).toBe(renewed);
  expect(await isAnswered(first)).toBe(true);
  expect(await isAnswered(second)).toBe(true);
  for (const socket of sockets) socket.destroy();
  expect(await server.stop()).toEqual({ code: 0, signal: null });
});
