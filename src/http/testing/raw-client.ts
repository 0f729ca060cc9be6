import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  /** Status line and fields. */
  readonly head: string;
  readonly status: number;
  readonly body: string;
  header(name: string): string | undefined;
}

/** A client that sends exactly what it is told to. */
export class RawClient {
  readonly socket: Socket;
  #received = '';
  ended = false;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('error', () => {});
    socket.on('end', () => {
      this.ended = true;
    });
  }

  static async connect(port: number, localAddress?: string): Promise<RawClient> {
    const from = localAddress === undefined ? {} : { localAddress };
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, ...from });
    await once(socket, 'connect');
    return new RawClient(socket);
  }

  /** Resolves when the operating system has taken everything: a client that uploads before it reads. */
  write(data: string | Buffer): Promise<Error | undefined> {
    return new Promise((resolve) => {
      this.socket.write(data, (error) => resolve(error ?? undefined));
    });
  }

  post(headers: string, body: string | Buffer = '', line = 'POST /as4 HTTP/1.1'): Promise<Error | undefined> {
    const head = Buffer.from(`${line}\r\nHost: x\r\n${headers}\r\n\r\n`);
    return this.write(Buffer.concat([head, Buffer.from(body)]));
  }

  /** One answer with Content-Length, or what came until the other side ended. */
  async answer(): Promise<RawAnswer> {
    for (;;) {
      const end = this.#received.indexOf('\r\n\r\n');
      if (end !== -1) {
        const head = this.#received.slice(0, end);
        const header = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1];
        const length = Number(header('Content-Length') ?? 0);
        if (this.#received.length >= end + 4 + length) {
          const body = this.#received.slice(end + 4, end + 4 + length);
          this.#received = this.#received.slice(end + 4 + length);
          return { head, status: Number(head.slice(9, 12)), body, header };
        }
      }
      const chunk = this.socket.read() as Buffer | null;
      if (chunk !== null) this.#received += chunk.toString('latin1');
      else if (this.ended || this.socket.destroyed) throw new Error(`closed after: ${this.#received}`);
      else await this.#change();
    }
  }

  /** Everything until the other side has ended. */
  async rest(): Promise<string> {
    while (!this.ended && !this.socket.destroyed) {
      const chunk = this.socket.read() as Buffer | null;
      if (chunk !== null) this.#received += chunk.toString('latin1');
      else await this.#change();
    }
    return this.#received;
  }

  async closed(): Promise<void> {
    while (!this.ended && !this.socket.destroyed) {
      this.socket.read();
      await this.#change();
    }
  }

  async #change(): Promise<void> {
    const events = ['readable', 'end', 'close'];
    const controller = new AbortController();
    await Promise.race(events.map((event) => once(this.socket, event, { signal: controller.signal }))).finally(() => {
      controller.abort();
    });
  }
}
