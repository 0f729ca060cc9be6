import type { IncomingMessage } from 'node:http';
import type { Request, Response } from 'express';
import type { Answer } from '../exchange.ts';
import type { AppOptions, AppState } from './app-options.ts';
import { RequestBody } from './request-body.ts';
import { type RespondOptions, respond } from './respond.ts';

/** How every route answers. */
export interface Sending {
  /** The one reader of a request's body. */
  bodyOf(request: IncomingMessage): RequestBody;
  /** @param inside the request went through the gate: when too many are read to their end already, it is at least for a moment */
  send(
    request: Request,
    response: Response,
    answer: Answer,
    more?: Partial<RespondOptions>,
    inside?: boolean,
  ): Promise<void>;
}

/** Milliseconds: a sender that means well has uploaded most messages by then, and only the gate lets such requests in. */
const MOMENT = 2_000;

export function createSending(
  options: Pick<AppOptions, 'maxBody' | 'retryAfterSeconds' | 'drainTimeoutMs'>,
  state: AppState,
): Sending {
  function bodyOf(request: IncomingMessage): RequestBody {
    let body = state.bodies.get(request);
    if (body === undefined) {
      body = new RequestBody(request, options.maxBody);
      state.bodies.set(request, body);
    }
    return body;
  }

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
        ...(uploading && !place && inside ? { drainMs: MOMENT } : {}),
        ...(silent || (uploading && !place && !inside) ? { drainMs: 0, drainBytes: -1 } : {}),
        ...(place ? {} : { lingerMs: 0 }),
        close: state.gate.stopping || state.last.has(request),
      });
    } finally {
      if (place) state.draining.give();
    }
  }

  return { bodyOf, send };
}
