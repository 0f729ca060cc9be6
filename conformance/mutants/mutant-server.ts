import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readSigner } from '../target/keys.ts';
import type { Target } from '../target/target.ts';
import { post, type WireAnswer } from '../wire/post.ts';
import { messageIdOf } from './forge.ts';
import type { Mutant } from './mutant.ts';

export interface MutantServer {
  readonly url: URL;
  readonly close: () => Promise<void>;
}

/** A real receiver behind a proxy that has the mutant's fault. `certs` has the keys of the receiver and of others. */
export async function startMutant(mutant: Mutant, target: Target, certs: string): Promise<MutantServer> {
  const memory = new Map<string, WireAnswer>();
  const signerNamed = (name: string) => readSigner(`${certs}/${name}.crt`, `${certs}/${name}.key`);
  const server = createServer((request, response) => {
    void answer(request).then(({ status, headers, body }) => {
      const kept = ['content-type', 'content-encoding'].flatMap((name) => {
        const value = headers[name];
        return value === undefined ? [] : [[name, value]];
      });
      response.writeHead(status, { ...Object.fromEntries(kept), 'Content-Length': body.length });
      response.end(body);
    });
  });

  async function answer(request: IncomingMessage): Promise<WireAnswer> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = Buffer.concat(pieces);
    const text = body.toString('latin1');
    const headers = { 'Content-Type': request.headers['content-type'] ?? '' };
    return await mutant.answer({
      body,
      text,
      messageId: messageIdOf(text),
      forward: () => post(target.url, { headers, body }),
      signer: signerNamed('receiver'),
      signerNamed,
      inbox: target.inbox?.directory ?? '',
      memory,
    });
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/as4`),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
