import type { Request, Response } from 'express';
import { TransportRefusal } from '../as4-error.ts';
import { type Answer, plainText } from '../exchange.ts';
import { admissionRefusal } from './admission.ts';
import type { AppOptions, AppState } from './app-options.ts';
import type { RespondOptions } from './respond.ts';
import type { Sending } from './sending.ts';
import { Stay } from './stay.ts';
import { HungUp } from './strangers.ts';

/** What is read of an upload whose source has used up its patience: enough for the answer to arrive at a sender that means well. */
const IMPATIENT = twoSeconds(64 * 1024);

/** What is read of an upload when there are too many strangers, or when it cannot be a message: most messages, and no slow ones. */
const BRIEFLY = twoSeconds(1024 * 1024);

/** Milliseconds between two lines of the log that say the same of a flood. */
const LINE_EVERY = 60_000;

/**
 * A POST to the AS4 path, cheapest check first: the limits of its source, what its header says, a place of the gate; then the journey.
 * @param incident the answer to a fault of ours, which it logs
 */
export function messageRoute(
  options: AppOptions,
  state: AppState,
  { bodyOf, send }: Sending,
  incident: (error: unknown) => Answer,
): (request: Request, response: Response) => Promise<void> {
  function refuse(
    request: Request,
    response: Response,
    refusal: TransportRefusal,
    more: Partial<RespondOptions> = {},
  ): Promise<void> {
    const { status, reason, message: text } = refusal;
    const seen = { status, reason, remoteAddress: options.remoteAddress(request) };
    // Of a flood only its beginning is logged (see `failed`), or one in a while; metrics count all of it.
    if (reason !== 'source-failing' && (reason !== 'strangers' || worthALine())) {
      options.log.warn(seen, 'request refused');
    }
    options.onRefused?.({ ...seen, text });
    const answer = plainText(status, text, refusal.retryAfter);
    // What cannot be framed for sure must not be followed by anything.
    if (reason === 'transfer-encoding') state.last.add(request);
    return send(request, response, answer, status === 413 ? { drainBytes: -1 } : more);
  }

  let lastLine = Number.NEGATIVE_INFINITY;

  function worthALine(): boolean {
    if (performance.now() - lastLine < LINE_EVERY) return false;
    lastLine = performance.now();
    return true;
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

  async function post(request: Request, response: Response): Promise<void> {
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
    let stay: Stay | null = null;
    try {
      const refusal = admissionRefusal(request.headers, options.maxBody);
      if (refusal !== null) {
        options.sources.failed(address);
        return await refuse(request, response, refusal);
      }
      const known = options.sources.isKnown(address);
      if (!known && !state.strangers.enter()) {
        const text = 'Many requests of senders that are not known yet are being worked on; send the message again.';
        return await refuse(request, response, new TransportRefusal(503, text, { reason: 'strangers' }), BRIEFLY);
      }
      const closed = known ? state.gate.enter() : state.gate.enterAside();
      if (closed !== null) {
        if (!known) state.strangers.leave();
        const text = closed === 'stopping' ? 'The receiver is being stopped' : 'The receiver is busy';
        const busy = new TransportRefusal(503, `${text}; send the message again.`, { reason: closed });
        return await refuse(request, response, busy);
      }
      stay = new Stay(state.gate, options.sources, address, state.strangers, known);
      return await admitted(request, response, address, stay);
    } finally {
      if (stay === null) options.sources.leave(address);
      else stay.end();
    }
  }

  async function admitted(request: Request, response: Response, remoteAddress: string, stay: Stay): Promise<void> {
    const { headers } = request;
    if (state.expecting.delete(request)) response.writeContinue();
    const length = headers['content-length'];
    const body = bodyOf(request);
    // Whoever has shown nothing yet must not hold a place for as long as an honest upload may take.
    const late = setTimeout(() => body.expire('slow-envelope'), options.envelopeTimeoutMs);
    let authentic = false;
    let answer: Answer;
    try {
      answer = await options.receive({
        stranger: !stay.known,
        contentType: headers['content-type'],
        contentLength: length === undefined ? null : Number(length),
        body,
        remoteAddress,
        pause: () => stay.pause(),
        async turn() {
          // What is to be judged is here; how long it then waits is not its sender's fault.
          clearTimeout(late);
          try {
            await stay.turn(() => closing(response));
          } catch (error) {
            if (!(error instanceof HungUp)) throw error;
            // Nobody reads it, and it was not the sender's fault.
            throw new TransportRefusal(503, 'The sender hung up before its turn.', { reason: 'hung-up' });
          }
        },
        proven() {
          options.sources.proven(remoteAddress);
          state.strangers.promote(remoteAddress);
        },
        endTurn: () => stay.endTurn(),
        authenticated() {
          clearTimeout(late);
          authentic = true;
        },
      });
    } catch (error) {
      answer = incident(error);
    } finally {
      clearTimeout(late);
    }
    // What is left of the upload is read only so that the answer arrives; others may be worked on meanwhile.
    stay.endTurn();
    stay.giveGate();
    const onAnswered = () => stay.leaveGate();
    // An envelope without end: no sender that means well goes on for megabytes.
    const endless = answer.status === 413 && !authentic && body.bytes <= options.maxBody;
    const patience = answer.status === 408 ? IMPATIENT : endless ? BRIEFLY : { drainMs: options.requestTimeoutMs };
    await send(request, response, answer, { ...patience, onAnswered }, true);
  }

  return post;
}

/** So many bytes or two seconds before the answer, and again after it. */
function twoSeconds(bytes: number) {
  return { drainBytes: bytes, drainMs: 2_000, lingerBytes: bytes, lingerMs: 2_000 };
}

/** Aborted when the connection of a response is closed. */
function closing(response: Response): AbortSignal {
  const controller = new AbortController();
  if (response.destroyed) controller.abort();
  else response.once('close', () => controller.abort());
  return controller.signal;
}
