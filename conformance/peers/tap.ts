import { connect, createServer, type Server, type Socket } from 'node:net';
import { type ParsedAnswer, parseAnswer } from '../wire/head.ts';

/**
 * What becomes of an answer once the receiver has given the whole of it. `relay`: the sender gets it. `lose`: the connection is reset instead.
 * `busy`: the sender is told 503 and to wait 3 s instead, as by a proxy whose patience ended too early. `first-answer`: the sender gets the first answer that
 * passed once more, which is none to its message.
 */
export type Fate = 'relay' | 'lose' | 'busy' | 'first-answer';

/** One request that passed, and the receiver's answer to it. */
export interface Passed {
  /** As it came, octet for octet: request line, headers, body, chunked where it was. */
  readonly request: Buffer;
  readonly answer: ParsedAnswer;
  /** As it came from the receiver, head and body. */
  readonly octets: Buffer;
}

interface Exchange {
  readonly send: (piece: Buffer) => void;
  readonly abandon: () => void;
}

const BUSY = 'HTTP/1.1 503 Service Unavailable\r\nRetry-After: 3\r\nContent-Length: 0\r\nConnection: close\r\n\r\n';

/**
 * Stands between a sender and the receiver, so that what both say is seen as it is, and so that answers can be lost. It looks at octets, not
 * at HTTP messages: nothing that a product writes is mended on the way.
 */
export class Tap {
  readonly url: URL;
  readonly passed: Passed[] = [];
  #fates: Fate[] = [];
  #upstream: URL;
  #afterNext: (() => Promise<void>) | null = null;
  readonly #server: Server;

  private constructor(server: Server, upstream: URL) {
    this.#server = server;
    this.#upstream = upstream;
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the tap listens nowhere');
    this.url = new URL(upstream.pathname, `http://127.0.0.1:${address.port}`);
    server.on('connection', (client) => this.#relay(client));
  }

  static open(upstream: URL): Promise<Tap> {
    const server = createServer({ noDelay: true });
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', () => resolve(new Tap(server, upstream)));
    });
  }

  /** Forgets what has passed. Answers to come meet these fates in turn, then they are relayed. */
  reset(upstream: URL, fates: readonly Fate[] = [], afterNext: (() => Promise<void>) | null = null): void {
    this.passed.length = 0;
    this.#fates = [...fates];
    this.#upstream = upstream;
    this.#afterNext = afterNext;
  }

  close(): void {
    this.#server.close();
  }

  /** A connection of a sender. Each of its requests gets a connection of its own to the receiver, which may have changed meanwhile. */
  #relay(client: Socket): void {
    let exchange: Exchange | null = null;
    client.on('data', (piece: Buffer) => {
      exchange ??= this.#exchange(client, () => {
        exchange = null;
      });
      exchange.send(piece);
    });
    client.on('close', () => exchange?.abandon());
    client.on('error', () => client.destroy());
  }

  #exchange(client: Socket, done: () => void): Exchange {
    const upstream = connect(Number(this.#upstream.port), this.#upstream.hostname);
    const request: Buffer[] = [];
    let octets: Buffer = Buffer.alloc(0);
    let answered = false;
    const look = (closed: boolean): void => {
      const answer = answered ? null : parseAnswer(octets, closed);
      if (answer === null || answer.length === null) return;
      answered = true;
      done();
      upstream.destroy();
      const passed = { request: Buffer.concat(request), answer, octets: octets.subarray(0, answer.length) };
      this.passed.push(passed);
      void this.#answer(client, passed);
    };
    upstream.on('data', (piece: Buffer) => {
      octets = Buffer.concat([octets, piece]);
      look(false);
    });
    upstream.on('error', () => {});
    upstream.on('close', () => {
      look(true);
      if (!answered) client.destroy();
    });
    return {
      send: (piece) => {
        request.push(piece);
        upstream.write(piece);
      },
      abandon: () => upstream.destroy(),
    };
  }

  async #answer(client: Socket, { answer, octets }: Passed): Promise<void> {
    const fate = this.#fates.shift() ?? 'relay';
    const after = this.#afterNext;
    this.#afterNext = null;
    await after?.();
    if (fate === 'lose') client.resetAndDestroy();
    else if (fate === 'busy') client.end(BUSY);
    else {
      client.write(fate === 'first-answer' ? (this.passed[0]?.octets ?? octets) : octets);
      if (answer.headers.connection?.toLowerCase() === 'close') client.end();
    }
  }
}
