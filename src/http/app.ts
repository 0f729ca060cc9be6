import type { IncomingMessage } from 'node:http';
import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express';
import { TransportRefusal } from '../as4-error.ts';
import { type Answer, plainText, type Receive } from '../exchange.ts';
import { admissionRefusal } from './admission.ts';
import type { Gate } from './gate.ts';
import type { Health } from './health.ts';
import type { Places } from './places.ts';
import type { RemoteAddress } from './remote-address.ts';
import { RequestBody } from './request-body.ts';
import { type RespondOptions, respond } from './respond.ts';
import type { Sources } from './sources.ts';

/** What of a pino logger is used here. */
export interface HttpLog {
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

/** A request that did not reach the journey of a message. */
export interface DoorRefusal {
  readonly status: number;
  /** A slug of a closed set, for metrics. */
  readonly reason: string;
  readonly text: string;
  readonly remoteAddress: string;
}

export interface AppOptions {
  /** Path of the AS4 endpoint. */
  readonly path: string;
  /** Bytes of one request's body. */
  readonly maxBody: number;
  /** Milliseconds from the first byte of a request to its last. */
  readonly requestTimeoutMs: number;
  /** Milliseconds the rest of a request may take when it is refused, and an upload after its answer. */
  readonly drainTimeoutMs: number;
  /** Seconds that a 503 tells the sender to wait, unless the refusal itself knows better. */
  readonly retryAfterSeconds: number;
  readonly receive: Receive;
  readonly remoteAddress: RemoteAddress;
  /** What each source address may do; whoever authenticates messages tells it of those that failed. */
  readonly sources: Sources;
  readonly onRefused?: (refusal: DoorRefusal) => void;
  readonly health: () => Promise<Health>;
  /** Text of `GET /metrics`; without it there is no such page. */
  readonly metrics?: () => Promise<string>;
  readonly log: HttpLog;
  /** Names an incident, so that a sender's question finds the log line. */
  readonly newId: () => string;
}

/** Express over our own state: what the server tells the app about a request, and the app about itself. */
export interface AppState {
  readonly gate: Gate;
  /** Bodies by request, for the server to expire. */
  readonly bodies: WeakMap<IncomingMessage, RequestBody>;
  /** Requests whose sender waits for `100 Continue` before it uploads. */
  readonly expecting: WeakSet<IncomingMessage>;
  /** Uploads that are read to their end although they were refused, or after their answer. */
  readonly draining: Places;
  /** Requests after which their connection ends. */
  readonly last: WeakSet<IncomingMessage>;
}

/** What is read of an upload whose source has used up its patience: enough for the answer to arrive at a sender that means well. */
const IMPATIENT = { drainBytes: 64 * 1024, drainMs: 2_000, lingerBytes: 64 * 1024, lingerMs: 2_000 };

/** The routes: the AS4 endpoint, health, metrics. No body parser: the body of a message is a stream. */
export function createApp(options: AppOptions, state: AppState): Express {
  const { gate } = state;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);

  function bodyOf(request: IncomingMessage): RequestBody {
    let body = state.bodies.get(request);
    if (body === undefined) {
      body = new RequestBody(request, options.maxBody);
      state.bodies.set(request, body);
    }
    return body;
  }

  /** @param inside the request has a place of the gate, which bounds how many are read on before their answer */
  async function send(
    request: Request,
    response: Response,
    answer: Answer,
    more: Partial<RespondOptions> = {},
    inside = false,
  ): Promise<void> {
    // A sender that still waits for `100 Continue` uploads nothing: there is nothing to drain, and nothing may follow on its connection.
    const silent = state.expecting.has(request);
    const told =
      answer.status === 503 && answer.retryAfter === undefined
        ? { ...answer, retryAfter: options.retryAfterSeconds }
        : answer;
    // What has arrived already costs nobody anything.
    const uploading = !silent && !request.complete;
    const place = uploading && state.draining.take();
    try {
      await respond(response, bodyOf(request), told, {
        drainBytes: options.maxBody,
        drainMs: options.drainTimeoutMs,
        lingerBytes: options.maxBody,
        lingerMs: options.drainTimeoutMs,
        ...more,
        ...(silent || (uploading && !place && !inside) ? { drainMs: 0, drainBytes: -1 } : {}),
        ...(place ? {} : { lingerMs: 0 }),
        close: gate.stopping || state.last.has(request),
      });
    } finally {
      if (place) state.draining.give();
    }
  }

  function refuse(
    request: Request,
    response: Response,
    refusal: TransportRefusal,
    more: Partial<RespondOptions> = {},
  ): Promise<void> {
    const { status, reason, message: text } = refusal;
    const seen = { status, reason, remoteAddress: options.remoteAddress(request) };
    // Of a flood only its beginning is logged (see `failed`); metrics count all of it.
    if (reason !== 'source-failing') options.log.warn(seen, 'request refused');
    options.onRefused?.({ ...seen, text });
    const answer = plainText(status, text, refusal.retryAfter);
    // What cannot be framed for sure must not be followed by anything.
    if (reason === 'transfer-encoding') state.last.add(request);
    return send(request, response, answer, status === 413 ? { drainBytes: -1 } : more);
  }

