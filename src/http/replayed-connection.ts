import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/**
 * A connection whose first bytes are others than those that came: for a server that is to read a mended request. The socket must have
 * been given up by whoever read it; its remaining bytes follow.
 */
export class ReplayedConnection extends Duplex {
  readonly #socket: Socket;

  constructor(socket: Socket, first: Buffer) {
    super({ allowHalfOpen: true });
    this.#socket = socket;
    this.push(first);
    socket.setTimeout(0);
    // Node's HTTP server reads the handle itself until someone else listens for data; its own listener has failed for good.
    socket.removeAllListeners('data');
    socket.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) socket.pause();
    });
    socket.on('end', () => this.push(null));
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
  }

  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress;
  }

  /** As `net.Socket`: Node's HTTP server ends a connection with it. */
  destroySoon(): void {
    if (this.writableFinished) this.destroy();
    else this.end(() => this.destroy());
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, encoding, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end(() => done());
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}
