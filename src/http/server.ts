import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import { createApp } from './app.ts';
import type { AppOptions, AppState } from './app-options.ts';
import { type ClientError, clientErrorAnswer, isFolded } from './client-error.ts';
import { Connections } from './connections.ts';
import { Gate } from './gate.ts';
import { messageClasses } from './message-classes.ts';
import { Places } from './places.ts';
import { ReplayedConnection } from './replayed-connection.ts';
import type { RequestBody } from './request-body.ts';
import { Strangers } from './strangers.ts';
import { unfoldContentType } from './unfold.ts';

export interface ServerOptions extends AppOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Messages worked on at the same time; more get 503. */
  readonly inFlight: number;
  /** Messages of sources that are not known: those that arrive or wait, on top of them. */
  readonly strangers: number;
  /** Milliseconds for the header of a request. */
  readonly headersTimeoutMs: number;
  /** Milliseconds an idle connection is kept; 30 s. */
  readonly keepAliveTimeoutMs?: number;
  /** Whether an address is that of a proxy in front of us: the limit of one source is not for it. */
  readonly isProxy?: (address: string) => boolean;
  /** Null: plain HTTP. */
  readonly tls?: SecureContextOptions | null;
  /** What becomes of a Content-Type that is folded over several lines. */
  readonly foldedHeaders: 'accept' | 'refuse';
  /** Refused uploads read to their end at a time. */
  readonly draining: number;
  /** Open connections, a quarter of them of one source at most; a further one is closed at once. */
  readonly maxConnections: number;
  /** Milliseconds in which an answer must be taken; 60 s. */
  readonly answerTimeoutMs?: number;
}

export interface Server {
  /** Base URL, with the port that was taken. */
  readonly url: string;
  readonly port: number;
  /** Messages that are being worked on. */
  inFlight(): number;
  /** Messages of sources that are not known, also those that only wait. */
  strangers(): number;
  /** New connections get this certificate; those that are open go on with theirs. Throws what `tls.createSecureContext` throws. */
  setTls(tls: SecureContextOptions): void;
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
  const strangers = new Strangers(options.strangers, () => !gate.full);
  const bodies = new WeakMap<IncomingMessage, RequestBody>();
  const state: AppState = {
    gate,
    strangers,
    bodies,
    expecting: new WeakSet(),
    draining: new Places(options.draining),
    last: new WeakSet(),
  };
  const app = createApp(options, state);
  const current = new WeakMap<Socket, { readonly request: IncomingMessage; readonly response: ServerResponse }>();
  /** Sockets whose bytes another connection object reads now, and those objects. */
  const replayed = new WeakSet<Socket>();
  const mendedConnections = new WeakSet<object>();
  let open = 0;
  let onQuiet: (() => void) | null = null;

  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    open += 1;
    current.set(request.socket, { request, response });
    if (mendedConnections.has(request.socket)) state.last.add(request);
    // Who never reads would keep its connection for ever: none of Node's time limits is about answers.
    let unread: NodeJS.Timeout | undefined;
    response.on('prefinish', () => {
      unread = setTimeout(() => {
        dropped(request.socket.remoteAddress ?? '', 0, 'unread-answer');
        request.socket.destroy();
      }, options.answerTimeoutMs ?? 60_000);
    });
    response.on('close', () => {
      clearTimeout(unread);
      open -= 1;
      if (open === 0) onQuiet?.();
    });
    app(request, response);
  };
  const settings = {
    ...messageClasses(app),
    requestTimeout: options.requestTimeoutMs,
    headersTimeout: Math.min(options.headersTimeoutMs, options.requestTimeoutMs),
    keepAliveTimeout: options.keepAliveTimeoutMs ?? 30_000,
    // Node looks for late requests this often; its default of 30 s would be most of the limit.
    connectionsCheckingInterval: Math.max(100, Math.min(1_000, options.headersTimeoutMs / 4)),
  };
  const { tls = null } = options;
  const secure =
    tls === null ? null : createTlsServer({ ...settings, ...tls, handshakeTimeout: settings.headersTimeout }, handle);
  const server = secure ?? createServer(settings, handle);
  server.maxConnections = options.maxConnections;
  const dropped = (remoteAddress: string, status: number, reason: string): void =>
    options.onRefused?.({ status, reason, text: '', remoteAddress });
  const connections = new Connections(options.maxConnections, options.isProxy ?? (() => false));
  server.on('connection', (socket: Socket) => {
    if (mendedConnections.has(socket)) return; // counted already
    // Node asks the system once and remembers; after a reset there is no answer any more, and a failure would be nobody's.
    const address = socket.remoteAddress ?? '';
    if (connections.enter(address)) {
      socket.on('close', () => connections.leave(address));
      return;
    }
    dropped(address, 0, 'source-connections');
    socket.destroy();
  });
  if (secure !== null) server.on('secureConnection', (socket: Socket): unknown => socket.remoteAddress);
  server.on('drop', (data) => dropped(data?.remoteAddress ?? '', 0, 'connections'));
  server.on('tlsClientError', (_: Error, socket: Socket) => dropped(socket.remoteAddress ?? '', 0, 'tls'));
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    state.expecting.add(request);
    handle(request, response);
  });
  server.on('clientError', (error: ClientError, socket: Socket) => {
    if (replayed.has(socket)) return; // Node's old parser of it; the new one reads on
    const { request, response } = current.get(socket) ?? {};
    if (options.foldedHeaders === 'accept' && request === undefined && replay(error, socket)) return;
    const unanswered = response !== undefined && !response.headersSent && !response.destroyed;
    const body = request === undefined ? undefined : bodies.get(request);
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && unanswered && body !== undefined) {
      body.expire(); // who reads it answers, with the text that fits
      return;
    }
    if (error.code?.startsWith('HPE_') && unanswered && request?.complete) {
      state.last.add(request); // what follows it is nonsense, but it arrived whole and is owed its answer
      return;
    }
    const answerable =
      socket.writable &&
      error.code !== 'ECONNRESET' &&
      (response === undefined || response.writableFinished || unanswered);
    if (!answerable) {
      socket.destroy();
      return;
    }
    const { status, reason, bytes } = clientErrorAnswer(error);
    dropped(socket.remoteAddress ?? '', status, reason);
    socket.end(bytes, () => socket.destroy());
  });

  /** Only what came first on a connection is mended: there a request begins with the packet, which nothing else could be sure of. */
  function replay(error: ClientError, socket: Socket): boolean {
    const { rawPacket } = error;
    if (!isFolded(error) || rawPacket === undefined || socket.bytesRead !== rawPacket.length) return false;
    const mended = unfoldContentType(rawPacket);
    if (mended === null) return false;
    replayed.add(socket);
    const connection = new ReplayedConnection(socket, mended);
    mendedConnections.add(connection);
    server.emit(secure === null ? 'connection' : 'secureConnection', connection);
    return true;
  }

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

  return {
    url: `${secure === null ? 'http' : 'https'}://${host}:${port}`,
    port,
    inFlight: () => gate.inFlight,
    strangers: () => strangers.inside,
    setTls: (renewed) => secure?.setSecureContext(renewed),
    stop,
  };
}
