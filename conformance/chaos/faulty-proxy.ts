import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Fault, FaultKind } from './fault.ts';
import { pump } from './pump.ts';

export interface FaultyProxyOptions {
  /** Asked for each connection. */
  readonly faults: () => readonly Fault[];
  /** Gets what a duplicate was answered with: all octets, once the receiver has closed that connection. */
  readonly overheard?: (octets: Buffer) => void;
}

/**
 * A TCP proxy on the loopback that does to connections what networks do. It looks at octets and knows nothing of HTTP. Each connection of
 * a sender gets one to the receiver.
 */
export class FaultyProxy {
  readonly url: URL;
  /** How often each fault has come to pass; one that waits for an octet that never comes does not count. */
  readonly happened: Record<FaultKind, number> = { drop: 0, truncate: 0, delay: 0, duplicate: 0 };
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #options: FaultyProxyOptions;
  #upstream: URL | null;

  private constructor(server: Server, upstream: URL, options: FaultyProxyOptions) {
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the proxy listens nowhere');
    this.#server = server;
    this.#upstream = upstream;
    this.#options = options;
    this.url = new URL(upstream.pathname, `http://127.0.0.1:${address.port}`);
    server.on('connection', (client) => this.#accept(client));
  }

  static open(upstream: URL, options: FaultyProxyOptions): Promise<FaultyProxy> {
    const server = createServer({ noDelay: true, allowHalfOpen: true });
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', () => resolve(new FaultyProxy(server, upstream, options)));
    });
  }

  /**
   * Where the receiver is. Null: nowhere, and new connections are reset. Say so before it is stopped: who goes on connecting to a port
   * that nobody listens on may, on the loopback, get that very port as his own and then keep the receiver from it.
   */
  goesTo(upstream: URL | null): void {
    this.#upstream = upstream;
  }

  /** Takes no more connections and resets those that are open. */
  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(client: Socket): void {
    this.#keep(client);
    if (this.#upstream === null) {
      client.resetAndDestroy();
      return;
    }
    const upstream = this.#connect(this.#upstream);
    upstream.on('close', () => {
      if (!upstream.readableEnded) client.destroy();
    });
    client.on('close', () => upstream.destroy());
    const faults = this.#options.faults();
    const copy = faults.some(({ kind }) => kind === 'duplicate') ? new Copy(() => this.#duplicate()) : null;
    const happen = (fault: Fault): 'go on' | 'end here' | 'stop' => {
      this.happened[fault.kind] += 1;
      if (fault.kind === 'duplicate') copy?.begin();
      if (fault.kind === 'truncate') return 'end here';
      if (fault.kind !== 'drop') return 'go on';
      for (const socket of [client, upstream]) socket.resetAndDestroy();
      return 'stop';
    };
    const of = (side: Fault['side']) => faults.filter((fault) => fault.side === side);
    void pump({ from: client, to: upstream, faults: of('request'), happen, passed: (piece) => copy?.add(piece) });
    void pump({ from: upstream, to: client, faults: of('answer'), happen });
  }

  #connect({ hostname, port }: URL): Socket {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true, allowHalfOpen: true });
    this.#keep(socket);
    return socket;
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    // What happens to one side is passed on when it closes.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#sockets.delete(socket));
  }

  #duplicate(): Socket | null {
    if (this.#upstream === null) return null;
    const socket = this.#connect(this.#upstream);
    const octets: Buffer[] = [];
    socket.on('data', (piece: Buffer) => octets.push(piece));
    socket.on('end', () => socket.end());
    socket.on('close', () => this.#options.overheard?.(Buffer.concat(octets)));
    return socket;
  }
}

/** A request as far as it has passed, and the connection that it is sent on once more. */
class Copy {
  readonly #pieces: Buffer[] = [];
  readonly #open: () => Socket | null;
  #socket: Socket | null = null;
  #begun = false;

  constructor(open: () => Socket | null) {
    this.#open = open;
  }

  begin(): void {
    if (this.#begun) return;
    this.#begun = true;
    this.#socket = this.#open();
    for (const piece of this.#pieces.splice(0)) this.#socket?.write(piece);
  }

  /** Null: the request is over. */
  add(piece: Buffer | null): void {
    if (!this.#begun && piece !== null) this.#pieces.push(piece);
    else if (piece !== null) this.#socket?.write(piece);
    // A sender that was cut off leaves a copy that never becomes whole.
    else if (this.#begun) this.#socket?.end();
  }
}
