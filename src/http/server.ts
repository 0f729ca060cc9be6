import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type AppOptions, type AppState, createApp } from './app.ts';
import { Gate } from './gate.ts';
import { messageClasses } from './message-classes.ts';
import type { RequestBody } from './request-body.ts';

export interface ServerOptions extends AppOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Messages worked on at the same time; more get 503. */
  readonly inFlight: number;
  /** Milliseconds for the header of a request. */
  readonly headersTimeoutMs: number;
  /** Milliseconds an idle connection is kept; 30 s. */
  readonly keepAliveTimeoutMs?: number;
}

export interface Server {
  /** Base URL, with the port that was taken. */
  readonly url: string;
  readonly port: number;
  /** Messages that are being worked on. */
  inFlight(): number;
  /**
   * Finishes what is in flight and refuses new messages with 503. The port stays open until the last answer is out, so that a sender hears
   * 503 and not a refused connection. Resolves when every connection is closed; after `graceMs` they are cut.
   * @returns whether everything was answered in time
   */
  stop(graceMs: number): Promise<boolean>;
}

/** @throws the listen error (EADDRINUSE, EACCES, …) */
export async function startServer(options: ServerOptions): Promise<Server> {
  const gate = new Gate(options.inFlight);
  const bodies = new WeakMap<IncomingMessage, RequestBody>();
  const state: AppState = { gate, bodies, expecting: new WeakSet() };
  const app = createApp(options, state);
  const current = new WeakMap<Socket, { readonly request: IncomingMessage; readonly response: ServerResponse }>();
  let open = 0;
  let onQuiet: (() => void) | null = null;

  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    open += 1;
    current.set(request.socket, { request, response });
    response.on('close', () => {
      open -= 1;
      if (open === 0) onQuiet?.();
    });
    app(request, response);
  };
  const server = createServer(
    {
      ...messageClasses(app),
      requestTimeout: options.requestTimeoutMs,
      headersTimeout: Math.min(options.headersTimeoutMs, options.requestTimeoutMs),
      keepAliveTimeout: options.keepAliveTimeoutMs ?? 30_000,
      // Node looks for late requests this often; its default of 30 s would be most of the limit.
      connectionsCheckingInterval: Math.max(100, Math.min(1_000, options.headersTimeoutMs / 4)),
    },
    handle,
  );
  server.on('checkContinue', (request, response) => {
    state.expecting.add(request);
    handle(request, response);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const { request, response } = current.get(socket) ?? {};
    const unanswered = response !== undefined && !response.headersSent && !response.destroyed;
    const body = request === undefined ? undefined : bodies.get(request);
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && unanswered && body !== undefined) {
      body.expire(); // who reads it answers, with the text that fits
      return;
    }
    const answerable =
      socket.writable &&
      error.code !== 'ECONNRESET' &&
      (response === undefined || response.writableFinished || unanswered);
    if (answerable) socket.end(clientErrorText(error), () => socket.destroy());
    else socket.destroy();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
  server.on('error', (error) => options.log.error({ err: error }, 'server error'));
  const { port } = server.address() as AddressInfo;
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;

  async function stop(graceMs: number): Promise<boolean> {
    let cut = false;
    const answered = gate.close();
    const closed = answered.then(
      () =>
        new Promise<void>((resolve) => {
          server.close(() => resolve());
          server.closeIdleConnections();
          // Connections that never sent a request are not idle to Node; nothing is owed to them.
          onQuiet = () => server.closeAllConnections();
          if (open === 0) onQuiet();
        }),
    );
    let timer: NodeJS.Timeout | undefined;
    const grace = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        cut = true;
        server.close();
        server.closeAllConnections();
        resolve();
      }, graceMs);
    });
    await Promise.race([closed, grace]);
    clearTimeout(timer);
    return !cut;
  }

  return { url: `http://${host}:${port}`, port, inFlight: () => gate.inFlight, stop };
}

/** For what Node's parser refuses before there is a request to answer. */
function clientErrorText(error: NodeJS.ErrnoException & { readonly reason?: string }): string {
  const { code } = error;
  const status = code === 'HPE_HEADER_OVERFLOW' ? 431 : code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  // JavaMail folds a long Content-Type unless it is told not to; its operator should not have to guess (RFC 9112 §5.2).
  const folded = error.reason === 'Unexpected whitespace after header value';
  const text = folded
    ? 'A header field is folded over two lines, which HTTP does not allow.\n'
    : `${STATUS_CODES[status]}\n`;
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${text.length}`,
    'Connection: close',
    '',
    text,
  ].join('\r\n');
}