  let proxyNamed = false;

  /** Behind a proxy that we do not know all senders share its address, and its limits. */
  function noticeProxy(request: Request, address: string): void {
    if (proxyNamed || request.headers['x-forwarded-for'] === undefined) return;
    if (address !== request.socket.remoteAddress) return;
    proxyNamed = true;
    options.log.warn(
      { remoteAddress: address },
      'X-Forwarded-For is ignored: http.trustProxy does not name this proxy',
    );
  }

  async function message(request: Request, response: Response): Promise<void> {
    const address = options.remoteAddress(request);
    noticeProxy(request, address);
    const kept = options.sources.enter(address);
    if (kept !== null) {
      const text =
        kept === 'source-busy'
          ? 'Too many requests from this address at a time; send the message again.'
          : 'Too many requests without an authentic message came from this address; send the message again later.';
      return refuse(request, response, new TransportRefusal(503, text, { reason: kept }), IMPATIENT);
    }
    try {
      const refusal = admissionRefusal(request.headers, options.maxBody);
      if (refusal === null) return await admitted(request, response, address);
      options.sources.failed(address);
      return await refuse(request, response, refusal);
    } finally {
      options.sources.leave(address);
    }
  }

  async function admitted(request: Request, response: Response, remoteAddress: string): Promise<void> {
    const { headers } = request;
    const closed = gate.enter();
    if (closed !== null) {
      const text = closed === 'stopping' ? 'The receiver is being stopped' : 'The receiver is busy';
      const refusal = new TransportRefusal(503, `${text}; send the message again.`, { reason: closed });
      return refuse(request, response, refusal);
    }
    let inside = true;
    const leave = (): void => {
      if (inside) gate.leave();
      inside = false;
    };
    try {
      if (state.expecting.delete(request)) response.writeContinue();
      const length = headers['content-length'];
      const answer = await options
        .receive({
          contentType: headers['content-type'],
          contentLength: length === undefined ? null : Number(length),
          body: bodyOf(request),
          remoteAddress,
        })
        .catch((error: unknown) => incident(error));
      await send(request, response, answer, { drainMs: options.requestTimeoutMs, onAnswered: leave }, true);
    } finally {
      leave();
    }
  }

  function incident(error: unknown): Answer {
    const id = options.newId();
    options.log.error({ incident: id, err: error }, 'unexpected error');
    return plainText(500, `Something went wrong here. Please name incident ${id} when you ask about it.`);
  }

  function reading(answer: (request: Request) => Answer | Promise<Answer>) {
    return async (request: Request, response: Response): Promise<void> => {
      const reads = request.method === 'GET' || request.method === 'HEAD';
      if (reads) await send(request, response, await answer(request));
      else await notAllowed(request, response, 'GET, HEAD');
    };
  }

  function notAllowed(request: Request, response: Response, allow: string): Promise<void> {
    return send(request, response, plainText(405, `Only ${allow}.`), { headers: { Allow: allow } });
  }

  app.all(options.path, (request, response) => {
    if (request.method === 'POST') return message(request, response);
    if (request.method === 'GET' || request.method === 'HEAD') {
      return send(request, response, plainText(200, 'This is an AS4 endpoint. Send messages with POST.'));
    }
    return notAllowed(request, response, 'GET, HEAD, POST');
  });
  app.all(
    '/health/live',
    reading(() => jsonAnswer(200, { status: 'live' })),
  );
  app.all(
    '/health/ready',
    reading(async () => {
      const { ready, degraded } = await options.health();
      if (gate.stopping) return jsonAnswer(503, { status: 'stopping', degraded });
      return jsonAnswer(ready ? 200 : 503, { status: ready ? 'ready' : 'unavailable', degraded });
    }),
  );
  const { metrics } = options;
  if (metrics !== undefined) {
    const contentType = 'text/plain; version=0.0.4; charset=utf-8';
    app.all(
      '/metrics',
      reading(async () => ({ status: 200, contentType, body: Buffer.from(await metrics()) })),
    );
  }
  app.use((request, response) => send(request, response, plainText(404, 'There is nothing here.')));
  const onError: ErrorRequestHandler = (error: unknown, request, response, _next) => {
    const status = (error as { readonly status?: unknown } | null)?.status;
    const answer = status === 400 ? plainText(400, 'The request is malformed.') : incident(error); // 400: express, an undecodable URL
    if (response.headersSent) response.destroy();
    else return send(request, response, answer);
  };
  app.use(onError);
  return app;
}

function jsonAnswer(status: number, value: object): Answer {
  return { status, contentType: 'application/json; charset=utf-8', body: Buffer.from(`${JSON.stringify(value)}\n`) };
}
