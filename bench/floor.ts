import { constants, createPrivateKey, privateDecrypt, publicEncrypt, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../src/config/load.ts';

/**
 * CPU ms of one OAEP decryption and one signature with the receiver's RSA-2048 key, single-threaded: what no receiver can do a new message
 * without. The best of three, because what disturbs only adds.
 */
export function rsaFloor(rounds = 1500): number {
  const key = createPrivateKey(readFileSync(join(PACKAGE_ROOT, 'certs/receiver.key')));
  const oaep = { key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' };
  const wrapped = publicEncrypt(oaep, Buffer.alloc(16));
  let best = Number.POSITIVE_INFINITY;
  for (let repeat = 0; repeat < 3; repeat++) {
    const before = process.cpuUsage();
    for (let i = 0; i < rounds; i++) {
      privateDecrypt(oaep, wrapped);
      sign('sha256', wrapped, key);
    }
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / 1000 / rounds);
  }
  return best;
}
