import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express';
import { type Answer, plainText } from '../exchange.ts';
import type { AppOptions, AppState } from './app-options.ts';
import type { Health } from './health.ts';
import { messageRoute } from './message-route.ts';
import { createSending } from './sending.ts';

/** The routes: the AS4 endpoint, health, metrics. No body parser: the body of a message is a stream. */
export function createApp(options: AppOptions, state: AppState): Express {
  const { gate } = state;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  const sending = createSending(options, state);
  const { send } = sending;
  const message = messageRoute(options, state, sending, incident);

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

  /** Whoever routes messages by it must not take a fault here for one that passes. */
  function unknownHealth(error: unknown): Health {
    const id = options.newId();
    options.log.error({ incident: id, err: error }, 'health cannot be told');
    const since = new Date().toISOString();
    return { ready: false, degraded: [{ what: `its state cannot be told; incident ${id}`, since }] };
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
      const { ready, degraded } = await options.health().catch(unknownHealth);
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
